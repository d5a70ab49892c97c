"""What a person reads when a turn ends."""

from __future__ import annotations

from typing import assert_never

from kernel.messages import Role, Text
from kernel.session import Ending, Turn
from kernel.texts import language_of, say


def turn_language(turn: Turn, setting: str) -> str:
    """The language of the words that opened the turn, unless the operator's `setting` names one.

    The first part is the block of facts, which is ours.
    """
    words = [part.text for part in turn.frames[0].messages[0].parts[1:] if isinstance(part, Text)]
    return language_of(words[-1] if words else "", setting=setting)


def last_words(turn: Turn, setting: str) -> str:
    """What is said at the end of the turn; empty when the person has been told already."""
    language = turn_language(turn, setting)
    match turn.ending:
        case Ending.ANSWERED:
            last = turn.frames[0].messages[-1]
            return (last.text if last.role is Role.ASSISTANT else "") or say("model.silent", language)
        case Ending.LIMIT:
            return say("turn.limit", language)
        case Ending.FAILED:
            return say("model.failed", language)
        case Ending.REFUSED:
            return say("model.refused", language)
        case Ending.STOPPED | Ending.PARKED | None:
            return ""
        case _:
            assert_never(turn.ending)
