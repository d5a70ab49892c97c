from __future__ import annotations

import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

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


def test_a_probe_asks_only_about_this_host(alive: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    alive("scheduler", "bots", host="elsewhere")
    before = main(["status", "--here"])
    alive("worker", host=socket.gethostname())

    assert (before, main(["status", "--here", "--json"])) == (1, 0)

    told = capsys.readouterr()
    assert [part["role"] for part in json.loads(told.out)] == ["worker"]


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
