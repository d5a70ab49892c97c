"""What happens next in a conversation: the only place where a turn goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from kernel.errors import ModelError
from kernel.messages import Concurrency, Message, ModelReply, Part, Stop, Text, ToolCall, ToolResult
from kernel.session import (
    Broken,
    Calling,
    Claimed,
    Ending,
    Gate,
    GateState,
    ModelReplied,
    Opened,
    Session,
    Turn,
    can_start,
)
from kernel.tools import Approval, ToolRegistry
from kernel.transitions import apply


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a turn ends although the model would go on."""

    iterations: int = 10
    """Model calls in one frame."""
    model_calls: int = 30
    """Model calls in one turn, all frames together."""


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the model; its reply comes back as `ModelReplied` with this number."""

    turn: str
    effect: int


@dataclass(frozen=True, slots=True)
class RunCall:
    """Run the tool; its outcome comes back as `Returned` with this claim (0: READ_ONLY, may be repeated)."""

    turn: str
    call: str
    claim: int


Effect = CallModel | RunCall
"""Values: the same effect is equal to itself in every process, so that each is started once."""


@dataclass(frozen=True, slots=True)
class Advance:
    """The session with what is about to happen written into it, and the effects that are under way from now on.

    Commit the session first, then start those effects that are not running yet.
    """

    session: Session
    effects: tuple[Effect, ...]


def advance(session: Session, registry: ToolRegistry, *, fence: int, limits: Limits) -> Advance:
    """Go on with the turn that runs as far as it goes without waiting for anything.

    Claims are made under `fence`. Ends with the model being asked, calls running, or nothing to do.
    """
    while (turn := session.running) is not None:
        before = session
        if turn.top.open is None and not turn.is_calling:
            session = apply(session, _next_call(turn, limits))
        else:
            session = _start_calls(session, turn, registry, fence)
        if session is before:
            break
    return Advance(session, _effects(session, registry, fence))


def _next_call(turn: Turn, limits: Limits) -> Calling | Broken:
    if turn.top.iteration >= limits.iterations or turn.model_calls >= limits.model_calls:
        return Broken(turn.id, Ending.LIMIT)
    return Calling(turn.id, turn.effect + 1)


def _start_calls(session: Session, turn: Turn, registry: ToolRegistry, fence: int) -> Session:
    """Claim, or open frames for, the calls of the top frame whose turn has come."""
    gates = turn.top.open.gates if turn.top.open else ()
    for gate in gates:
        if not can_start(gates, gate):
            continue
        opening = registry.opening(gate.call)
        if opening is not None:
            return apply(session, Opened(turn.id, gate.call.id, (Text(opening),), prefix=turn.top.prefix))
        if gate.concurrency is not Concurrency.READ_ONLY:
            return apply(session, Claimed(turn.id, gate.call.id, fence))
    return session


def _effects(session: Session, registry: ToolRegistry, fence: int) -> tuple[Effect, ...]:
    turn = session.running
    if turn is None:
        return ()
    asked = (CallModel(turn.id, turn.effect),) if turn.is_calling else ()
    # Frames below the top too: what looks something up goes on beside the sub-task that its message started.
    return asked + tuple(
        RunCall(turn.id, gate.call.id, gate.claim)
        for frame in turn.frames
        if frame.open
        for gate in frame.open.gates
        if (gate.state is GateState.CLAIMED and gate.fence == fence)
        or (
            gate.concurrency is Concurrency.READ_ONLY
            and can_start(frame.open.gates, gate)
            and registry.opening(gate.call) is None
        )
    )


def find_gate(session: Session, effect: RunCall) -> Gate | None:
    """The gate that the effect is about; None when it is answered, claimed anew or gone."""
    turn = session.turn(effect.turn)
    gates = turn.gates if turn else ()
    return next(
        (gate for gate in gates if gate.call.id == effect.call and gate.claim == effect.claim and not gate.is_answered),
        None,
    )


def read_reply(
    turn: Turn, effect: int, reply: ModelReply, registry: ToolRegistry, new_token: Callable[[], str]
) -> ModelReplied:
    """The reply as an event: each of its calls checked and gated, repeated call ids made distinct.

    A call that cannot run (unknown tool, bad arguments, cut off) has a gate that is answered with why. A call that
    asks has a token of its own; `kernel.approvals.cards` makes the prompt for it.
    """
    message = _with_distinct_calls(reply.message, _taken_ids(turn))
    is_cut = reply.stop is Stop.CUT
    calls = message.calls
    gates = tuple(_gate(call, registry, new_token, is_cut=is_cut and call is calls[-1]) for call in calls)
    return ModelReplied(turn.id, effect, message, gates, is_pause=reply.stop is Stop.PAUSE)


def _gate(call: ToolCall, registry: ToolRegistry, new_token: Callable[[], str], *, is_cut: bool) -> Gate:
    try:
        if is_cut or call.is_cut:
            raise ModelError("Not run: the reply ended inside the arguments. Send the call again, shorter.")
        bound = registry.bind(call)
    except ModelError as error:
        result = ToolResult(call.id, str(error), is_error=True)
        return Gate(call, Concurrency.READ_ONLY, GateState.ANSWERED, result=result)
    match bound.approval:
        case Approval.NEVER:
            return Gate(call, bound.concurrency, GateState.READY, digest=bound.digest)
        case Approval.ASK:
            return Gate(call, bound.concurrency, GateState.ASKED, digest=bound.digest, token=new_token())
        case _:
            assert_never(bound.approval)


def _taken_ids(turn: Turn) -> set[str]:
    open_ids = {gate.call.id for gate in turn.gates}
    closed = {call.id for frame in turn.frames for message in frame.messages for call in message.calls}
    return open_ids | closed | {*turn.spent}


def _with_distinct_calls(message: Message, taken: set[str]) -> Message:
    """Some services repeat call ids or leave them out; results are matched by id, so ours are distinct in a turn."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            number, call_id = 1, part.id or "call"
            while call_id in taken:
                number += 1
                call_id = f"{part.id or 'call'}-{number}"
            taken = taken | {call_id}
            parts.append(part if call_id == part.id else replace(part, id=call_id))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))
