"""The newest exchanges of a history: what a person said and what came of it, answered anew or taken back.

An exchange is a finished turn, by whose it was and where its messages stand. The messages themselves stay in the
history alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from kernel.messages import Image, Message, Part, Role, Text, by_program, is_by_program
from kernel.prompts import is_facts
from kernel.session import Exchange, Session, Turn

MOST = 10
"""Exchanges of one conversation that are known apart."""
ANEW = by_program(
    "the person wants their message below answered anew. What was done for it before stays done: do none of it again."
)

TOOK_BACK = "the person took their last request and its answer back; what was done for it stays done"
"""The note of what the model does not read any more."""


def with_exchange(known: tuple[Exchange, ...], turn: Turn, start: int, length: int) -> tuple[Exchange, ...]:
    """The exchanges with the finished `turn` as the newest."""
    return (*known, Exchange(turn.requester, start, length, turn.has_acted))[-MOST:]


def same_end(before: Sequence[Message], after: Sequence[Message]) -> int:
    """How many of the newest messages are the same in both, but for kept thinking."""
    count = 0
    for old, new in zip(reversed(before), reversed(after), strict=False):
        if old.without_thinking != new.without_thinking:
            break
        count += 1
    return count


def said_last(session: Session, person: str, past: Sequence[Message]) -> tuple[Part, ...]:
    """What the person said in their last exchange; empty when none is known. `past` is the newest of the history."""
    first = session.history_length - len(past)
    for exchange in reversed(session.exchanges):
        if exchange.person == person and exchange.start >= first:
            start = exchange.start - first
            if words := _said(past[start : start + exchange.length]):
                return words
    return ()


def _said(messages: Sequence[Message]) -> tuple[Part, ...]:
    """The words and pictures of people in the messages of one turn.

    A block of facts opens each of their messages; what looks like one right behind it is theirs.
    """
    said: list[Part] = []
    for message in messages:
        is_behind_facts = False
        for part in message.parts if message.role is Role.USER else ():
            is_ours = isinstance(part, Text) and (
                is_by_program(part.text) or (is_facts(part.text) and not is_behind_facts)
            )
            if isinstance(part, Text | Image) and not is_ours:
                said.append(part)
            is_behind_facts = is_ours
    return tuple(said)


def taken_back(session: Session, person: str, past: Sequence[Message]) -> Exchange | None:
    """The exchange that the person may take back: the newest of the history, and theirs."""
    newest = session.exchanges[-1] if session.exchanges else None
    if newest is None or newest.person != person or newest.start + newest.length != session.history_length:
        return None
    return newest if newest.start >= session.history_length - len(past) else None
