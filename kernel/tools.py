"""What a tool is, the registry that the model's calls are looked up in, and the check of their arguments."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import cached_property

import fastjsonschema

from kernel.access import Standing
from kernel.changes import Changes
from kernel.chat import ConversationId
from kernel.errors import BadArguments, ModelError
from kernel.messages import Concurrency, Json, ToolCall, ToolWords
from kernel.narration import for_people
from kernel.session import Reach
from kernel.workspace import Workspace

MAX_RESULT_CHARS = 20_000
"""Longer results are cut with a marker before they enter the history."""


class Approval(Enum):
    """Whether a call waits for a person."""

    NEVER = "never"
    WARY = "wary"
    """It waits when the turn has read what others wrote (`kernel.outside`): they may be the ones who want it."""
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
    is_private: bool = False
    """Nobody but the requester reads what is said in the conversation."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What came of a run: words for the model, and what is to be stored with them."""

    text: str
    is_error: bool = False
    changes: Changes = Changes()


Run = Callable[[Json, ToolContext], Awaitable[ToolOutcome]]


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asks, where; `is_private`: nobody else reads what is said there."""

    person: str
    conversation: ConversationId
    is_private: bool


Resolve = Callable[[Json, Requester], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked, in Markdown, and the words on the buttons; they may answer in words of their own."""

    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """What a frame that a call starts begins with, and what it may do."""

    text: str
    reach: Reach


@dataclass(frozen=True)
class Tool:
    """Something the model can ask for. It runs, or `opens` a frame with the words it gives, or `asks` the person.

    `concurrency` and `approval` look at the checked arguments: one action of a tool may ask, another not. A frame that
    may only look is offered the tools whose `concurrency` is READ_ONLY without arguments.
    `describe(arguments, language)` says to a person what will happen, in plain words, not Markdown.
    A run raises `ModelError` for what the model should mend; any other error is ours.
    """

    words: ToolWords
    concurrency: Callable[[Json], Concurrency]
    approval: Callable[[Json], Approval]
    timeout: timedelta
    describe: Callable[[Json, str], str]
    run: Run | None = None
    opens: Callable[[Json], str] | None = None
    asks: Callable[[Json], Question] | None = None
    resolve: Resolve | None = None
    """The checked arguments with what they stand for, for one who asks; reads only. What it gives
    fits the schema too, and is what is shown, bound and run."""
    is_own: bool = False
    """Nothing in its results was written by others: nothing in them could pass for an order."""
    reach: Reach = Reach.ALL
    """What the frame that it opens may do; never more than the frame of the call."""
    needs: Standing = Standing.MEMBER
    """Who the one it is run for must be in the conversation, at that moment."""
    obvious: str = ""
    """The one argument that the person's newest words are taken for when the model sends no arguments at all."""

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.run, self.opens, self.asks)) != 1:
            raise ValueError(f"{self.words.name}: a tool either runs, or opens a frame, or asks")

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

    def __init__(self, tools: Iterable[Tool] = (), reach: Reach = Reach.ALL) -> None:
        self._tools = {tool.words.name: tool for tool in tools}
        self.reach = reach
        """What the calls that it binds may do."""
        self.words = tuple(tool.words for tool in self._tools.values())
        """What the model is told, in the order given: a tool that is added at the end leaves a cached beginning."""
        self.names = frozenset(self._tools)
        """What the tools are called."""

    def tool(self, name: str) -> Tool:
        """The tool of that name. Raises KeyError."""
        return self._tools[name]

    def within(self, reach: Reach) -> ToolRegistry:
        """The registry for a frame of that reach; never one that may do more than this."""
        return self if reach is Reach.ALL or self.reach is Reach.LOOK else self._looking

    @cached_property
    def _looking(self) -> ToolRegistry:
        return ToolRegistry((tool for tool in self._tools.values() if _may_look(tool)), Reach.LOOK)

    def bind(self, call: ToolCall) -> BoundCall:
        """The call with its tool and checked arguments.

        Raises `ModelError` when there is no such tool, or the call would do more than this registry may.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            raise ModelError(f"There is no tool named {call.name!r}.")
        arguments = tool.arguments(call)
        concurrency = tool.concurrency(arguments)
        if self.reach is Reach.LOOK and concurrency is not Concurrency.READ_ONLY:
            raise ModelError("Not run: this sub-task may only look things up. Put into its result what is to be done.")
        if tool.asks is not None:
            _for_people(tool.asks(arguments), self.names)
        canonical = json.dumps(
            [call.name, tool.words.schema, arguments], sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return BoundCall(
            call=call,
            tool=tool,
            arguments=arguments,
            concurrency=concurrency,
            approval=tool.approval(arguments),
            digest=hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest(),
        )

    def question(self, call: ToolCall) -> Question | None:
        """What the call asks the person; None when it does something else, or cannot be bound any more."""
        try:
            bound = self.bind(call)
        except ModelError:
            return None
        return _for_people(bound.tool.asks(bound.arguments), self.names) if bound.tool.asks else None

    def brings_others(self, call: ToolCall) -> bool:
        """Whether the result of the call may hold words that neither we nor the person wrote."""
        tool = self._tools.get(call.name)
        return tool is not None and not tool.is_own

    def completed(self, call: ToolCall, words: str) -> ToolCall:
        """The call with the person's newest `words` as its obvious argument, when the model sent none at all."""
        tool = self._tools.get(call.name)
        if tool is None or not tool.obvious or not words or "".join(call.arguments.split()) not in ("", "{}"):
            return call
        return replace(call, arguments=json.dumps({tool.obvious: words}, ensure_ascii=False))

    def opening(self, call: ToolCall) -> Opening | None:
        """What the call's frame begins with; None when it runs instead, or cannot be bound any more."""
        try:
            bound = self.bind(call)
        except ModelError:
            return None
        if bound.tool.opens is None:
            return None
        return Opening(bound.tool.opens(bound.arguments), bound.tool.reach)


def _for_people(question: Question, tools: Collection[str]) -> Question:
    """The question without narration of `tools`, each choice in one line.

    Raises `BadArguments` when a person would see nothing of it, or of a choice.
    """
    text, *labels = (for_people(words, tools) for words in (question.text, *question.choices))
    choices = tuple(dict.fromkeys(" ".join(label.split()) for label in labels))
    if not all(_is_seen(words) for words in (text, *choices)):
        raise BadArguments("The question and each choice must say something to the person, without names of tools.")
    return Question(text, choices)


def _is_seen(words: str) -> bool:
    return any(unicodedata.category(sign)[0] in "LNPS" for sign in words)


def _may_look(tool: Tool) -> bool:
    """Whether some call of the tool changes nothing; one whose answer hangs on an argument is not taken for such."""
    try:
        return tool.concurrency({}) is Concurrency.READ_ONLY
    except LookupError:
        return False


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def capped(text: str) -> str:
    """The text as it may enter the history."""
    if len(text) <= MAX_RESULT_CHARS:
        return text
    half = MAX_RESULT_CHARS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
