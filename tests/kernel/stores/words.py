"""Short words for the claims about stores."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from kernel.chat import (
    AccessRequested,
    ButtonPress,
    ConversationId,
    Expired,
    Inbound,
    Outbound,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.messages import Message, Role, Text, ToolCall, ToolResult
from kernel.ports import Checkout, Item, Outcome, PromptRecord, Step
from kernel.schedule.values import Every
from kernel.session import Frame, Session, Turn
from kernel.stores.stores import Stores
from kernel.triggers import Action, Trigger
from tests.twins.clock import START

HERE = ConversationId("telegram", "42")
THERE = ConversationId("telegram", "-100777", "5")
ANN = Sender("42", "Ann")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)

_numbers = count(1)


def said(
    text: str = "hello",
    *,
    where: ConversationId = HERE,
    order: int | None = None,
    event: str = "",
    album: str = "",
) -> UserMessage:
    number = next(_numbers)
    return UserMessage(event or f"e{number}", where, ANN, number if order is None else order, START, text, album=album)


def pressed(token: str = "tok", *, where: ConversationId = HERE) -> ButtonPress:
    number = next(_numbers)
    return ButtonPress(f"p{number}", where, ANN, number, START, token, "yes", press=f"cb{number}")


def reply(text: str = "hi", *, where: ConversationId = HERE) -> Reply:
    return Reply(where, text)


def prompt(token: str = "tok", *, where: ConversationId = HERE, text: str = "Do it?") -> Prompt:
    return Prompt(where, text, token, ())


def closed(token: str = "tok", *, where: ConversationId = HERE) -> PromptClosed:
    return PromptClosed(where, token, "Done by Ann")


def record(token: str = "tok", *, where: ConversationId = HERE) -> PromptRecord:
    return PromptRecord(token, where, "approvals", '{"call":"c1"}')


def trigger(name: str = "t1", *, where: ConversationId = HERE, revision: int = 0, text: str = "查房") -> Trigger:
    return Trigger(
        name,
        where,
        "42",
        Every(timedelta(hours=1), START),
        "Asia/Shanghai",
        text,
        "zh",
        Action.SAY,
        timedelta(hours=2),
        START,
        revision=revision,
    )


def user(text: str = "hello") -> Message:
    return Message(Role.USER, (Text(text),))


def calling(call: str = "c1") -> Message:
    return Message(Role.ASSISTANT, (ToolCall(call, "now", "{}"),))


def result(call: str = "c1") -> Message:
    return Message(Role.USER, (ToolResult(call, "noon"),))


def turn(name: str = "turn1", *, base: int = 0) -> Turn:
    return Turn(name, "42", (Frame((user(),)),), base=base)


def step(session: Session, outcome: Outcome = Outcome.DONE, **fields: object) -> Step:
    """A step from `session`; the history it adds is counted, as `harvest` counts it."""
    made = replace(Step(session, outcome), **fields)  # type: ignore[arg-type]  # fields of Step by name
    length = len(made.history) + (0 if made.new_history else session.history_length)
    return replace(made, session=replace(session, history_length=length))


def texts(items: tuple[Item, ...]) -> list[str]:
    """What people wrote or pressed, in order."""
    return [_text(item.inbound) for item in items]


def _text(inbound: Inbound) -> str:
    match inbound:
        case AccessRequested():
            return inbound.person.id
        case UserMessage():
            return inbound.text
        case ButtonPress() | Expired():
            return inbound.token


def shown(outbound: Outbound) -> str:
    """The words of an outbound."""
    return outbound.text


async def taken(stores: Stores, now: datetime, *, worker: str = "w1", last_try: bool = True) -> Checkout:
    """A checkout that must succeed."""
    checkout = await stores.conversations.checkout(worker, now=now, last_try=last_try)
    assert checkout is not None
    return checkout


async def kept(
    stores: Stores, now: datetime, outcome: Outcome = Outcome.DONE, *, where: ConversationId = HERE, **fields: object
) -> Session:
    """One commit into `where`, whatever waits there, and the lease given back."""
    await stores.conversations.put(said("/status", where=where), now=now)
    checkout = await taken(stores, now)
    assert checkout.lease.conversation == where
    due = await stores.conversations.due(checkout.lease, now=now)
    fields.setdefault("taken", tuple(item.id for item in due))
    session = await stores.conversations.commit(checkout.lease, step(checkout.session, outcome, **fields), now=now)
    await stores.conversations.release(checkout.lease, now=now, keep=False)
    return session
