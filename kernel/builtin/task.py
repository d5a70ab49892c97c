"""`task`: a piece of work with a context of its own, in which only looking is allowed."""

from __future__ import annotations

from datetime import timedelta

from kernel.messages import Concurrency, Json, ToolWords, by_program
from kernel.session import Reach
from kernel.texts import say
from kernel.tools import Approval, Tool

_SCHEMA = (
    '{"type":"object","properties":{"instruction":{"type":"string","minLength":1,"maxLength":8000,'
    '"description":"What to find out, with everything that must be known for it, and what the result must hold."}},'
    '"required":["instruction"],"additionalProperties":false}'
)
_HEAD = by_program(
    "you gave yourself this task. Nothing of the conversation is shown here, and the person reads none of it; your "
    "last message is the result. You can look things up and change nothing: when something is to be done, say so in "
    "the result."
)


def task() -> Tool:
    """Opens a sub-turn with READ_ONLY tools; its last words are the result.

    It changes nothing itself, so it is READ_ONLY: in a sub-turn too, as deep as frames go.
    """
    return Tool(
        words=ToolWords(
            "task",
            "Does a piece of reading or searching apart, so that only its result comes into this conversation. Good "
            "for work that goes through many pages or files. It sees nothing of the conversation, and can look "
            "things up but change nothing.",
            _SCHEMA,
        ),
        concurrency=lambda _: Concurrency.READ_ONLY,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=10),
        describe=lambda _, language: say("does.task", language),
        opens=_opening,
        reach=Reach.LOOK,
        obvious="instruction",
    )


def _opening(arguments: Json) -> str:
    return f"{_HEAD}\n\n{arguments['instruction']}"
