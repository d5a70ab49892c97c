"""One conversation's state: its turns, the frames of each, the gates of open calls; and what can happen to it.

Values only. How events change the state is `kernel.transitions.apply`; what happens next is `kernel.loop.advance`.

A turn is a stack of frames. The root frame is the turn itself; a call may start a sub-frame, and is answered when
that frame is done. A frame is *open* while its last assistant message has calls that are not all answered; each such
call has a gate. At most one turn runs; turns that wait for a person are set aside whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kernel.chat import ConversationId
from kernel.messages import Concurrency, Message, Part, ToolCall, ToolResult

MAX_SUBFRAMES = 2
"""How deep calls may start frames inside frames."""

FORGOTTEN = -1
"""Base of a turn that outlives its history: what is left of it goes nowhere."""


class GateState(Enum):
    """Where one call stands. The last two hold a result."""

    ASKED = "asked"
    """Waits for a person."""
    READY = "ready"
    """May start as soon as the order of calls lets it."""
    CLAIMED = "claimed"
    """A worker has committed that it is about to run it."""
    OPENED = "opened"
    """Its sub-frame runs."""
    DENIED = "denied"
    """Will not run; the result says why."""
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Gate:
    """One call of the open message and everything decided about it.

    `digest` binds tool, schema and arguments: what was shown is what runs. `claim` counts claims of this call and
    `fence` is the lease under which the last one was made; a claim of an older fence has no permit any more.
    """

    call: ToolCall
    concurrency: Concurrency
    state: GateState
    digest: str = ""
    token: str = ""
    """Of the prompt that asks, while ASKED; of a question also before it is put."""
    is_question: bool = False
    """ASKED for words, not for a vote."""
    votes_needed: int = 1
    votes: tuple[str, ...] = ()
    claim: int = 0
    fence: int = 0
    result: ToolResult | None = None

    @property
    def is_answered(self) -> bool:
        """It holds a result for the model."""
        return self.result is not None


@dataclass(frozen=True, slots=True)
class Open:
    """An assistant message whose calls are not all answered; `gates` in the order of its calls."""

    message: Message
    gates: tuple[Gate, ...]


class Mode(Enum):
    """What the model is asked for next."""

    PLAN = "plan"
    """A plan, without tools; it is said to nobody."""
    WORK = "work"
    CLOSE = "close"
    """Last words, without tools: the frame has had its time, or goes round in circles."""


class Reach(Enum):
    """What the calls of a frame may do."""

    ALL = "all"
    """Whatever the tools on offer do."""
    LOOK = "look"
    """Only what changes nothing: READ_ONLY calls."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Messages of one line of thought: pair-clean, the open message apart.

    `origin` is the call in the frame below that this frame answers, empty for the root. `prefix` is the digest of
    the system prompt and tool list that were fixed when the frame started.
    """

    messages: tuple[Message, ...]
    origin: str = ""
    prefix: str = ""
    iteration: int = 0
    """Model calls made in this frame."""
    open: Open | None = None
    mode: Mode = Mode.WORK
    reach: Reach = Reach.ALL


class Ending(Enum):
    """How a turn ended."""

    ANSWERED = "answered"
    CUT = "cut"
    """Answered, as far as the model came before its reply had to end."""
    DECLINED = "declined"
    """The model will not answer this."""
    WINDOW = "window"
    """What was asked is more than the model can read."""
    STOPPED = "stopped"
    """A person said stop."""
    LIMIT = "limit"
    """Too many iterations or model calls."""
    ALLOWANCE = "allowance"
    """The chat has used up what it may for the day."""
    DEADLINE = "deadline"
    """It has worked for too long."""
    FAILED = "failed"
    """The model could not be reached."""
    REFUSED = "refused"
    """The model's service refuses what we send: the operator must act."""
    PARKED = "parked"
    """Its holder died three times in the same step."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one person asked for, until it is answered.

    `base` is the length of the history when it started: its requests are that prefix plus its own messages.
    `effect` numbers model calls, so that a stale result is recognised; `is_calling` says one is under way.
    A turn with an `ending` whose gates are all answered is finished and leaves the session with the same commit.
    """

    id: str
    requester: str
    frames: tuple[Frame, ...]
    base: int = 0
    thinking_from: int = 0
    """Of the session when it started: its requests keep showing the same past."""
    effect: int = 0
    is_calling: bool = False
    model_calls: int = 0
    is_private: bool = False
    """Nobody but the requester reads what is said here."""
    worked_ms: int = 0
    """How long its model calls and tools took; what people took to decide does not count."""
    tokens: int = 0
    micro_dollars: int = 0
    """What its model calls used up, in and out, and an estimate of the money."""
    spent: tuple[str, ...] = ()
    """Ids of calls in frames that are gone. No other call of the turn gets one, or a late press would fit it."""
    ending: Ending | None = None

    @property
    def top(self) -> Frame:
        """The frame that is worked on."""
        return self.frames[-1]

    @property
    def gates(self) -> tuple[Gate, ...]:
        """All gates of all frames, root first."""
        return tuple(gate for frame in self.frames if frame.open for gate in frame.open.gates)

    def reach_of(self, gate: Gate) -> Reach:
        """What the frame in which `gate` is open may do."""
        return next((each.reach for each in self.frames if each.open and gate in each.open.gates), self.top.reach)

    @property
    def is_finished(self) -> bool:
        """Nothing of it is left to do or to wait for."""
        return self.ending is not None and all(gate.is_answered for gate in self.gates)

    @property
    def is_waiting(self) -> bool:
        """Only a person can move it: every unanswered call of the top frame asks."""
        if self.ending is not None or self.top.open is None:
            return False
        pending = [gate for gate in self.top.open.gates if not gate.is_answered]
        return bool(pending) and not any(can_move(self.top.open.gates, gate) for gate in pending)

    @property
    def is_runnable(self) -> bool:
        """It has work that needs no person. A turn that only awaits the outcome of stopped calls is not runnable."""
        return self.ending is None and not self.is_waiting


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation between two commits. `revision` counts commits; `active` is the id of the turn that runs.

    `history_length` counts messages of finished turns since the current history began; kept thinking (`Opaque`) before
    `thinking_from` is bound to a past that has changed and is not sent any more. `prefix` is the digest of the newest
    turn's system prompt and tools.
    """

    conversation: ConversationId
    turns: tuple[Turn, ...] = ()
    active: str = ""
    revision: int = 0
    history_length: int = 0
    thinking_from: int = 0
    prefix: str = ""

    def turn(self, turn_id: str) -> Turn | None:
        """The turn of that id, None when it is gone."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    @property
    def running(self) -> Turn | None:
        """The turn that runs, if any."""
        return self.turn(self.active) if self.active else None


