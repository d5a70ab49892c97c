"""The code that makes its sender an owner: how it looks, and where it stands in what people send."""

from __future__ import annotations

import re
import secrets

CODE_LENGTH = 8
_SIGNS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Without those that people take for one another."""
_SENT = re.compile(r"(?:/(?:pair|start)\s+)?[\"'`“「]?([A-Za-z0-9]{4})[ -]?([A-Za-z0-9]{4})[\"'`”」]?[.。]?")
"""Also as people copy or read it out: in two halves, in quotes, with the stop of a sentence."""


def new_code() -> str:
    """A code that nobody can guess; at least one sign of it is a digit, so that no word is one."""
    while True:
        code = "".join(secrets.choice(_SIGNS) for _ in range(CODE_LENGTH))
        if any(sign.isdigit() for sign in code):
            return code


def code_in(text: str) -> str | None:
    """The code that the message is, in capitals, whatever command it follows; None when it is none."""
    found = _SENT.fullmatch(text.strip())
    code = (found[1] + found[2]).upper() if found else ""
    return code if code and set(code) <= set(_SIGNS) and any(sign.isdigit() for sign in code) else None
