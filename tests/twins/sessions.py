"""Sessions for tests: small builders that read as what happened."""

from __future__ import annotations

from functools import reduce

from kernel.chat import ConversationId
from kernel.messages import Concurrency, Message, Role, Text, ToolCall, ToolResult
from kernel.session import Gate, GateState, Session, Turn
from kernel.session_events import Calling, ModelReplied, SessionEvent, Spoken
from kernel.transitions import apply

HERE = ConversationId("twin", "1")
EMPTY = Session(HERE)
ANN, BEN = "1001", "1002"


def after(*events: SessionEvent, session: Session = EMPTY) -> Session:
    """The session that these events lead to, one after the other."""
    return reduce(apply, events, session)


def spoken(words: str, *, turn: str = "t1", person: str = ANN, prefix: str = "p") -> Spoken:
    """A person says it."""
    return Spoken(turn, person, (Text(words),), prefix=prefix)


def call(name: str) -> ToolCall:
    """A call whose id is its tool's name."""
    return ToolCall(name, name, "{}")


def gate(
    name: str,
    state: GateState = GateState.READY,
    concurrency: Concurrency = Concurrency.EXCLUSIVE,
    *,
    votes: int = 1,
) -> Gate:
    """The gate of `call(name)`; its token and digest are made of the name."""
    token = f"token-{name}" if state is GateState.ASKED else ""
    return Gate(call(name), concurrency, state, digest=f"digest-{name}", token=token, votes_needed=votes)


def called(*gates: Gate, turn: str = "t1", effect: int = 1) -> ModelReplied:
    """The model asks for these calls."""
    return ModelReplied(turn, effect, Message(Role.ASSISTANT, tuple(each.call for each in gates)), gates)


def answered(words: str, *, turn: str = "t1", effect: int = 1) -> ModelReplied:
    """The model says its last words."""
    return ModelReplied(turn, effect, Message(Role.ASSISTANT, (Text(words),)))


def result(name: str, text: str = "ok") -> ToolResult:
    """What the tool gives."""
    return ToolResult(name, text)


def calling(effect: int = 1, turn: str = "t1") -> Calling:
    """The model is asked."""
    return Calling(turn, effect)


def turn_of(session: Session, turn: str = "t1") -> Turn:
    """The turn, which must be there."""
    found = session.turn(turn)
    assert found is not None
    return found


def gate_of(session: Session, name: str, turn: str = "t1") -> Gate:
    """The gate of `call(name)`, which must be open."""
    return next(each for each in turn_of(session, turn).gates if each.call.id == name)


def texts_of(message: Message) -> list[str]:
    """What a message says, results included, in order."""
    return [part.text for part in message.parts if isinstance(part, Text | ToolResult)]
