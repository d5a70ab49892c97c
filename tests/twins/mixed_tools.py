"""The tools and the model of an interleaving: calls of every kind, and replies that mix them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from random import Random

from kernel.messages import Concurrency, Message, ModelReply, Opaque, Part, Role, Stop, Text, ToolCall, ToolWords
from kernel.tools import Approval, Tool, ToolOutcome, ToolRegistry
from tests.twins.tools import SCHEMA

READ_ONLY, EXCLUSIVE, INTERACTIVE = Concurrency.READ_ONLY, Concurrency.EXCLUSIVE, Concurrency.INTERACTIVE
ASK, NEVER = Approval.ASK, Approval.NEVER
OPENERS = frozenset({"task", "study", "errand"})
QUESTION = "clarify"
"""Its call is asked, not run."""
NEEDS = {"spy": 1, "post": 1, "both": 2, "deal": 1, "errand": 1}


def _tool(name: str, concurrency: Concurrency, approval: Approval) -> Tool:
    async def run(*_: object) -> ToolOutcome:
        raise AssertionError("the scene runs tools itself")

    return Tool(
        ToolWords(name, name, SCHEMA),
        concurrency=lambda _: concurrency,
        approval=lambda _: approval,
        timeout=timedelta(seconds=30),
        describe=lambda *_: name,
        run=None if name in OPENERS else run,
        opens=(lambda arguments: f"go: {arguments['text']}") if name in OPENERS else None,
    )


REGISTRY = ToolRegistry(
    _tool(name, concurrency, approval)
    for name, concurrency, approval in (
        ("look", READ_ONLY, NEVER),
        ("spy", READ_ONLY, ASK),
        ("write", EXCLUSIVE, NEVER),
        ("post", EXCLUSIVE, ASK),
        ("both", EXCLUSIVE, ASK),
        ("alone", INTERACTIVE, NEVER),
        ("deal", INTERACTIVE, ASK),
        (QUESTION, INTERACTIVE, NEVER),
        ("task", EXCLUSIVE, NEVER),
        ("errand", EXCLUSIVE, ASK),
        ("study", READ_ONLY, NEVER),
    )
)
NAMES = (*(words.name for words in REGISTRY.words), "look", "write", "post", "no such tool")


def reply(dice: Random, numbers: Iterator[int], *, thought: str, is_calm: bool) -> ModelReply:
    """What the model says; `thought` is the payload of its thinking, empty for none. Calm, it says only words."""
    number = next(numbers)
    calls = 0 if is_calm else dice.choices((0, 1, 2, 3, 4), (2, 3, 3, 2, 1))[0]
    parts: list[Part] = [Opaque("twin", "model", thought)] if thought else []
    stop = Stop.TOOLS if calls else Stop.END
    if not calls or dice.random() < 0.3:
        parts.append(Text(f"said {number}"))
    if not calls and not is_calm and dice.random() < 0.1:
        stop = Stop.PAUSE
    elif not calls and dice.random() < 0.05:
        parts = []
    for _ in range(calls):
        id_ = dice.choice(("", "call", f"call-{next(numbers)}"))
        arguments = "{" if dice.random() < 0.05 else json.dumps({"text": str(number)})
        parts.append(ToolCall(id_, dice.choice(NAMES), arguments))
    if calls and dice.random() < 0.05:
        stop = Stop.CUT
    return ModelReply(Message(Role.ASSISTANT, tuple(parts)), stop)
