"""What can happen to a session, each as one value: `kernel.transitions.apply` says what comes of it.

`turn` is a turn's id and `call` the id of a call in it; an event that does not fit the session changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kernel.messages import Message, Part, ToolResult
from kernel.session import Ending, Gate, Mode, Reach


@dataclass(frozen=True, slots=True)
class Spoken:
    """`person` wrote `parts`. `turn` is the id for the turn that this opens, if it opens one."""

    turn: str
    person: str
    parts: tuple[Part, ...]
    prefix: str = ""
    mode: Mode = Mode.WORK
    """How a turn that this opens begins."""
    is_private: bool = False
    """Nobody else reads what is said here."""


@dataclass(frozen=True, slots=True)
class Restored:
    """`person` takes up again what their message had put aside: `gate`, whose card asks once more.

    `turn` is the id for the turn that this opens: `parts`, and a message of the model with that call.
    """

    turn: str
    person: str
    parts: tuple[Part, ...]
    gate: Gate
    prefix: str = ""
    is_private: bool = False


@dataclass(frozen=True, slots=True)
class Closing:
    """The top frame gets no more tools: `why` is what the model reads before its last words."""

    turn: str
    why: str


@dataclass(frozen=True, slots=True)
class Calling:
    """The model is about to be asked for the `effect`-th time in this turn."""

    turn: str
    effect: int


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The whole reply; `gates` has one gate for each of its calls, in order.

    `is_pause`: the provider goes on when it gets the reply back. `ending` is how the turn ends if this was its last.
    """

    turn: str
    effect: int
    message: Message
    gates: tuple[Gate, ...] = ()
    is_pause: bool = False
    ending: Ending = Ending.ANSWERED
    took_ms: int = 0
    tokens: int = 0
    micro_dollars: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A card with a question went out under `token`."""

    turn: str
    call: str
    token: str


@dataclass(frozen=True, slots=True)
class Voted:
    """`person`, who may, allowed the call whose card showed `digest`."""

    turn: str
    call: str
    digest: str
    person: str


@dataclass(frozen=True, slots=True)
class Denied:
    """Somebody who may refused the call, or nobody decided in time; the model reads `why`."""

    turn: str
    call: str
    why: str


@dataclass(frozen=True, slots=True)
class Worded:
    """The question of the call was answered with `words`."""

    turn: str
    call: str
    words: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """The call is about to run, once, by the holder of `fence`."""

    turn: str
    call: str
    fence: int


@dataclass(frozen=True, slots=True)
class Returned:
    """The call ran; `claim` is the number it was claimed with, 0 for a READ_ONLY call."""

    turn: str
    call: str
    claim: int
    result: ToolResult
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class Opened:
    """The call starts a frame that begins with the user message `parts`."""

    turn: str
    call: str
    parts: tuple[Part, ...]
    prefix: str = ""
    reach: Reach = Reach.ALL


@dataclass(frozen=True, slots=True)
class Broken:
    """The turn goes no further."""

    turn: str
    ending: Ending
    said: str = ""
    """What people have seen by then of the answer that is being written."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A new holder, under `fence`, took the session over from one that is gone."""

    fence: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """A history of `length` messages takes the place of the one that had `of`; the newest `kept` are the same."""

    of: int
    length: int
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Undone:
    """A history of `of` messages loses its newest exchange, and has `length` then."""

    of: int
    length: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Everything that was said here is forgotten."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An owner chose the model that is asked first here; empty: the usual order."""

    model: str


@dataclass(frozen=True, slots=True)
class Awaits:
    """`person` was answered: with the question `token`, which their words may answer until `until`, or with none.

    `order` is that of their message: a question that was put about a later one stays.
    """

    person: str
    order: int
    token: str = ""
    until: datetime | None = None


SessionEvent = (
    Spoken
    | Restored
    | Closing
    | Compacted
    | Undone
    | Forgotten
    | Chosen
    | Calling
    | ModelReplied
    | Asked
    | Voted
    | Denied
    | Worded
    | Claimed
    | Returned
    | Opened
    | Broken
    | Resumed
    | Awaits
)
"""Everything that `kernel.transitions.apply` takes."""
