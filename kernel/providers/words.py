"""Text that comes in pieces, without half characters.

Services cut `"\\ud83c\\udfa9"` between two pieces. Half of a pair cannot be written as UTF-8: it would fail the whole
answer, or the whole request when it goes back.
"""

from __future__ import annotations


def mend(text: str) -> str:
    """The text with halves of pairs joined, and a replacement character for a half that stands alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Pieces:
    """Collects the pieces of one text; `hear` gives what is new and whole."""

    def __init__(self) -> None:
        self._whole: list[str] = []
        self._half = ""

    def hear(self, piece: str) -> str:
        """What can be shown now: never ends in the first half of a pair."""
        new, self._half = self._half + piece, ""
        if new and "\ud800" <= new[-1] <= "\udbff":
            new, self._half = new[:-1], new[-1]
        whole = mend(new)
        self._whole.append(whole)
        return whole

    def text(self) -> str:
        """All of it."""
        return "".join(self._whole) + mend(self._half)
