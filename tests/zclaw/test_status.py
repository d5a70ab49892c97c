from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kernel.clock import SystemClock
from kernel.ports import Isolation
from kernel.stores.redis.stores import open_stores
from zclaw import doctor
from zclaw.cli import main
from zclaw.status import Part, missing, parts_from

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def test_a_process_is_shown_with_role_pid_and_age() -> None:
    beats = [("worker", "my-host-1-4711", NOW - timedelta(seconds=3.25))]

    assert parts_from(beats, NOW) == [Part("worker", 4711, 3.2, "my-host-1")]


def test_a_role_is_missing_when_none_of_its_processes_was_seen_lately() -> None:
    parts = [Part("worker", 1, 14.0, "h"), Part("worker", 2, 40.0, "h"), Part("bots", 3, 15.0, "h")]

    assert missing(parts, ["bots", "worker", "scheduler"]) == ["bots", "scheduler"]


@pytest.fixture
def alive(redis_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Lets roles say that they live, in the store that the settings name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZCLAW_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ZCLAW_REDIS_URL", redis_url)

    async def say(roles: tuple[str, ...]) -> None:
        stores = await open_stores(redis_url, SystemClock())
        for role in roles:
            await stores.beats.beat(role, "host-12", now=SystemClock().now())
        await stores.close()

    return lambda *roles: asyncio.run(say(roles))


def test_status_lists_what_runs_and_is_content(alive: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    alive("worker", "scheduler")

    assert main(["status", "--json"]) == 0

    listed = json.loads(capsys.readouterr().out)
    assert {(part["role"], part["pid"]) for part in listed} == {("worker", 12), ("scheduler", 12)}
    assert all(0 <= part["age"] < 15 for part in listed)


def test_status_names_what_is_missing_bots_too_once_a_platform_is_set(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    alive("scheduler")
    (tmp_path / "zclaw.toml").write_text('telegram_bot_token = "1:x"')

    assert main(["status"]) == 1

    assert capsys.readouterr().err.splitlines() == [
        "bots has not been seen for 15 s.",
        "worker has not been seen for 15 s.",
    ]


def test_status_without_a_store_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZCLAW_DATA_DIR", str(tmp_path / "data"))

    assert main(["status", "--json"]) == 1

    told = capsys.readouterr()
    assert json.loads(told.out) == []
    assert "No store runs on" in told.err
    assert not (tmp_path / "data").exists()


def test_the_doctor_is_content_with_a_whole_installation(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "zclaw.toml").write_text('anthropic_api_key = "canary"')
    (tmp_path / "zclaw.toml").chmod(0o600)

    assert main(["doctor"]) == 0

    told = capsys.readouterr().out
    assert "[ok] store" in told
    assert "canary" not in told


def test_the_doctor_names_what_to_change(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zclaw.toml").write_text('telegram_bot_token = "1:x"')
    (tmp_path / "zclaw.toml").chmod(0o644)
    monkeypatch.setattr(doctor, "_LITTLE_SPACE_BYTES", 1 << 62)

    assert main(["doctor"]) == 1

    problems = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[!!]")]
    assert [words in line for words, line in zip(("model", "access", "disk", "chmod 600"), problems, strict=True)] == [
        True
    ] * 4


def test_the_doctor_reads_the_persona_and_the_names_of_variables(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    persona = tmp_path / "data" / "persona.md"
    persona.parent.mkdir(exist_ok=True)
    persona.write_bytes("你是小助手".encode("gb18030"))
    monkeypatch.setenv("OPENAI_BASEURL", "http://127.0.0.1:1")

    assert main(["doctor"]) == 1

    told = capsys.readouterr().out
    assert "[!!] persona: " in told
    assert "[!!] OPENAI_BASEURL: nothing here reads it: did you mean OPENAI_BASE_URL?" in told


def test_the_doctor_tells_which_role_a_wrong_setting_stops(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "zclaw.toml").write_text('slack_bot_token = "xoxb-1"')

    assert main(["doctor"]) == 1

    assert "[!!] settings of bots: SLACK_BOT_TOKEN needs SLACK_APP_TOKEN" in capsys.readouterr().out


@pytest.mark.parametrize("isolation", list(Isolation))
def test_the_doctor_says_what_commands_could_read_and_asks_for_nothing(isolation: Isolation) -> None:
    finding = doctor.isolation_finding(isolation)

    assert finding.problem == ""
    assert ("can read what it can read" in finding.about) == (isolation is Isolation.NONE)
