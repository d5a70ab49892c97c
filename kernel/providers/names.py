"""Names of tools as models may see them: our names are richer (`service.tool`, any script, any length).

Providers take `^[a-zA-Z0-9_-]{1,64}$` and refuse the whole request for one dot. The two functions here are each
other's inverse and depend on nothing but the name, so a history reads the same after a restart:

    our name            on the wire
    list_files          list_files                  plain: every piece between dots is safe
    fs.read_file        fs__read_file               plain: `__` is the dot
    fs__read_file       _fs____read__file           escaped: leading `_`; `__` is `_`; `_hex_` is any other character
    查.x                __67e5__2e_x                escaped
    (over 64)           __z<16 hex>_<its letters>   digest: read back through the names on offer
    ?a___b              a___b                       `?`: what a model made up, kept so that it goes back as it came
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

LONGEST = 64
_WIRE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PLAIN_PIECE = re.compile(r"[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*")
_ESCAPED = re.compile(r"_((?:[a-zA-Z0-9-]|_(?:[0-9a-f]{1,5}|10[0-9a-f]{4})?_)*)")
_ESCAPE = re.compile(r"_([0-9a-f]*)_")


@lru_cache(maxsize=4096)
def to_wire(name: str) -> str:
    """The name for a provider: `^[a-zA-Z0-9_-]{1,64}$`, different for different names, always the same for one."""
    if name.startswith("?") and _WIRE.fullmatch(name[1:]) and _decode(name[1:]) is None:
        return name[1:]
    wire = _plain(name) or _escaped(name)
    return wire if len(wire) <= LONGEST else _digest(name)


def from_wire(wire: str, offered: Iterable[str] = ()) -> str:
    """Our name for what a model wrote; `offered` are our names of the tools it was shown.

    Total: a name that no tool of ours can have comes back marked with `?`, and `to_wire` gives it as it was.
    """
    for name in offered:
        if to_wire(name) == wire:
            return name
    name_or_none = _decode(wire)
    if name_or_none is not None:
        return name_or_none
    return f"?{wire}" if _WIRE.fullmatch(wire) else wire


def _plain(name: str) -> str:
    pieces = name.split(".")
    return "__".join(pieces) if all(_PLAIN_PIECE.fullmatch(piece) for piece in pieces) else ""


def _escaped(name: str) -> str:
    def escape(char: str) -> str:
        if char == "_":
            return "__"
        return char if char == "-" or (char.isascii() and char.isalnum()) else f"_{ord(char):x}_"

    return "_" + "".join(map(escape, name))


def _digest(name: str) -> str:
    """`__z` cannot begin an escaped name (z is no hex digit), nor a plain one (none begins with `_`)."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    letters = re.sub(r"[^a-zA-Z0-9]+", "-", name).strip("-")
    return f"__z{digest}_{letters}"[:LONGEST]


def _decode(wire: str) -> str | None:
    """The one name that `to_wire` writes so; None when there is none, or only a digest of it is known."""
    if match := _ESCAPED.fullmatch(wire):
        name = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else "_", match[1])
    else:
        name = wire.replace("__", ".")
    wire_again = _plain(name) or _escaped(name)
    return name if wire_again == wire else None
