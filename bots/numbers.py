"""Buttons as numbers, for a terminal: each number stands for one button, however many messages came after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
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


class Refused(Enum):
    """Why a number is neither a button nor an answer."""

    GONE = "gone"
    """Its card is closed."""
    UNKNOWN = "unknown"
    """No button has it, and others are open: those of its card too, when that has changed since."""


class Numbers:
    """The numbers of one terminal.

    A number is never given to another button while the first may still be meant: a person who types `1` twice, or a
    moment too late, must not press what came up meanwhile, nor answer it.
    """

    def __init__(self) -> None:
        self._buttons: dict[int, Button] = {}
        self._spent: dict[int, tuple[str, int]] = {}
        """Numbers of buttons that are gone, each with its token and how much speech there was before."""
        self._speeches = 0
        self._is_after_speech = True
        """The newest thing said has no buttons: a number may be an answer to it."""
        self._next = 1

    def give(self, conversation: ConversationId, token: str, choices: Sequence[Choice]) -> tuple[int, ...]:
        """Numbers for the buttons of `token`, in their order; those it had before are spent."""
        self.spend(token)
        numbers = tuple(self._number() for _ in choices)
        for number, choice in zip(numbers, choices, strict=True):
            self._buttons[number] = Button(conversation, token, choice.id)
            self._spent.pop(number, None)
        if numbers:
            self._is_after_speech = False
        return numbers

    def spend(self, token: str) -> None:
        """The buttons of `token` are gone."""
        gone = [number for number, button in self._buttons.items() if button.token == token]
        for number in gone:
            del self._buttons[number]
        self._spent.update(dict.fromkeys(gone, (token, self._speeches)))

    def speech(self) -> None:
        """Something without buttons was said: until buttons come again, a number may be an answer to it.

        Not one whose button went after that: typed twice, it is the same press once more.
        """
        self._speeches += 1
        self._is_after_speech = True

    def pressed(self, text: str) -> Button | None:
        """The button that `text` presses."""
        number = _read(text)
        return self._buttons.get(number) if number is not None else None

    def refused(self, text: str) -> Refused | None:
        """Why `text` is a number that presses nothing and answers nothing; None when it may be said as words."""
        number = _read(text)
        if number is None or number in self._buttons:
            return None
        token, speeches = self._spent.get(number, ("", -1))
        if self._is_after_speech and speeches < self._speeches:
            return None
        if token and all(button.token != token for button in self._buttons.values()):
            return Refused.GONE
        return Refused.UNKNOWN if self._buttons else None

    def open_ones(self) -> str:
        """The numbers that press something now, as people read them: `1–3, 7`."""
        runs: list[list[int]] = []
        for number in sorted(self._buttons):
            if runs and runs[-1][1] == number - 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)

    def _number(self) -> int:
        free = chain(range(self._next, _LAST + 1), range(1, self._next))
        number = next((n for n in free if n not in self._buttons), self._next)
        self._next = number % _LAST + 1
        return number


def _read(text: str) -> int | None:
    """The number that `text` is, as people type it: `1`, `１`, `1.`, `（1）`."""
    found = _TYPED.fullmatch(text)
    return int(found[1]) if found else None
