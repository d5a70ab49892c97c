"""`ask_clarification`: a question to the person, with buttons and room for their own words."""

from __future__ import annotations

from datetime import timedelta

from kernel.messages import Concurrency, Json, ToolWords
from kernel.tools import Approval, Question, Tool

_SCHEMA = (
    '{"type":"object","properties":{'
    '"question":{"type":"string","minLength":1,"maxLength":1000,"description":"One short question, their language."},'
    '"choices":{"type":"array","items":{"type":"string","minLength":1,"maxLength":60},"maxItems":5,'
    '"description":"Up to five likely answers; they may also answer in their own words."}},'
    '"required":["question"],"additionalProperties":false}'
)


def ask_clarification() -> Tool:
    """Waits for the person as an approval does; the result is what they chose or wrote."""
    return Tool(
        words=ToolWords(
            "ask_clarification",
            "Ask the person when you cannot go on without knowing more. Do not use it for what you can find out "
            "yourself. Their answer is the result.",
            _SCHEMA,
        ),
        concurrency=lambda _: Concurrency.INTERACTIVE,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=10),
        describe=lambda arguments, _: str(arguments["question"]),
        asks=_question,
        is_own=True,
    )


def _question(arguments: Json) -> Question:
    choices = arguments.get("choices") or ()
    assert isinstance(choices, list | tuple)
    return Question(str(arguments["question"]), tuple(str(choice) for choice in choices))
