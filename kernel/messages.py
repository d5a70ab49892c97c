"""The words between us and a model: messages, tool calls and their results, what a tool is to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
Json = Mapping[str, JsonValue]


class Role(Enum):
    """Who speaks in a message. Tool results travel in user messages, as both dialects want it in the end."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Text:
    """Plain words, never empty or only white space once they are in a message."""

    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture by reference; when its blob is gone a marker takes its place in the request."""

    blob: str
    mime: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool.

    `arguments` is the JSON text exactly as the model wrote it, not yet parsed: empty, fenced or broken text is an
    answer for the model, found when the call is checked. `is_cut` says that the reply ended inside it (max_tokens,
    a broken stream): such a call never runs, whatever its arguments look like.
    """

    id: str
    name: str
    arguments: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of the call `call`, for the model to read."""

    call: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """What a provider wants back unread (signed thinking, reasoning text): `payload` is its JSON, byte for byte.

    It goes only to the provider and model that made it.
    """

    provider: str
    model: str
    payload: str


Part = Text | Image | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a history or a request."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in it, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def text(self) -> str:
        """Its words, joined by line breaks."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def may_begin(self) -> bool:
        """A past may begin here: words of a person, which answer no call."""
        return self.role is Role.USER and not any(isinstance(part, ToolResult) for part in self.parts)

    @property
    def without_thinking(self) -> Message:
        """The same without its `Opaque` parts; itself when it has none."""
        kept = tuple(part for part in self.parts if not isinstance(part, Opaque))
        return self if len(kept) == len(self.parts) else replace(self, parts=kept)


_PROGRAM = "[Written by the program"


def by_program(words: str) -> str:
    """`words` to the model that no person said, marked as such."""
    return f"{_PROGRAM}: {words}]"


def is_by_program(text: str) -> bool:
    """Whether `text` is what `by_program` gives, or begins with it."""
    return text.startswith(_PROGRAM)


QUOTED = "[quoted, not said by the person]"
"""What a part of a person's message begins with that somebody else wrote."""


class Concurrency(Enum):
    """How a call goes with the other calls of its message."""

    READ_ONLY = "read-only"
    """Changes nothing anywhere: runs beside others and may be repeated."""
    EXCLUSIVE = "exclusive"
    """Starts when every earlier exclusive call is answered; runs at most once."""
    INTERACTIVE = "interactive"
    """Talks with a person: alone, after everything before it."""


@dataclass(frozen=True, slots=True)
class ToolWords:
    """What the model is told of a tool. `schema` is JSON Schema text: flat, ASCII property names, no unions on top."""

    name: str
    description: str
    schema: str


class Stop(Enum):
    """Why a model's reply ended."""

    END = "end"
    TOOLS = "tools"
    CUT = "cut"
    """max_tokens: the last part may be incomplete."""
    PAUSE = "pause"
    """The provider wants the reply back as it is, to go on."""
    REFUSAL = "refusal"
    WINDOW = "window"
    """The context window is full."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, as the provider counted them."""

    input: int = 0
    output: int = 0
    cached: int = 0


class Thinking(Enum):
    """Whether a model thinks before it speaks, as far as it leaves the choice to us."""

    OWN = "own"
    """As it does when nobody says anything."""
    ON = "on"
    OFF = "off"


class Effort(Enum):
    """How much a model that can be told puts into a reply; others are not told. From little to much."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """All that one model call needs; pair-clean, ends with a user message."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolWords, ...] = ()
    max_tokens: int = 16_000
    may_call: bool = True
    """False: the tools are shown, so that the frozen prefix stays the same, and none may be called (`tool_choice`)."""
    thinking: Thinking = Thinking.OWN
    effort: Effort | None = None
    """None: the model's own."""
    wanted: str = ""
    """Name of the model that is asked first where there are several; empty: the usual order."""
    about: str = ""
    """Whose call it is (a conversation's key), for debug transcripts; never sent."""
    pictures: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The bytes of pictures that may be shown, by blob; a marker takes the place of all others."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete reply; `message` is an assistant message with at least one part unless the model said nothing.

    With `Stop.WINDOW` and no part the request itself did not fit: the service refused to read it.
    """

    message: Message
    stop: Stop
    usage: Usage = Usage()
    by: str = ""
    """Name of the provider that answered, to which its `Opaque` parts are bound; empty: not told."""
