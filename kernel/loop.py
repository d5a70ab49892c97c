"""What happens next in a conversation: the only place where a turn goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import assert_never

from kernel.errors import ModelError
from kernel.guards import is_circling
from kernel.messages import (
    QUOTED,
    Concurrency,
    Message,
    ModelReply,
    Part,
    Role,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    by_program,
    is_by_program,
)
from kernel.outside import has_read_others
from kernel.prompts import is_facts, prefix_digest
from kernel.session import Ending, Gate, GateState, Mode, Session, Turn, can_start
from kernel.session_events import Asked, Broken, Calling, Claimed, Closing, ModelReplied, Opened
from kernel.tools import Approval, Opening, ToolRegistry, capped
from kernel.transitions import apply


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a turn ends although the model would go on.

    At its last iteration or call a frame gets one call more, without tools, for its last words.
    """

    iterations: int = 10
    """Model calls in one frame."""
    model_calls: int = 30
    """Model calls in one turn, all frames together."""
    work: timedelta = timedelta(minutes=15)
    """Model calls and tools of one turn together; the time in which people decide does not count."""
    may_ask: bool = True
    """False: the chat has used up what it may for the day, and the model is not asked again."""


MAX_CALLS = 32
"""Of one message; what a model asks for beyond that is not run. Each is an effect, and may be a card."""
MAX_ARGUMENTS_CHARS = 2_000_000
"""Of one call: the largest file that a tool writes at once, with every sign of it escaped."""
_LAST_WORDS = 5
"""Model calls over a limit, for the last words of every frame and the pauses of a provider."""
_NO_MORE = by_program(
    "this request has used up its steps, and tools are closed now. Tell the person what you found, what is done and "
    "what is not."
)
_CIRCLING = by_program(
    "the last calls came to the same three times, and tools are closed now. Tell the person what you found, what did "
    "not work and what they could do."
)


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


def _next_call(turn: Turn, limits: Limits) -> Calling | Closing | Broken:
    """The model is asked again, or asked for its last words, or not asked any more."""
    if not limits.may_ask:
        return Broken(turn.id, Ending.ALLOWANCE)
    if timedelta(milliseconds=turn.worked_ms) >= limits.work:
        return Broken(turn.id, Ending.DEADLINE)
    over = max(turn.top.iteration - limits.iterations, turn.model_calls - limits.model_calls)
    if turn.top.mode is Mode.CLOSE:
        return Broken(turn.id, Ending.LIMIT) if over >= _LAST_WORDS else Calling(turn.id, turn.effect + 1)
    if over >= 0:
        return Closing(turn.id, _NO_MORE)
    if is_circling(turn.top):
        return Closing(turn.id, _CIRCLING)
    return Calling(turn.id, turn.effect + 1)


def _start_calls(session: Session, turn: Turn, registry: ToolRegistry, fence: int) -> Session:
    """Claim, or open frames for, the calls of the top frame whose turn has come."""
    gates = turn.top.open.gates if turn.top.open else ()
    tools = registry.within(turn.top.reach)
    for gate in gates:
        if not can_start(gates, gate):
            continue
        opening = tools.opening(gate.call)
        if opening is not None:
            return apply(session, _opened(turn, gate, opening, tools))
        if gate.token and tools.question(gate.call) is not None:
            return apply(session, Asked(turn.id, gate.call.id, gate.token))
        if gate.concurrency is not Concurrency.READ_ONLY:
            return apply(session, Claimed(turn.id, gate.call.id, fence))
    return session


