"""An installation that was never started, and one whose roles live in the store that the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel.clock import SystemClock
from kernel.stores.redis.stores import open_stores


@pytest.fixture
def alive(redis_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Lets roles say that they live, in the store that the settings name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZCLAW_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ZCLAW_REDIS_URL", redis_url)

    async def say(roles: tuple[str, ...], host: str) -> None:
        stores = await open_stores(redis_url, SystemClock())
        for role in roles:
            await stores.beats.beat(role, f"{host}-12", now=SystemClock().now())
        await stores.close()

    return lambda *roles, host="host": asyncio.run(say(roles, host))


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The data folder of an installation that was never started; nothing is set but that."""
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ZCLAW_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"
