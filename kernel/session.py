"""One conversation's state: its turns, the frames of each, the gates of open calls.

Values only. What can happen to it stands in `kernel.session_events`; how that changes it is
`kernel.transitions.apply`; what happens next is `kernel.loop.advance`.

A turn is a stack of frames. The root frame is the turn itself; a call may start a sub-frame, and is answered when
that frame is done. A frame is *open* while its last assistant message has calls that are not all answered; each such
call has a gate. At most one turn runs; turns that wait for a person are set aside whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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
    behind: tuple[Part, ...] = ()
    """What the person showed or quoted beside an answer in words: it follows the results."""


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
    has_acted: bool = False
    """A call of it that does not only look was begun."""
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
    def has_asked(self) -> bool:
        """A question of it has been put, and words answer it."""
        return any(gate.state is GateState.ASKED and gate.is_question for gate in self.gates)

    @property
    def is_runnable(self) -> bool:
        """It has work that needs no person. A turn that only awaits the outcome of stopped calls is not runnable."""
        return self.ending is None and not self.is_waiting


@dataclass(frozen=True, slots=True)
class Awaited:
    """A question that `person` may answer with their next words instead of a button of its card, until `until`.

    `order` is that of the message it was put about; `beside` are the tokens of the model's questions that waited for
    the person then: any other is newer.
    """

    person: str
    token: str
    order: int
    until: datetime
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """A finished turn of `person`: its `length` messages of the history, from absolute number `start` on."""

    person: str
    start: int
    length: int
    has_acted: bool = False


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
    awaited: tuple[Awaited, ...] = ()
    """Questions of the program, oldest first, at most one a person (`kernel.awaiting`)."""
    exchanges: tuple[Exchange, ...] = ()
    """The newest of the history, oldest first (`kernel.exchanges`)."""
    model: str = ""
    """The model that is asked first here, when an owner chose one."""

    def turn(self, turn_id: str) -> Turn | None:
        """The turn of that id, None when it is gone."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    @property
    def running(self) -> Turn | None:
        """The turn that runs, if any."""
        return self.turn(self.active) if self.active else None

    def waiting_for(self, person: str) -> Turn | None:
        """The turn that the next words of `person` go to: one that asked them for words, else the oldest that waits."""
        waiting = [turn for turn in self.turns if turn.requester == person and turn.is_waiting]
        return next((turn for turn in waiting if turn.has_asked), waiting[0] if waiting else None)


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