def _opened(turn: Turn, gate: Gate, opening: Opening, tools: ToolRegistry) -> Opened:
    """The frame has the tools of its reach; its prefix is theirs, and bound to that of the frame below."""
    inner = tools.within(opening.reach)
    prefix = turn.top.prefix if inner is tools else prefix_digest(turn.top.prefix, inner.words)
    return Opened(turn.id, gate.call.id, (Text(opening.text),), prefix=prefix, reach=inner.reach)


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
            and registry.within(frame.reach).opening(gate.call) is None
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
    asks has a token of its own; `kernel.approvals.cards` and `kernel.questions.cards` make the prompt for it.
    """
    is_wary, registry = has_read_others(turn, registry), registry.within(turn.top.reach)
    message = _with_distinct_calls(reply.message, _taken_ids(turn))
    is_cut = reply.stop is Stop.CUT
    calls, words = message.calls, _newest_words(turn)
    gates = tuple(
        gate_of(
            registry.completed(call, words),
            registry,
            new_token,
            is_cut=is_cut and call is calls[-1],
            is_wary=is_wary,
        )
        for call in calls[:MAX_CALLS]
    ) + tuple(_unrun(call, f"Not run: one message may have {MAX_CALLS} calls.") for call in calls[MAX_CALLS:])
    return ModelReplied(turn.id, effect, message, gates, is_pause=reply.stop is Stop.PAUSE, ending=_ending(reply))


def _ending(reply: ModelReply) -> Ending:
    """How a turn ends whose last reply this is."""
    match reply.stop:
        case Stop.CUT:
            return Ending.CUT
        case Stop.REFUSAL:
            return Ending.DECLINED
        case Stop.WINDOW:
            return Ending.CUT if reply.message.parts else Ending.WINDOW
        case Stop.END | Stop.TOOLS | Stop.PAUSE:
            return Ending.ANSWERED
        case _:
            assert_never(reply.stop)


def gate_of(
    call: ToolCall, registry: ToolRegistry, new_token: Callable[[], str], *, is_cut: bool = False, is_wary: bool
) -> Gate:
    """The call checked and gated by its tool's policy; answered with why when it cannot run.

    `is_wary`: its turn has read what others wrote.
    """
    try:
        if is_cut or call.is_cut:
            raise ModelError("Not run: the reply ended inside the arguments. Send the call again, shorter.")
        bound = registry.bind(call)
    except ModelError as error:
        return _unrun(call, str(error))
    match bound.approval:
        case Approval.WARY if is_wary:
            return Gate(call, bound.concurrency, GateState.ASKED, digest=bound.digest, token=new_token())
        case Approval.NEVER | Approval.WARY:
            token = new_token() if bound.tool.asks else ""
            return Gate(call, bound.concurrency, GateState.READY, digest=bound.digest, token=token)
        case Approval.ASK:
            return Gate(call, bound.concurrency, GateState.ASKED, digest=bound.digest, token=new_token())
        case _:
            assert_never(bound.approval)


def _unrun(call: ToolCall, why: str) -> Gate:
    result = ToolResult(call.id, capped(why), is_error=True)
    return Gate(call, Concurrency.READ_ONLY, GateState.ANSWERED, result=result)


def _newest_words(turn: Turn) -> str:
    """What the person said last in the turn; empty when that was a picture or somebody else's words."""
    texts = [
        part.text
        for message in turn.frames[0].messages
        if message.role is Role.USER
        for part in message.parts
        if isinstance(part, Text) and not is_by_program(part.text)
    ]
    if not texts or texts[-1].startswith(QUOTED) or is_facts(texts[-1]):
        return ""  # Behind a quote or the block of facts would stand what the person wrote themselves.
    return texts[-1]


def _taken_ids(turn: Turn) -> set[str]:
    open_ids = {gate.call.id for gate in turn.gates}
    closed = {call.id for frame in turn.frames for message in frame.messages for call in message.calls}
    return open_ids | closed | {*turn.spent}


def _with_distinct_calls(message: Message, taken: set[str]) -> Message:
    """Some services repeat call ids or leave them out; results are matched by id, so ours are distinct in a turn.

    Arguments without end count as cut off, and are not kept: every later request would hold them.
    """
    parts: list[Part] = []
    taken, numbers = {*taken}, dict[str, int]()
    for part in message.parts:
        if isinstance(part, ToolCall):
            given = call_id = part.id or "call"
            number = numbers.get(given, 1)
            while call_id in taken:
                number += 1
                call_id = f"{given}-{number}"
            numbers[given] = number
            taken.add(call_id)
            if len(part.arguments) > MAX_ARGUMENTS_CHARS:
                part = replace(part, arguments="{}", is_cut=True)  # noqa: PLW2901 — the same call from here on
            parts.append(part if call_id == part.id else replace(part, id=call_id))
        else:
            parts.append(part)
    return replace(message, parts=tuple(parts))
