"""The persona: a page that the people of an installation write, about who the assistant is to them and how it speaks.

It is read when a worker starts, and stands behind our own rules in the system prompt (`kernel.prompts.system_prompt`).
"""

from __future__ import annotations

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
    path = named or data_dir / FILE
    try:
        with path.open("rb") as file:
            content = file.read(_LIMIT_BYTES)
    except FileNotFoundError:
        if named is None:
            return ""
        raise BadSettings(f"[model] persona names a file that is not there: {path}.") from None
    except OSError as error:
        raise BadSettings(f"{path} cannot be read: {error.strerror}.") from None
    try:
        text = content.decode("utf-8-sig", "strict").strip()
    except UnicodeDecodeError:
        raise BadSettings(f"{path} is not UTF-8 text: save it as UTF-8.") from None
    if len(text) > LIMIT_CHARS:
        log.warning("persona cut", path=str(path), chars=len(text), kept=LIMIT_CHARS)
    return text[:LIMIT_CHARS].rstrip()
