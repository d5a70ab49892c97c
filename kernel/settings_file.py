"""What stands in a `zclaw.toml`, or the one line that says where it cannot be read and what was expected there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from kernel.errors import BadSettings

_SAID = re.compile(r"(?P<what>.*) \(at (?P<place>line (?P<line>\d+), column \d+|end of document)\)", re.DOTALL)
_QUOTES = ' Text stands in quotes, like lang = "zh".'


def load(path: Path) -> dict[str, Any]:
    """The file's content. Raises BadSettings; its line repeats nothing of the file, which may hold secrets."""
    try:
        # Some editors put a mark in front that is no part of the text.
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadSettings(f"{path} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise BadSettings(f"{path} cannot be opened: {error.strerror}.") from error
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{path} cannot be read{_told(str(error), content)}") from None


def _told(said: str, content: str) -> str:
    """What tomllib `said`, the place before it, and behind it what people mostly do wrong there."""
    found = _SAID.fullmatch(said)
    if found is None:
        return f": {said}."
    lines = content.split("\n")
    line = lines[int(found["line"]) - 1] if found["line"] else ""
    return f" ({found['place']}): {found['what']}.{_hint(found['what'], line)}"


def _hint(what: str, line: str) -> str:
    value = line.partition("=")[2].strip()
    match what:
        case "Invalid value" if value.startswith(("“", "”", "‘", "’", "＂")):
            return ' Quotes are straight ones, like lang = "zh".'
        case "Invalid value" if "=" in line and not value:
            return " Behind = there must be something; or leave the line out."
        case "Invalid value":
            return _QUOTES
        case "Expected newline or end of document after a statement" if value and value[0] not in "\"'[{":
            return _QUOTES
        case "Expected '=' after a key in a key/value pair":
            return ' A line is a name, = and a value, like lang = "zh".'
        case "Cannot overwrite a value":
            return " A name may stand there once only."
        case _ if what.startswith(("Illegal character '\\n'", "Unterminated string")):
            return " A quote is missing."
        case _:
            return ""
