"""Text on a card exactly as it will be used: what a screen would hide, reorder or swallow is written out."""

from __future__ import annotations

import re
import unicodedata

_ALWAYS_WRITTEN = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
"""Letters, marks and signs that look like nothing at all."""
_HIDDEN_KINDS = frozenset(("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"))
_PLAIN_SPACES = " \u3000"
_LONG_BLANK = re.compile(r"[ \u3000]{9,}")
_LONG_BREAK = re.compile(r"\n(?:[ \u3000]*\n){2,}")


def visible(text: str) -> str:
    """The text with every line marked at its start, and nothing in it that cannot be seen.

    Control characters, marks of direction, invisible and unusual blanks become `⟨U+202E⟩`; long runs of blanks and
    of empty lines become their number.
    """
    text = _LONG_BREAK.sub(lambda found: f"\n⟨{found[0].count(chr(10)) - 1} × ⏎⟩\n", text)
    text = _LONG_BLANK.sub(lambda found: f"⟨{len(found[0])} × ␠⟩", text)
    return "\n".join("│ " + "".join(map(_seen, line)) for line in text.split("\n"))


def _seen(sign: str) -> str:
    kind = unicodedata.category(sign)
    is_hidden = (
        kind in _HIDDEN_KINDS
        or (kind == "Zs" and sign not in _PLAIN_SPACES)
        or sign in _ALWAYS_WRITTEN
        or 0xFE00 <= ord(sign) <= 0xFE0F  # Variation selectors: marks that change how the sign before them looks.
        or 0xE0100 <= ord(sign) <= 0xE01EF
    )
    return f"⟨U+{ord(sign):04X}⟩" if is_hidden else sign
