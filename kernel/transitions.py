"""How a session changes: `apply`, pure and total.

`apply` reads no clock, people, registry or settings: whoever may do something has been checked before the event was
made. An event that does not fit (a stale result, a press on a decided card, a message while the model is being
asked) gives back the *same* session object, so callers can tell by identity that nothing was taken.

What moves a call (its gate) stands in `kernel.gates`.

What a person's next words may answer beside all turns (`Awaits`) stands in `kernel.awaiting`.

What changes the conversation as a whole (`Compacted`, `Undone`, `Forgotten`, `Chosen`) stands in `kernel.whole`.

What moves a turn:

    state     event                              next
    --------  ---------------------------------  ---------------------------------------------------------------
    -         Spoken, nothing runs               opens a turn (or goes on with the waiting turn it supersedes)
    -         Restored                           opens a turn that waits, beside whatever runs: its call asks again
    root      Spoken by the requester            joins the turn: last in its newest user message
    thinking  Closing                            thinking: the next reply is the frame's last, and has no tools
    thinking  Calling, the number fits           calling: the history does not grow until the result is applied
    calling   ModelReplied, the number fits      open (calls), thinking again (pause, plan), or done (frame or turn)
    calling   Resumed                            thinking: the holder is gone, the call is made again
    any       Broken                             ended; finished once every claimed call has its outcome

"root" and "thinking" mean: the top frame has no open message and no call is under way; "root" also that it is the
only frame. When every call of the open message is answered, the message and its results (one user message, in the
order of the calls) close, and the frame thinks again.

A frame that begins with a plan gets one user message behind it that says to carry it out. A model that asks for tools
although it was to plan has begun to work; one that does so although it was to close has had its last words: when there
were none, a sub-task is answered without words, and the turn itself ends at its limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from kernel.awaiting import awaiting
from kernel.frames import drop_frames, map_gates, map_top_gates, with_top
from kernel.gates import GateEvent, answered, is_last_look, next_gate
from kernel.messages import QUOTED, Message, Part, Role, Text, by_program
from kernel.session import MAX_SUBFRAMES, Ending, Frame, Gate, GateState, Mode, Open, Session, Turn, can_start
from kernel.session_events import (
    Asked,
    Awaits,
    Broken,
    Calling,
    Claimed,
    Closing,
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
from kernel.whole import OfWhole, change_whole

MAY_HAVE_TAKEN_EFFECT = (
    "The process that ran this call died before it could tell the outcome: it may have taken effect. "
    "Do not repeat it unless the person asks for it again."
)
NOT_RUN = "Not run: the turn was stopped."
TOO_DEEP = "Not run: a sub-task cannot start sub-tasks of its own this deep."
SUPERSEDED = "Not run: instead of deciding, the person wrote the message that follows."
CARRY_OUT = by_program("the plan is noted. Now carry it out, with tools where they help.")

_TurnEvent = Closing | Calling | ModelReplied | Broken | Opened | GateEvent
_TurnChange = Callable[[Turn], Turn]


def apply(session: Session, event: SessionEvent) -> Session:
    """The session after `event`; the same object when the event does not fit."""
    if isinstance(event, OfWhole):
        return change_whole(session, event)
    match event:
        case Spoken():
            changed = _speak(session, event)
        case Restored():
            changed = _restore(session, event)
        case Awaits():
            return awaiting(session, event)
        case Resumed():
            changed = _each_turn(session, lambda turn: _resume(turn, event.fence))
        case _:
            changed = _one_turn(session, event)
    return session if changed is session else _settle(changed)


def _one_turn(session: Session, event: _TurnEvent) -> Session:
    turn = session.turn(event.turn)
    if turn is None:
        return session
    after = _move_turn(turn, event, is_active=session.active == turn.id)
    return session if after is turn else _with_turn(session, after)


def _move_turn(turn: Turn, event: _TurnEvent, *, is_active: bool) -> Turn:
    match event:
        case Closing():
            return _close_frame(turn, event.why) if is_active else turn
        case Calling():
            return _call_model(turn, event) if is_active else turn
        case ModelReplied():
            return _take_reply(turn, event)
        case Broken():
            return _break(_with_words(turn, event.said), event.ending)
        case Opened():
            return _open_frame(turn, event) if is_active else turn
        case Claimed() | Asked() if not is_active:
            return turn
        case Asked() | Voted() | Denied() | Worded() | Claimed() | Returned():
            return _move_gate(turn, event)
        case _:
            assert_never(event)


# --- what people say ---------------------------------------------------------------------------------------------


def _speak(session: Session, event: Spoken) -> Session:
    running = session.running
    if running is not None:
        if running.requester == event.person and _is_thinking(running) and len(running.frames) == 1:
            return _with_turn(session, _join(running, event.parts))
        return session
    waiting = session.waiting_for(event.person)
    if waiting is not None:
        superseded = _supersede(waiting, event)
        return session if superseded is waiting else _with_turn(session, superseded)
    if session.turn(event.turn) is not None:
        return session
    frame = Frame((Message(Role.USER, event.parts),), prefix=event.prefix, mode=event.mode)
    return _open_turn(session, event, frame)


def _open_turn(session: Session, event: Spoken | Restored, frame: Frame) -> Session:
    is_same = event.prefix == session.prefix
    thinking_from = session.thinking_from if is_same else session.history_length
    turn = Turn(
        id=event.turn,
        requester=event.person,
        frames=(frame,),
        base=session.history_length,
        thinking_from=thinking_from,
        is_private=event.is_private,
    )
    turns = (*session.turns, turn)
    return replace(session, turns=turns, prefix=event.prefix, thinking_from=thinking_from)


def _restore(session: Session, event: Restored) -> Session:
    """The call stands in a message of its own, as if the model had just made it: it is decided and run like any."""
    gate = event.gate
    if session.turn(event.turn) is not None or gate.state is not GateState.ASKED:
        return session
    opened = Open(Message(Role.ASSISTANT, (gate.call,)), (gate,))
    return _open_turn(session, event, Frame((Message(Role.USER, event.parts),), prefix=event.prefix, open=opened))


def _supersede(turn: Turn, event: Spoken) -> Turn:
    """The waiting turn goes on with the message: as the answer to its question, else in place of its decisions.

    A sub-frame that waits is given up with the call that started it, so that the message stands where the person
    speaks: in the root. While a claimed call has no outcome yet the message has to wait.
    """
    question = next((gate for gate in turn.gates if gate.state is GateState.ASKED and gate.is_question), None)
    if question is not None:
        said = tuple(part for part in event.parts if isinstance(part, Text) and not part.text.startswith(QUOTED))
        more = tuple(part for part in event.parts if part not in said)
        return _move_gate(
            _with_behind(turn, more), Worded(turn.id, question.call.id, "\n".join(part.text for part in said))
        )
    if any(gate.state is GateState.CLAIMED for gate in turn.gates):
        return turn
    root = drop_frames(turn, 1)
    decided = map_top_gates(
        root,
        lambda gate: gate if gate.is_answered else answered(gate, GateState.DENIED, SUPERSEDED, is_error=True),
    )
    return _join(_close_if_answered(decided), event.parts)


def _with_behind(turn: Turn, parts: tuple[Part, ...]) -> Turn:
    opened = turn.top.open
    if opened is None:
        return turn
    return with_top(turn, replace(turn.top, open=replace(opened, behind=(*opened.behind, *parts))))


def _join(turn: Turn, parts: tuple[Part, ...]) -> Turn:
    """`parts` at the end of the newest user message, behind any tool results."""
    frame = turn.top
    last = frame.messages[-1]
    if last.role is Role.USER:
        messages = (*frame.messages[:-1], replace(last, parts=(*last.parts, *parts)))
    else:
        messages = (*frame.messages, Message(Role.USER, parts))
    return with_top(turn, replace(frame, messages=messages))


# --- the model ---------------------------------------------------------------------------------------------------


def _is_thinking(turn: Turn) -> bool:
    return turn.ending is None and not turn.is_calling and turn.top.open is None


def _call_model(turn: Turn, event: Calling) -> Turn:
    if not _is_thinking(turn) or event.effect != turn.effect + 1:
        return turn
    frame = replace(turn.top, iteration=turn.top.iteration + 1)
    return replace(with_top(turn, frame), effect=event.effect, is_calling=True, model_calls=turn.model_calls + 1)


def _take_reply(turn: Turn, event: ModelReplied) -> Turn:
    if not turn.is_calling or event.effect != turn.effect:
        return turn
    heard = replace(
        turn,
        is_calling=False,
        worked_ms=turn.worked_ms + event.took_ms,
        tokens=turn.tokens + event.tokens,
        micro_dollars=turn.micro_dollars + event.micro_dollars,
    )
    if event.gates and heard.top.mode is Mode.CLOSE:
        return _end_without_tools(heard, event.message)
    if event.gates:
        opened = with_top(heard, replace(heard.top, open=Open(event.message, event.gates), mode=Mode.WORK))
        return _close_if_answered(opened)
    heard = with_top(heard, _with_message(heard.top, event.message))
    if event.is_pause:
        return heard
    if heard.top.mode is Mode.PLAN:
        return _carry_out(heard, event.message)
    return _finish_frame(heard, event.message.text, event.ending)


def _with_message(frame: Frame, message: Message) -> Frame:
    return replace(frame, messages=(*frame.messages, message)) if message.parts else frame


def _carry_out(turn: Turn, plan: Message) -> Turn:
    working = with_top(turn, replace(turn.top, mode=Mode.WORK))
    return _join(working, (Text(CARRY_OUT),)) if plan.parts else working


def _end_without_tools(turn: Turn, message: Message) -> Turn:
    """The model asked for tools that are closed: what it said beside that are its last words."""
    words = message.text
    if not words.strip():
        return _break(turn, Ending.LIMIT) if len(turn.frames) == 1 else _finish_frame(turn, "")
    return _finish_frame(with_top(turn, _with_message(turn.top, Message(Role.ASSISTANT, (Text(words),)))), words)


def _close_frame(turn: Turn, why: str) -> Turn:
    if not _is_thinking(turn) or turn.top.mode is Mode.CLOSE:
        return turn
    return _join(with_top(turn, replace(turn.top, mode=Mode.CLOSE)), (Text(why),))


def _finish_frame(turn: Turn, words: str, ending: Ending = Ending.ANSWERED) -> Turn:
    """The top frame is done: the turn has come to its ending, or the call that opened the frame is answered."""
    if len(turn.frames) == 1:
        return replace(turn, ending=ending)
    origin = turn.top.origin
    below = drop_frames(turn, len(turn.frames) - 1)

    def answer(gate: Gate) -> Gate:
        return answered(gate, GateState.ANSWERED, words or "(no words)") if gate.call.id == origin else gate

    return _close_if_answered(map_top_gates(below, answer))


def _open_frame(turn: Turn, event: Opened) -> Turn:
    gates = turn.top.open.gates if turn.top.open else ()
    gate = next((gate for gate in gates if gate.call.id == event.call), None)
    if turn.ending is not None or gate is None or not can_start(gates, gate):
        return turn
    if any(other.state is GateState.CLAIMED for other in gates):
        return turn
    if len(turn.frames) > MAX_SUBFRAMES:
        return _close_if_answered(
            map_top_gates(
                turn,
                lambda each: answered(each, GateState.DENIED, TOO_DEEP, is_error=True) if each is gate else each,
            )
        )
    opened = map_top_gates(turn, lambda each: replace(each, state=GateState.OPENED) if each is gate else each)
    frame = Frame((Message(Role.USER, event.parts),), origin=event.call, prefix=event.prefix, reach=event.reach)
    return replace(opened, frames=(*opened.frames, frame))


# --- gates -------------------------------------------------------------------------------------------------------


def _move_gate(turn: Turn, event: GateEvent) -> Turn:
    """The turn with the gate of the event's call moved, in whichever frame that call is open."""
    for depth, frame in enumerate(turn.frames):
        if frame.open is None:
            continue
        for gate in frame.open.gates:
            if gate.call.id != event.call or gate.is_answered:
                continue
            moved = next_gate(turn, frame.open.gates, gate, event)
            if moved is gate:
                return turn
            gates = tuple(moved if each is gate else each for each in frame.open.gates)
            changed = replace(frame, open=replace(frame.open, gates=gates))
            frames = (*turn.frames[:depth], changed, *turn.frames[depth + 1 :])
            took_ms = event.took_ms if isinstance(event, Returned) and is_last_look(moved, gates) else 0
            acted, worked_ms = turn.has_acted or isinstance(event, Claimed), turn.worked_ms + took_ms
            return _close_if_answered(replace(turn, frames=frames, worked_ms=worked_ms, has_acted=acted))
    return turn


