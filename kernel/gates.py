"""How one call of an open message moves: from asked or ready to answered.

Every pair of state and event that is not here changes nothing; what a turn does to all its calls at once (a message
instead of a decision, a break, a new holder) is done in `kernel.transitions`, which these rows name too:

    state     event                              next       note
    --------  ---------------------------------  ---------  ---------------------------------------------------
    -         ModelReplied                       as given   ASKED, READY, or ANSWERED for a call that cannot run
    ASKED     Voted, the last vote needed        READY      digest matches, a voter counts once
    ASKED     Denied                             DENIED     the model reads why
    ASKED ?   Worded                             ANSWERED   a question; with the person's words
    ASKED ?   Spoken by the requester            ANSWERED   a question; their words are the answer, what they quote or
                                                            show follows the results
    ASKED     Spoken by the requester            DENIED     and with it every call not yet answered; the message is
                                                            the reason, and follows the results
    READY     Asked                              ASKED      an INTERACTIVE call whose turn has come
    READY     Claimed                            CLAIMED    not for READ_ONLY calls, which may be repeated
    READY     Returned, claim 0                  ANSWERED   READ_ONLY, or a call answered without running it
    READY     Opened                             OPENED     pushes a frame
    CLAIMED   Returned, same claim               ANSWERED   also after the turn was broken off
    CLAIMED   Resumed under a later fence        ANSWERED   "may have taken effect": the claimer is gone
    OPENED    its frame is done                  ANSWERED   with the frame's last words
    any of ASKED, READY, OPENED: Broken          DENIED     "not run: stopped"
"""

from __future__ import annotations

from dataclasses import replace

from kernel.messages import Concurrency, ToolResult
from kernel.session import Gate, GateState, Turn, can_start
from kernel.session_events import Asked, Claimed, Denied, Returned, Voted, Worded

GateEvent = Asked | Voted | Denied | Worded | Claimed | Returned


def next_gate(turn: Turn, gates: tuple[Gate, ...], gate: Gate, event: GateEvent) -> Gate:
    """The gate after `event`, among the `gates` of its message; the same object when the event does not fit."""
    is_live = turn.ending is None
    match gate.state, event:
        case GateState.READY, Asked(token=token) if is_live and can_start(gates, gate):
            return replace(gate, state=GateState.ASKED, token=token, is_question=True)
        case GateState.ASKED, Voted(digest=digest, person=person) if not gate.is_question:
            if digest != gate.digest or person in gate.votes:
                return gate
            votes = (*gate.votes, person)
            state = GateState.READY if len(votes) >= gate.votes_needed else GateState.ASKED
            return replace(gate, votes=votes, state=state)
        case GateState.ASKED, Denied(why=why):
            return answered(gate, GateState.DENIED, why, is_error=True)
        case GateState.ASKED, Worded(words=words) if gate.is_question:
            return answered(gate, GateState.ANSWERED, words)
        case GateState.READY, Claimed(fence=fence) if (
            is_live and gate.concurrency is not Concurrency.READ_ONLY and can_start(gates, gate)
        ):
            return replace(gate, state=GateState.CLAIMED, claim=gate.claim + 1, fence=fence)
        case GateState.READY, Returned(claim=0, result=result) if (
            is_live and gate.concurrency is Concurrency.READ_ONLY and can_start(gates, gate)
        ):
            return replace(gate, state=GateState.ANSWERED, result=replace(result, call=gate.call.id))
        case GateState.CLAIMED, Returned(claim=claim, result=result) if claim == gate.claim:
            return replace(gate, state=GateState.ANSWERED, result=replace(result, call=gate.call.id))
        case _:
            return gate


def answered(gate: Gate, state: GateState, words: str, *, is_error: bool = False) -> Gate:
    """The gate with `words` as the result that the model reads."""
    return replace(gate, state=state, result=ToolResult(gate.call.id, words, is_error))


def is_last_look(gate: Gate, gates: tuple[Gate, ...]) -> bool:
    """Whether the time of the call counts: looks side by side take as long as the last of them, all else its own."""
    looks = [each for each in gates if each.concurrency is Concurrency.READ_ONLY]
    return gate.concurrency is not Concurrency.READ_ONLY or all(each.is_answered for each in looks)
