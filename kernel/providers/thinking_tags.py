"""Local servers without a reasoning parser let a model's `<think>…</think>` stand at the head of its words."""

from __future__ import annotations

_OPEN = "<think>"
_CLOSE = "</think>"


class WithoutThinking:
    """Gives a reply without the thinking it opens with. Later tags are words: a person may ask about them."""

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking = False
        self._is_past = False

    def hear(self, piece: str) -> str:
        """What can be shown now."""
        if self._is_past:
            return piece
        self._held += piece
        if not self._is_thinking:
            head = self._held.lstrip()
            if _OPEN.startswith(head):
                return ""  # Nothing yet, or the beginning of the tag.
            if not head.startswith(_OPEN):
                return self._give(self._held)
            self._is_thinking = True
        _, tag, words = self._held.partition(_CLOSE)
        # The line breaks after the tag are no words.
        return self._give(words.lstrip()) if tag and words.strip() else ""

    def rest(self) -> str:
        """What was held back and is words after all, once the reply has ended."""
        return "" if self._is_past or self._is_thinking or self._held.lstrip() == _OPEN else self._held

    def _give(self, words: str) -> str:
        self._is_past = True
        self._held = ""
        return words
