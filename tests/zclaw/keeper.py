"""A systemctl of tests: writes down what it is told, and starts what a unit says as systemd would.

`python -m tests.zclaw.keeper WORDS…`; the environment names the folder that it works in (HOME).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOME = Path(os.environ["HOME"])
UNIT = HOME / ".config/systemd/user/zclaw.service"
PIDS = HOME / "pids"


def words_of(line: str, *, is_command: bool = False) -> list[str]:
    """The words of a unit's line as systemd reads them: quotes and `%%` undone, in a command `$$` too."""
    words: list[str] = []
    rest = line.strip()
    while rest:
        assert rest.startswith('"'), f"not quoted: {rest}"
        word, at = "", 1
        while rest[at] != '"':
            at += rest[at] == "\\"
            word += rest[at]
            at += 1
        assert "%" not in word.replace("%%", ""), f"a specifier: {word}"
        word = word.replace("%%", "%")
        if is_command:
            assert "$" not in word.replace("$$", ""), f"a variable: {word}"
            word = word.replace("$$", "$")
        words.append(word)
        rest = rest[at + 1 :].strip()
    return words


def start() -> None:
    """Run the unit's command with its variables and no other of ours, in a session of its own."""
    lines = UNIT.read_text().splitlines()
    command = next(
        words_of(line.removeprefix("ExecStart="), is_command=True) for line in lines if line.startswith("ExecStart=")
    )
    settings = [words_of(line.removeprefix("Environment="))[0] for line in lines if line.startswith("Environment=")]
    with (HOME / "journal").open("ab") as journal:
        started = subprocess.Popen(
            command,
            env={"HOME": str(HOME), "PATH": "/usr/bin:/bin", **dict(each.split("=", 1) for each in settings)},
            cwd=HOME,
            stdin=subprocess.DEVNULL,
            stdout=journal,
            stderr=journal,
            start_new_session=True,
        )
    PIDS.write_text(f"{started.pid}")


def main(words: list[str]) -> int:
    with (HOME / "calls").open("a") as calls:
        calls.write(" ".join(words) + "\n")
    match words:
        case ["--user", "show-environment"]:
            return 1 if (HOME / "nobody").exists() else 0
        case ["--user", "enable", "--now", "zclaw.service"]:
            if (HOME / "refuses").exists():
                print("Failed to enable unit: Access denied", file=sys.stderr)
                return 1
            if not (HOME / "forgets").exists():
                start()
        case ["--user", "is-active", "zclaw.service"]:
            print("active")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
