"""A conversation's files are where its record is: no worker's disk holds any of them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from tests.chaos.processes import Processes, processes


def test_a_file_that_a_killed_worker_wrote_is_read_by_another(tmp_path: Path) -> None:
    with processes(tmp_path, workers=2, bots=1, calm=True) as here:
        here.outside.say("bot-0", "1", "write 笔记/a.txt as plum")
        assert answers(here, 1) == ["written"]
        writer = int(here.outside.effects()[0].removeprefix("write "))

        os.kill(writer, signal.SIGKILL)
        here.outside.say("bot-0", "1", "read 笔记/a.txt")
        said = answers(here, 2)
        here.outside.say("bot-0", "2", "read 笔记/a.txt")
        other_chat = answers(here, 3)[-1]

        reader = int(here.outside.effects()[1].removeprefix("read "))
        assert said[-1] == "plum"
        assert {writer, reader} == {here.pid("worker-0"), here.pid("worker-1")}
        assert other_chat.startswith("There is no file")


def answers(here: Processes, count: int) -> list[str]:
    """What was answered so far, once there are so many."""
    deadline = time.time() + 40
    while time.time() < deadline and len(here.outside.seen()) < count:
        time.sleep(0.05)
    return [each.text for each in here.outside.seen()]
