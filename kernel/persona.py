"""The persona: a page that the people of an installation write, about who the assistant is to them and how it speaks.

It is read when a worker starts, and stands behind our own rules in the system prompt (`kernel.prompts.system_prompt`).
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from pathlib import Path

import structlog

from kernel.errors import BadSettings

log = structlog.get_logger()

FILE = "persona.md"
"""Its name in the data folder, where no setting names another."""
LIMIT_CHARS = 4_000
"""It is paid for with every call; what is longer is cut."""
_LIMIT_BYTES = 1_000_000


def read_persona(named: Path | None, data_dir: Path) -> str:
    """What the file says, at most `LIMIT_CHARS` of it; empty when none is named and none lies in `data_dir`.

    Raises BadSettings when the file is there and cannot be read as UTF-8 text, or is named and not there.
    """
    found = find_persona(named, data_dir)
    if found is None:
        return ""
    path, text = found
    if len(text) > LIMIT_CHARS:
        log.warning("persona cut", path=str(path), chars=len(text), kept=LIMIT_CHARS)
    return text[:LIMIT_CHARS].rstrip()


def find_persona(named: Path | None, data_dir: Path) -> tuple[Path, str] | None:
    """The file and what it says, uncut up to a megabyte; None when none is named and none lies in `data_dir`.

    Raises BadSettings like `read_persona`.
    """
    path = named or data_dir / FILE
    try:
        with path.open("rb") as file:
            content = file.read(_LIMIT_BYTES)
            is_whole = not file.read(1)
    except FileNotFoundError:
        if named is None:
            return None
        raise BadSettings(f"[model] persona names a file that is not there: {path}.") from None
    except OSError as error:
        raise BadSettings(f"{path} cannot be read: {error.strerror}.") from None
    try:
        # The last character of a piece may be cut in two.
        text = getincrementaldecoder("utf-8-sig")().decode(content, final=is_whole)
    except UnicodeDecodeError:
        raise BadSettings(f"{path} is not UTF-8 text: save it as UTF-8.") from None
    return path, text.strip()
