"""What a tool is, the registry that the model's calls are looked up in, and the check of their arguments."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cached_property

import fastjsonschema

from kernel.changes import Changes
from kernel.chat import ConversationId
from kernel.errors import BadArguments, ModelError
from kernel.messages import Concurrency, Json, ToolCall, ToolWords
from kernel.workspace import Workspace

MAX_RESULT_CHARS = 20_000
"""Longer results are cut with a marker before they enter the history."""


class Approval(Enum):
    """Whether a call waits for a person."""

    NEVER = "never"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running tool knows and may use; `deadline` is when its run is broken off."""

    conversation: ConversationId
    requester: str
    language: str
    zone: str
    now: datetime
    deadline: datetime
    call: str
    """Distinct for every call ever made, and the same when a READ_ONLY call is repeated: an idempotency key."""
    workspace: Workspace


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What came of a run: words for the model, and what is to be stored with them."""

    text: str
    is_error: bool = False
    changes: Changes = Changes()


Run = Callable[[Json, ToolContext], Awaitable[ToolOutcome]]


@dataclass(frozen=True)
class Tool:
    """Something the model can ask for. It either runs, or `opens` a frame with the words it gives.

    `concurrency` and `approval` look at the checked arguments: one action of a tool may ask, another not.
    `describe(arguments, language)` says in one sentence to a person what will happen.
    A run raises `ModelError` for what the model should mend; any other error is ours.
    """

    words: ToolWords
    concurrency: Callable[[Json], Concurrency]
    approval: Callable[[Json], Approval]
    timeout: timedelta
    describe: Callable[[Json, str], str]
    run: Run | None = None
    opens: Callable[[Json], str] | None = None

    def __post_init__(self) -> None:
        if (self.run is None) == (self.opens is None):
            raise ValueError(f"{self.words.name}: a tool either runs or opens a frame")

    @cached_property
    def _check(self) -> Callable[[object], object]:
        checker: Callable[[object], object] = fastjsonschema.compile(json.loads(self.words.schema))
        return checker

    def arguments(self, call: ToolCall) -> Json:
        """The call's arguments, parsed and checked. Raises `BadArguments`."""
        try:
            parsed = json.loads(call.arguments or "{}", parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise BadArguments(f"The arguments are not JSON: {error}. Send one JSON object.") from error
        if not isinstance(parsed, dict):
            raise BadArguments("The arguments must be one JSON object.")
        try:
            self._check(parsed)
        except fastjsonschema.JsonSchemaValueException as error:
            raise BadArguments(f"The arguments do not fit: {error.message.removeprefix('data.')}.") from error
        return parsed


@dataclass(frozen=True, slots=True)
class BoundCall:
    """A call whose tool exists and whose arguments fit; what the policy says of it; the digest of what will run."""

    call: ToolCall
    tool: Tool
    arguments: Json
    concurrency: Concurrency
    approval: Approval
    digest: str


class ToolRegistry:
    """The tools on offer, by name. Immutable: a turn's frame keeps seeing the ones it began with."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {tool.words.name: tool for tool in tools}

    @property
    def words(self) -> tuple[ToolWords, ...]:
        """What the model is told, by name."""
        return tuple(self._tools[name].words for name in sorted(self._tools))

    def bind(self, call: ToolCall) -> BoundCall:
        """The call with its tool and checked arguments. Raises `ModelError` when there is no such tool."""
        tool = self._tools.get(call.name)
        if tool is None:
            raise ModelError(f"There is no tool named {call.name!r}.")
        arguments = tool.arguments(call)
        canonical = json.dumps(
            [call.name, tool.words.schema, arguments], sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return BoundCall(
            call=call,
            tool=tool,
            arguments=arguments,
            concurrency=tool.concurrency(arguments),
            approval=tool.approval(arguments),
            digest=hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest(),
        )

    def opening(self, call: ToolCall) -> str | None:
        """The words that open the call's frame; None when it runs instead, or cannot be bound any more."""
        try:
            bound = self.bind(call)
        except ModelError:
            return None
        return bound.tool.opens(bound.arguments) if bound.tool.opens else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def capped(text: str) -> str:
    """The text as it may enter the history."""
    if len(text) <= MAX_RESULT_CHARS:
        return text
    half = MAX_RESULT_CHARS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
