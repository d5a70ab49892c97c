"""`zclaw pair` prints a code that makes an owner, once, and nothing else does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import redis.asyncio as redis

from kernel.clock import SystemClock
from kernel.pairing import code_in
from kernel.ports import Grant, Redeemed, Right
from kernel.settings import PlatformId
from kernel.stores.redis.stores import open_stores
from zclaw.cli import main
from zclaw.pair import has_owner

ANN = Grant(Right.OWNER, PlatformId("telegram", "1001"), "Ann")


@pytest.fixture
def installed(redis_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The store that the settings name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZCLAW_REDIS_URL", redis_url)
    return redis_url


async def _redeemed(url: str, code: str) -> Redeemed:
    clock = SystemClock()
    stores = await open_stores(url, clock)
    try:
        return await stores.grants.redeem(code, ANN, "e1", now=clock.now())
    finally:
        await stores.close()


def redeemed(url: str, code: str) -> Redeemed:
    return asyncio.run(_redeemed(url, code))


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """The code that was printed."""
    assert main(["pair"]) == 0
    english, chinese = capsys.readouterr().out.splitlines()
    code = english.partition(":")[0]
    assert chinese.startswith(code)
    assert code_in(code) == code
    return code


def test_the_printed_code_makes_one_owner(installed: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = printed(capsys)
    assert not asyncio.run(has_owner(installed, "telegram"))

    assert redeemed(installed, code) is Redeemed.OWNER
    assert asyncio.run(has_owner(installed, "telegram"))
    assert not asyncio.run(has_owner(installed, "slack"))


def test_a_new_code_ends_the_one_before(installed: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = printed(capsys), printed(capsys)

    assert redeemed(installed, first) is Redeemed.WRONG
    assert redeemed(installed, second) is Redeemed.OWNER


def test_the_code_itself_is_not_in_the_store(installed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever reads a backup of the store must not own the bot."""
    code = printed(capsys)

    async def everything() -> str:
        async with redis.Redis.from_url(installed, decode_responses=True) as client:
            return str([await client.hgetall(key) async for key in client.scan_iter("*") if "pairing" in key])

    kept = asyncio.run(everything())
    assert "until" in kept
    assert code not in kept


def test_under_allowlist_there_is_no_code(
    installed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZCLAW_ACCESS", "allowlist")
    monkeypatch.setenv("ZCLAW_ALLOW", "telegram:1")

    assert main(["pair"]) == 1

    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "ZCLAW_ACCESS=allowlist: only ZCLAW_OWNERS makes owners.\n")
    assert redeemed(installed, "ABCD2345") is Redeemed.NONE
