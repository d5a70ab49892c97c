"""Events that do not fit a session: taking one of them would break what `kernel.transitions` promises."""

from __future__ import annotations

from collections.abc import Iterator

from kernel.messages import Concurrency, Message, Role, Text, ToolCall, ToolResult
from kernel.session import Ending, Gate, GateState, Session, Turn
from kernel.session_events import (
    Asked,
    Broken,
    Calling,
    Claimed,
    Denied,
    ModelReplied,
    Opened,
    Restored,
    Resumed,
    Returned,
    SessionEvent,
    Spoken,
    Voted,
    Worded,
)
from tests.twins.invariants import READ_ONLY, may_run

LATE = Message(Role.ASSISTANT, (Text("too late"),))
WORDS = (Text("misfit"),)


def misfits(session: Session, fence: int) -> Iterator[SessionEvent]:
    """Each is refused by `session`, which the holder of `fence` has taken over."""
    yield from _of_turn("nobody", 0)
    yield Restored("nobody", "1", WORDS, _aside(GateState.READY))
    if not any(turn.is_calling for turn in session.turns):
        yield Resumed(fence)
    for turn in session.turns:
        is_thinking = turn.ending is None and not turn.is_calling and turn.top.open is None
        if turn.id != session.active:
            yield Calling(turn.id, turn.effect + 1)
        yield Calling(turn.id, turn.effect)
        yield Calling(turn.id, turn.effect + 2)
        if not is_thinking:
            yield Calling(turn.id, turn.effect + 1)
        yield ModelReplied(turn.id, turn.effect - 1, LATE)
        yield ModelReplied(turn.id, turn.effect + 1, LATE)
        if not turn.is_calling:
            yield ModelReplied(turn.id, turn.effect, LATE)
        if turn.ending is not None:
            yield Broken(turn.id, Ending.FAILED)
        yield Restored(turn.id, turn.requester, WORDS, _aside(GateState.ASKED))
        if turn.id == session.active and (not is_thinking or len(turn.frames) > 1):
            yield Spoken("misfit", turn.requester, WORDS)
        if turn.id == session.active:
            yield Spoken("misfit", "somebody else", WORDS)
        for frame in turn.frames:
            gates = frame.open.gates if frame.open else ()
            for place, gate in enumerate(gates):
                yield from _of_gate(session, turn, gate, may_start=may_run(gates, place), fence=fence)
            yield from (
                event for message in frame.messages for call in message.calls for event in _of_call(turn.id, call.id, 1)
            )


def _aside(state: GateState) -> Gate:
    return Gate(ToolCall("aside", "post", "{}"), Concurrency.EXCLUSIVE, state, "digest", "token")


def _of_turn(turn: str, effect: int) -> Iterator[SessionEvent]:
    yield Calling(turn, effect + 1)
    yield ModelReplied(turn, effect, LATE)
    yield Broken(turn, Ending.STOPPED)
    yield from _of_call(turn, "call", 0)


def _of_call(turn: str, call: str, claim: int) -> Iterator[SessionEvent]:
    """Of a call that is answered, or was never made."""
    yield Asked(turn, call, "token")
    yield Voted(turn, call, "digest", "1")
    yield Denied(turn, call, "no")
    yield Worded(turn, call, "yes")
    yield Claimed(turn, call, 1)
    yield Opened(turn, call, WORDS)
    yield Returned(turn, call, claim, ToolResult(call, "late"))


def _of_gate(session: Session, turn: Turn, gate: Gate, *, may_start: bool, fence: int) -> Iterator[SessionEvent]:
    id_, call, state = turn.id, gate.call.id, gate.state
    outcome = ToolResult(call, "late")
    if gate.result is not None:
        yield from _of_call(id_, call, gate.claim)
        yield Voted(id_, call, gate.digest, "somebody new")
        return
    is_startable = state is GateState.READY and may_start and turn.ending is None
    is_ready = is_startable and turn.id == session.active
    if not is_ready:
        yield Asked(id_, call, "token")
        yield Claimed(id_, call, fence)
    in_top = any(gate is each for each in (turn.top.open.gates if turn.top.open else ()))
    is_blocked = any(each.state is GateState.CLAIMED for each in (turn.top.open.gates if turn.top.open else ()))
    if not is_ready or not in_top or is_blocked:
        yield Opened(id_, call, WORDS)
    if gate.concurrency is READ_ONLY:
        yield Claimed(id_, call, fence)
    yield Returned(id_, call, gate.claim + 1, outcome)
    if state is not GateState.CLAIMED and not (is_startable and gate.concurrency is READ_ONLY):
        yield Returned(id_, call, gate.claim, outcome)
    yield Voted(id_, call, "another digest", "1")
    if state is not GateState.ASKED:
        yield Voted(id_, call, gate.digest, "1")
        yield Denied(id_, call, "no")
        yield Worded(id_, call, "yes")
    elif gate.is_question:
        yield Voted(id_, call, gate.digest, "1")
    else:
        yield Worded(id_, call, "yes")
        for person in gate.votes:
            yield Voted(id_, call, gate.digest, person)
