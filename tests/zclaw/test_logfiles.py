from __future__ import annotations

import os
import stat
from pathlib import Path

from zclaw.logfiles import keep_short, open_log, text_since


def test_a_long_log_moves_aside_and_its_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    writer = open_log(path)
    os.write(writer, b"old\n" * 10)

    keep_short(path, limit_bytes=20)
    os.write(writer, b"new\n")
    os.close(writer)

    assert path.read_bytes() == b"new\n"
    assert (tmp_path / "worker.log.1").read_bytes() == b"old\n" * 10
    assert {stat.S_IMODE(log.stat().st_mode) for log in tmp_path.iterdir()} == {0o600}


def test_a_short_log_and_an_absent_one_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "worker.log").write_text("short")

    keep_short(tmp_path / "worker.log", limit_bytes=20)
    keep_short(tmp_path / "absent.log", limit_bytes=20)

    assert [log.name for log in tmp_path.iterdir()] == ["worker.log"]


def test_the_last_words_are_those_since_the_start_also_when_the_log_was_cut(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("before\nafter\n")

    assert text_since(log, 7) == "after\n"
    assert text_since(log, 999) == ""
