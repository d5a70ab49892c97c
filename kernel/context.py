"""Which messages a model call sees, and what finished turns leave behind for later ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel.exchanges import with_exchange
from kernel.messages import Image, Message, Opaque, Part, Text, ToolCall, ToolResult
from kernel.session import FORGOTTEN, Ending, Frame, Session, Turn

MOST_PAST = 200
"""How many messages of the past a request shows when the operator says nothing else."""
_CUT_BY = 50
"""A longer past loses its oldest messages so many at once, or half of a shorter limit: between two cuts its beginning,
and the cache, stay."""
SHORT_CHARS = 2_000
"""Of each result, and of other words, where the whole did not fit."""
_NOBODYS = Opaque("", "", "")
"""Kept thinking that no model takes for its own."""


def request_messages(
    turn: Turn, history: Sequence[Message], *, first: int = 0, most: int = MOST_PAST
) -> tuple[Message, ...]:
    """What the model reads for the turn's next call: the history as it stood when the turn began, then its own frame.

    `history` holds the messages of finished turns from absolute number `first` on; of a past longer than `most` the
    oldest are left out. A sub-frame sees only itself. Thinking kept from before the turn's `thinking_from`, or from
    a past whose beginning is left out, is not shown: what it is bound to has changed.
    """
    if len(turn.frames) > 1:
        return turn.top.messages
    surplus, cut_by = max(0, turn.base - most), min(_CUT_BY, max(1, most // 2))
    start = -(-surplus // cut_by) * cut_by
    thinking_from = turn.base if start else turn.thinking_from
    past = [
        message if first + number >= thinking_from else message.without_thinking
        for number, message in enumerate(history[: max(0, turn.base - first)])
        if first + number >= start
    ]
    if start:
        past = past[next((number for number, each in enumerate(past) if each.may_begin), len(past)) :]
    return (*(message for message in past if message.parts), *turn.top.messages)


def known_before(
    session: Session, person: str, history: Sequence[Message], *, first: int = 0, most: int = MOST_PAST
) -> tuple[Message, ...]:
    """What the model reads before words that `person` says now, in the turn that takes them; else as above."""
    turn = session.running or session.waiting_for(person)
    if turn is None:
        turn = Turn("", person, (Frame(()),), base=session.history_length)
    return request_messages(replace(turn, frames=turn.frames[:1]), history, first=first, most=most)


@dataclass(frozen=True, slots=True)
class Harvest:
    """A session without its finished turns, what they leave to the history, and the turns themselves."""

    session: Session
    history: tuple[Message, ...]
    finished: tuple[Turn, ...]


def harvest(session: Session) -> Harvest:
    """Take the finished turns out: the messages of their root frames are history from now on.

    A turn that waited while others finished stands behind them now, and one that began before the prefix changed was
    asked under another: thinking kept so far is bound to what the next turn will not show, and goes. One that was more
    than the model can read leaves only the beginnings of its words, or no later one could be read either.
    """
    finished = tuple(turn for turn in session.turns if turn.is_finished)
    if not finished:
        return Harvest(session, (), ())
    length, thinking_from, exchanges = session.history_length, session.thinking_from, session.exchanges
    history: list[Message] = []
    for turn in finished:
        if turn.base == FORGOTTEN:
            continue
        is_unread = turn.ending is Ending.WINDOW
        is_bound = not is_unread and turn.base == length and turn.frames[0].prefix == session.prefix
        history.extend(_beginnings(turn.frames[0].messages) if is_unread else turn.frames[0].messages)
        start, length = length, session.history_length + len(history)
        exchanges = with_exchange(exchanges, turn, start, length - start)
        thinking_from = thinking_from if is_bound else length
    rest = tuple(turn for turn in session.turns if not turn.is_finished)
    left = replace(session, turns=rest, history_length=length, thinking_from=thinking_from, exchanges=exchanges)
    return Harvest(left, tuple(history), finished)


def without_thinking(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages without anything that a provider wants back unread; one that held nothing else goes."""
    return tuple(bare for message in messages if (bare := message.without_thinking).parts)


def disowned(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with kept thinking that is no model's own any more: none is sent it.

    Its place is kept: what loops have lost theirs decides how a service takes them (docs/decisions/0011).
    """
    return tuple(
        replace(message, parts=tuple(_NOBODYS if isinstance(part, Opaque) else part for part in message.parts))
        for message in messages
    )


def with_short_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with at most `SHORT_CHARS` of each result, and without arguments that are longer."""
    return tuple(
        replace(message, parts=tuple(part if isinstance(part, Text) else _shortened(part) for part in message.parts))
        for message in messages
    )


def _beginnings(messages: Sequence[Message]) -> tuple[Message, ...]:
    short = (
        replace(
            message, parts=tuple(_shortened(part) for part in message.parts if not isinstance(part, Image | Opaque))
        )
        for message in messages
    )
    return tuple(message for message in short if message.parts)


def _shortened(part: Part) -> Part:
    match part:
        case Text(text) | ToolResult(text=text) if len(text) > SHORT_CHARS:
            return replace(part, text=f"{text[:SHORT_CHARS]}\n[… {len(text) - SHORT_CHARS} characters left out …]")
        case ToolCall(arguments=arguments) if len(arguments) > SHORT_CHARS:
            return replace(part, arguments="{}")
        case _:
            return part