def can_start(gates: tuple[Gate, ...], gate: Gate) -> bool:
    """Whether the READY `gate` may start now, by the concurrency of the calls before and beside it.

    READ_ONLY calls run side by side, EXCLUSIVE ones after every earlier EXCLUSIVE one, INTERACTIVE ones alone:
    after everything before them and before everything after them.
    """
    if gate.state is not GateState.READY:
        return False
    earlier = gates[: gates.index(gate)]
    pending = [other for other in earlier if not other.is_answered]
    if any(other.concurrency is Concurrency.INTERACTIVE for other in pending):
        return False
    match gate.concurrency:
        case Concurrency.READ_ONLY:
            return True
        case Concurrency.EXCLUSIVE:
            return not any(other.concurrency is Concurrency.EXCLUSIVE for other in pending)
        case Concurrency.INTERACTIVE:
            return not pending


def can_move(gates: tuple[Gate, ...], gate: Gate) -> bool:
    """Whether work on `gate` can go on without a person: it may start, is claimed, or its frame runs."""
    return gate.state in (GateState.CLAIMED, GateState.OPENED) or can_start(gates, gate)


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


@dataclass(frozen=True, slots=True)
class Resumed:
    """A new holder, under `fence`, took the session over from one that is gone."""

    fence: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """A history of `length` messages takes the place of the one that had `of`."""

    of: int
    length: int


SessionEvent = (
    Spoken
    | Closing
    | Compacted
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
)
