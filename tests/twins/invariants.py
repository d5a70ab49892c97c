"""What must hold of a conversation whatever happens in whatever order. Written from the design, without `apply`.

A breach is an `AssertionError` that says what was broken. `tests.twins.judge` watches a conversation with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kernel.messages import Concurrency, Message, Role, ToolCall, ToolResult
from kernel.session import Frame, Gate, GateState, Session, Turn
from kernel.session_events import Asked, Broken, Denied, ModelReplied, Resumed, Returned, Spoken, Voted, Worded

ASKED, READY, CLAIMED = GateState.ASKED, GateState.READY, GateState.CLAIMED
OPENED, DENIED, ANSWERED = GateState.OPENED, GateState.DENIED, GateState.ANSWERED
READ_ONLY, EXCLUSIVE, INTERACTIVE = Concurrency.READ_ONLY, Concurrency.EXCLUSIVE, Concurrency.INTERACTIVE

MOST_FRAMES = 3


class Went:
    """Stands for `advance` where an event is expected: the loop went on by itself."""


MOVES: dict[tuple[GateState, GateState], tuple[type, ...]] = {
    (ASKED, ASKED): (Voted,),
    (ASKED, READY): (Voted,),
    (READY, ASKED): (Asked,),
    (READY, CLAIMED): (Went,),
    (READY, OPENED): (Went,),
}
"""Who may move a call that has no answer yet."""
ANSWERS: dict[GateState, tuple[type, ...]] = {
    ASKED: (Denied, Worded, Spoken, Broken, Went),
    READY: (Returned, Spoken, Broken, Went),
    CLAIMED: (Returned, Resumed),
    OPENED: (ModelReplied, Spoken, Broken, Went),
}
"""Who may answer a call that stands there."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One call as a session shows it; `gate` is None once its message has closed."""

    depth: int
    gate: Gate | None
    result: ToolResult | None
    place: int = 0


Calls = dict[tuple[str, str], Seen]
Pairs = tuple[tuple[ToolCall, ToolResult], ...]


def calls_of(session: Session, known: dict[int, tuple[tuple[Message, ...], Pairs]]) -> Calls:
    """Every call of every turn. Breaks when a call is there twice. `known` remembers messages that were read before."""
    found: Calls = {}
    for turn in session.turns:
        for depth, frame in enumerate(turn.frames):
            if id(frame.messages) not in known:
                known[id(frame.messages)] = (frame.messages, tuple(answered_calls(frame.messages)))
            for call, result in known[id(frame.messages)][1]:
                assert (turn.id, call.id) not in found, f"call {call.id} is there twice"
                found[turn.id, call.id] = Seen(depth, None, result)
            for place, gate in enumerate(frame.open.gates if frame.open else ()):
                assert (turn.id, gate.call.id) not in found, f"call {gate.call.id} is there twice"
                found[turn.id, gate.call.id] = Seen(depth, gate, gate.result, place)
    return found


def answered_calls(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, ToolResult]]:
    """The calls of `messages` with their results. Breaks unless the messages are pair-clean and begin with a user."""
    asked: tuple[ToolCall, ...] = ()
    for message in messages:
        assert message.parts, "an empty message"
        results = tuple(part for part in message.parts if isinstance(part, ToolResult))
        assert [result.call for result in results] == [call.id for call in asked], "calls and results do not pair"
        assert message.parts[: len(results)] == results, "something stands before the results"
        yield from zip(asked, results, strict=True)
        asked = message.calls
        assert not asked or message.role is Role.ASSISTANT, "a user message that calls tools"
        assert not results or message.role is Role.USER, "an assistant message with results"
    assert not asked, "calls without results"
    assert not messages or messages[0].role is Role.USER, "the first message is not a user's"


def may_run(gates: Sequence[Gate], place: int) -> bool:
    """Whether the order of calls lets the call at `place` run."""
    before = [gate for gate in gates[:place] if gate.result is None]
    if any(gate.concurrency is INTERACTIVE for gate in before):
        return False
    mine = gates[place].concurrency
    return mine is READ_ONLY or not any(mine is INTERACTIVE or gate.concurrency is EXCLUSIVE for gate in before)


def goes_on(turn: Turn) -> bool:
    """The turn has something to do that needs no person."""
    if turn.ending is not None:
        return False
    top = turn.frames[-1]
    if top.open is None:
        return True
    gates = top.open.gates
    return any(
        gate.state is CLAIMED or (gate.state is READY and may_run(gates, place)) for place, gate in enumerate(gates)
    )


def is_over(turn: Turn) -> bool:
    """It has ended and no call of it awaits its outcome."""
    open_gates = [gate for frame in turn.frames if frame.open for gate in frame.open.gates]
    return turn.ending is not None and all(gate.result is not None for gate in open_gates)


def has_work(session: Session) -> bool:
    """Some turn is neither finished nor waiting for a person."""
    return any(goes_on(turn) or turn.ending is not None for turn in session.turns)


def check_shape(session: Session) -> None:
    """What holds of every session, between any two events."""
    for turn in session.turns:
        assert 1 <= len(turn.frames) <= MOST_FRAMES, f"{len(turn.frames)} frames"
        assert turn.frames[0].origin == ""
        for below, above in zip(turn.frames, turn.frames[1:], strict=False):
            origins = [gate for gate in below.open.gates if gate.call.id == above.origin] if below.open else []
            is_broken = turn.ending is not None
            assert is_broken or [gate.state for gate in origins] == [OPENED], "a frame that answers no call"
        for frame in turn.frames:
            _check_frame(frame, is_top=frame is turn.frames[-1], turn=turn)
        assert not turn.is_calling or (turn.ending is None and turn.frames[-1].open is None), "calls while open"
    calling = [turn.id for turn in session.turns if turn.is_calling]
    assert calling in ([], [session.active]), "the model is asked for a turn that does not run"
    able = [turn.id for turn in session.turns if goes_on(turn)]
    assert (session.active in able) if able else session.active == "", f"{session.active!r} runs, able are {able}"


def _check_frame(frame: Frame, *, is_top: bool, turn: Turn) -> None:
    if frame.open is None:
        assert is_top or turn.ending is not None, "a frame below the top that is not open"
        return
    gates = frame.open.gates
    assert [gate.call for gate in gates] == list(frame.open.message.calls), "gates and calls differ"
    assert any(gate.result is None for gate in gates), "all calls are answered and the message is still open"
    for place, gate in enumerate(gates):
        assert (gate.result is not None) == (gate.state in (ANSWERED, DENIED)), f"{gate.state} and {gate.result}"
        if gate.state in (CLAIMED, OPENED):
            assert may_run(gates, place), f"{gate.call.name} runs out of order"
        if gate.state is CLAIMED:
            assert gate.concurrency is not READ_ONLY, "a READ_ONLY call was claimed"
        assert gate.state is not OPENED or turn.ending is not None or not is_top, "no frame answers the call"