def _close_if_answered(turn: Turn) -> Turn:
    """Close every frame whose calls are all answered; of a broken turn too, so that its history is pair-clean."""
    frames = tuple(_closed(frame) for frame in turn.frames)
    return turn if frames == turn.frames else replace(turn, frames=frames)


def _closed(frame: Frame) -> Frame:
    if frame.open is None:
        return frame
    results = [gate.result for gate in frame.open.gates]
    if any(result is None for result in results):
        return frame
    answer = Message(Role.USER, (*(result for result in results if result is not None), *frame.open.behind))
    return replace(frame, messages=(*frame.messages, frame.open.message, answer), open=None)


# --- endings -----------------------------------------------------------------------------------------------------


def _with_words(turn: Turn, said: str) -> Turn:
    if not said or not turn.is_calling or len(turn.frames) > 1:
        return turn
    return with_top(turn, _with_message(turn.top, Message(Role.ASSISTANT, (Text(said),))))


def _break(turn: Turn, ending: Ending) -> Turn:
    """Nothing more is started; calls already claimed keep their place for their real outcome."""
    if turn.ending is not None:
        return turn

    def refuse(gate: Gate) -> Gate:
        if gate.is_answered or gate.state is GateState.CLAIMED:
            return gate
        return answered(gate, GateState.DENIED, NOT_RUN, is_error=True)

    return _close_if_answered(replace(map_gates(turn, refuse), ending=ending, is_calling=False))


