"""`zclaw chat` as a person starts it: a real installation, and what is said into it."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernel.settings import Language
from zclaw.chat import greeting_language

ROOT = Path(__file__).parents[2]
WITHIN_S = 60


class Home:
    """A data folder and the terminals that talk there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._terminals: list[tuple[subprocess.Popen[bytes], int]] = []

    def environment(self, **more: str) -> dict[str, str]:
        known = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb", "HOME": str(self._folder)}
        return known | {"ZCLAW_DATA_DIR": str(self._folder / "data"), "ZCLAW_LANG": "zh"} | more

    def pipe(self, text: str, **environment: str) -> subprocess.Popen[bytes]:
        """`echo text | zclaw chat`, begun."""
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        try:
            return self._chat(reading, subprocess.PIPE, subprocess.PIPE, **environment)
        finally:
            os.close(reading)

    def terminal(self, **environment: str) -> Terminal:
        """An interactive one."""
        outer, inner = pty.openpty()
        process = self._chat(inner, inner, inner, **environment)
        os.close(inner)
        self._terminals.append((process, outer))
        return Terminal(outer)

    def _chat(self, stdin: int, stdout: int, stderr: int, **environment: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "zclaw", "chat"],
            cwd=ROOT,
            env=self.environment(**environment),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )

    def leave(self) -> None:
        for process, outer in self._terminals:
            with contextlib.suppress(OSError):
                os.write(outer, b"\x04")
            process.wait(WITHIN_S)
            os.close(outer)
        self.down()

    def down(self) -> None:
        """`zclaw down`."""
        down = [sys.executable, "-m", "zclaw", "down"]
        subprocess.run(down, cwd=ROOT, env=self.environment(), capture_output=True, timeout=WITHIN_S, check=True)


class Terminal:
    """The person's side of a terminal."""

    def __init__(self, outer: int) -> None:
        self._outer = outer
        self._seen = ""
        os.set_blocking(outer, False)

    def types(self, line: str) -> None:
        os.write(self._outer, line.encode() + b"\r")

    def sees(self, words: str) -> bool:
        return _reached(lambda: words in self.paper())

    def paper(self) -> str:
        with contextlib.suppress(BlockingIOError, OSError):
            while piece := os.read(self._outer, 65536):
                self._seen += piece.decode("utf-8", "replace")
        return self._seen


def _reached(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + WITHIN_S
    while not (is_reached := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_reached


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path)
    yield home
    home.leave()


def test_a_pipe_gets_its_own_answer_while_a_terminal_is_open_and_says_when_settings_differ(home: Home) -> None:
    terminal = home.terminal(ZCLAW_TIMEZONE="Europe/Berlin")
    assert terminal.sees("你好，我是 zclaw")

    pipe = home.pipe("6秒后提醒我取药\n", ANTHROPIC_API_KEY="sk-other", ZCLAW_TIMEZONE="Asia/Tokyo")
    said, complained = pipe.communicate(timeout=WITHIN_S)

    assert pipe.returncode == 0
    assert "取药（Europe/Berlin）" in said.decode()
    assert "other settings than ANTHROPIC_API_KEY, ZCLAW_TIMEZONE" in complained.decode()
    assert "its zone is Europe/Berlin" in complained.decode()
    # The pipe is gone when it is due: what falls due for it comes up in the terminal, and nowhere before.
    assert "取药" not in terminal.paper()
    assert terminal.sees("⏰ 取药")
    terminal.types("1")
    assert terminal.sees("完成了")


def test_what_was_said_in_a_pipe_is_known_in_the_next_terminal(home: Home) -> None:
    home.pipe("每天早上9点提醒我查房\n").communicate(timeout=WITHIN_S)
    terminal = home.terminal()

    terminal.types("/reminders")

    assert terminal.sees("1. 查房")


def test_a_terminal_whose_installation_ends_says_so_and_ends(home: Home) -> None:
    terminal = home.terminal()
    assert terminal.sees("你好，我是 zclaw")

    home.down()

    assert terminal.sees("zclaw has ended here")


def test_a_terminal_whose_parts_refuse_their_settings_says_which(home: Home, tmp_path: Path) -> None:
    (tmp_path / "zclaw.toml").write_text('[model]\npersona = "/nope.md"\n')

    pipe = home.pipe("你好\n", ZCLAW_CONFIG=str(tmp_path / "zclaw.toml"))
    _, complained = pipe.communicate(timeout=WITHIN_S)

    assert pipe.returncode == 1
    assert "persona names a file that is not there: /nope.md" in complained.decode()


@pytest.mark.parametrize(
    ("setting", "written", "machine", "greets"),
    [
        (Language.EN, "zh", "zh", "en"),
        (Language.ZH, "en", "en", "zh"),
        (Language.AUTO, "en", "zh", "en"),
        (Language.AUTO, "zh", "en", "zh"),
        (Language.AUTO, None, "en", "en"),
        (Language.AUTO, None, None, "zh"),
    ],
)
def test_the_greeting_is_in_the_language_that_is_set_or_was_written_here_last_or_is_the_machines(
    setting: Language, written: str | None, machine: str | None, greets: str
) -> None:
    assert greeting_language(setting, written, machine) == greets
