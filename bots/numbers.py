"""Buttons as numbers, for a terminal: each number stands for one button, however many messages came after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from kernel.chat import Choice, ConversationId

_LAST = 999
"""After it numbers begin anew; a button with the same number is forgotten then."""
_TYPED = re.compile(r"[(（\[【]?\s*([0-9０-９]{1,3})\s*[)）\]】.。、]?")


@dataclass(frozen=True, slots=True)
class Button:
    """One button that a number stands for."""

    conversation: ConversationId
    token: str
    choice: str


class Numbers:
    """The numbers of one terminal.

    A number is never given to another button while the first may still be meant: a person who types `1` twice, or a
    moment too late, must not press what came up meanwhile.
    """

    def __init__(self) -> None:
        self._buttons: dict[int, Button] = {}
        self._spent: set[int] = set()
        self._next = 1

    def give(self, conversation: ConversationId, token: str, choices: Sequence[Choice]) -> tuple[int, ...]:
        """Numbers for the buttons of `token`, in their order; those it had before are spent."""
        self.spend(token)
        numbers = tuple(self._number() for _ in choices)
        for number, choice in zip(numbers, choices, strict=True):
            self._buttons[number] = Button(conversation, token, choice.id)
            self._spent.discard(number)
        return numbers

    def spend(self, token: str) -> None:
        """The buttons of `token` are gone."""
        gone = [number for number, button in self._buttons.items() if button.token == token]
        for number in gone:
            del self._buttons[number]
        self._spent.update(gone)

    def speech(self) -> None:
        """Something without buttons was said: a number may be an answer to it, and spent ones are words again."""
        self._spent.clear()

    def pressed(self, text: str) -> Button | None:
        """The button that `text` presses."""
        number = _read(text)
        return self._buttons.get(number) if number is not None else None

    def is_spent(self, text: str) -> bool:
        """Whether `text` is the number of a button that is gone, and nothing was said since that it could answer."""
        return _read(text) in self._spent

    def _number(self) -> int:
        free = chain(range(self._next, _LAST + 1), range(1, self._next))
        number = next((n for n in free if n not in self._buttons), self._next)
        self._next = number % _LAST + 1
        return number


def _read(text: str) -> int | None:
    """The number that `text` is, as people type it: `1`, `１`, `1.`, `（1）`."""
    found = _TYPED.fullmatch(text)
    return int(found[1]) if found else None