def _resume(turn: Turn, fence: int) -> Turn:
    """What the dead holder had under way: a model call is made again, a claimed call may have taken effect."""

    def give_up(gate: Gate) -> Gate:
        if gate.state is GateState.CLAIMED and gate.fence < fence:
            return answered(gate, GateState.ANSWERED, MAY_HAVE_TAKEN_EFFECT, is_error=True)
        return gate

    resumed = map_gates(turn, give_up)
    if resumed.frames == turn.frames and not turn.is_calling:
        return turn
    return _close_if_answered(replace(resumed, is_calling=False))


# --- small moves -------------------------------------------------------------------------------------------------


def _with_turn(session: Session, turn: Turn) -> Session:
    turns = tuple(turn if each.id == turn.id else each for each in session.turns)
    return replace(session, turns=turns)


def _each_turn(session: Session, change: _TurnChange) -> Session:
    turns = tuple(change(turn) for turn in session.turns)
    if all(after is before for after, before in zip(turns, session.turns, strict=True)):
        return session
    return replace(session, turns=turns)


def _settle(session: Session) -> Session:
    """At most one turn runs: the active one while it can, else the oldest that can."""
    running = session.running
    if running is not None and running.is_runnable:
        return session
    able = next((turn.id for turn in session.turns if turn.is_runnable), "")
    return replace(session, active=able)
