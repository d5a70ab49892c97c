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
from zclaw.folder import open_folder
from zclaw.locks import try_lock
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


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The data folder of an installation that was never started; nothing is set but that."""
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ZCLAW_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.parametrize(("words", "printed"), [([], ""), (["--json"], "[]\n")])
def test_status_where_nothing_runs_is_one_line_that_says_how_to_start(
    nothing: Path, capsys: pytest.CaptureFixture[str], words: list[str], printed: str
) -> None:
    assert main(["status", *words]) == 1

    told = capsys.readouterr()
    assert told.out == printed
    assert told.err == (
        f"Nothing runs on {nothing}. Start it with `zclaw chat` to talk here, or with `zclaw up` for the bots too.\n"
    )
    assert not nothing.exists()


def test_status_where_only_a_store_elsewhere_answers_says_the_same(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status"]) == 1

    assert capsys.readouterr().err.startswith("Nothing runs with the store of ZCLAW_REDIS_URL. Start it with ")


def test_status_of_what_was_started_and_was_not_seen_says_where_to_look(
    nothing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = open_folder(nothing)
    owner = try_lock(folder.owner_lock)

    assert main(["status"]) == 1

    assert owner is not None
    owner.release()
    assert capsys.readouterr().err == (
        f"zclaw was started on {nothing}, but no part of it was seen lately: look into {folder.logs}.\n"
    )


def test_the_doctor_says_what_it_could_not_look_at_and_why_and_asks_for_nothing_about_it(
    nothing: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")

    assert main(["doctor"]) == 0

    told = capsys.readouterr().out
    assert "[--] store: not looked at, for nothing runs here" in told
    assert "[--] whether keys and tokens are accepted: not looked at, for nothing is sent" in told
    assert "canary" not in told
    assert not nothing.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "[ok] persona: none"),
        ("你是小助手。".encode(), "[ok] persona {path}"),
        ("你是小助手。".encode("gb18030"), "[!!] persona: {path} is not UTF-8 text: save it as UTF-8."),
        (b" \n", "[!!] persona {path}: it is empty: write who the assistant is, or delete it"),
        (b"a" * 4_001, "[!!] persona {path}: of its 4001 characters only 4000 are read: shorten it"),
    ],
)
def test_the_doctor_reads_the_persona(
    nothing: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
    said: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    if content is not None:
        nothing.mkdir()
        (nothing / "persona.md").write_bytes(content)

    assert main(["doctor"]) == (1 if said.startswith("[!!]") else 0)

    assert said.format(path=nothing / "persona.md") in capsys.readouterr().out.splitlines()


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


def test_the_doctor_names_a_variable_that_nobody_reads(
    nothing: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASEURL", "http://127.0.0.1:1")

    assert main(["doctor"]) == 1

    assert "[!!] OPENAI_BASEURL: nothing here reads it: did you mean OPENAI_BASE_URL?" in capsys.readouterr().out


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
