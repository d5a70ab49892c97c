"""What a person reads when a turn ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import assert_never

from kernel.chat import Inbound, UserMessage
from kernel.messages import Role, Text
from kernel.narration import for_people
from kernel.session import Ending, Turn
from kernel.texts import language_of, say


def turn_language(turn: Turn, setting: str) -> str:
    """The language of the words that opened the turn, unless the operator's `setting` names one.

    The first part is the block of facts, which is ours.
    """
    words = [part.text for part in turn.frames[0].messages[0].parts[1:] if isinstance(part, Text)]
    return language_of(words[-1] if words else "", setting=setting)


def parked(turn: Turn | None, inbounds: Sequence[Inbound], setting: str) -> str:
    """What is said when the turn, or without one these inputs, kept killing whoever took them up."""
    texts = [inbound.text for inbound in inbounds if isinstance(inbound, UserMessage)]
    return say(
        "turn.parked", turn_language(turn, setting) if turn else language_of("".join(texts[:1]), setting=setting)
    )


def last_words(turn: Turn, setting: str, tools: Collection[str] = (), *, closed: str = "") -> str:
    """What is said at the end of the turn, without narration of `tools`; empty when the person was told already.

    `closed` says that and until when the model may not be asked.
    """
    language = turn_language(turn, setting)
    match turn.ending:
        case Ending.ANSWERED:
            return _answer(turn, tools) or say("model.silent", language)
        case Ending.CUT:
            return f"{_answer(turn, tools)}\n\n{say('model.cut', language)}".strip()
        case Ending.DECLINED:
            return _answer(turn, tools) or say("model.declined", language)
        case Ending.WINDOW:
            return say("model.window", language)
        case Ending.LIMIT:
            return say("turn.limit", language)
        case Ending.ALLOWANCE:
            return closed
        case Ending.DEADLINE:
            return say("turn.deadline", language)
        case Ending.FAILED:
            return say("model.failed", language)
        case Ending.REFUSED:
            return say("model.refused", language)
        case Ending.STOPPED | Ending.PARKED | None:
            return ""
        case _:
            assert_never(turn.ending)


def _answer(turn: Turn, tools: Collection[str]) -> str:
    last = turn.frames[0].messages[-1]
    words = for_people(last.text, tools) if last.role is Role.ASSISTANT else ""
    return words if words.strip() else ""
