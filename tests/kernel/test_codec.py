"""Records: what goes in comes out, and what is not ours is refused."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from kernel.chat import (
    AccessRequested,
    Attachment,
    AttachmentKind,
    ButtonPress,
    Choice,
    ConversationId,
    Draft,
    Expired,
    Inbound,
    Look,
    MessageRef,
    Notice,
    Outbound,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.codec import KINDS, decode, decode_inbound, decode_outbound, encode
from kernel.errors import BadRecord
from kernel.messages import Concurrency, Image, Message, Opaque, Role, Text, ToolCall, ToolResult
from kernel.ports import Alarm, PromptRecord
from kernel.schedule.values import Calendar, Cron, Every, Once, Step, Unit
from kernel.session import Ending, Frame, Gate, GateState, Open, Reach, Session, Turn
from kernel.triggers import Action, Trigger

HERE = ConversationId("telegram", "-100:1", "主题")
AT = datetime(2026, 11, 30, 1, 0, 0, 123457, tzinfo=UTC)
ANN = Sender("42", "Ann\ud800", "zh", "Asia/Shanghai")
REF = MessageRef(HERE, "7")
PICTURE = Attachment(AttachmentKind.PICTURE, "b1", "a.png", "image/png", 5)
CALL = ToolCall("c1", "files.read", '{"path": "a\\n"', is_cut=True)
MESSAGE = Message(Role.ASSISTANT, (Text("你好"), Image("b1", "image/png"), Opaque("p", "m", '{"x": 1}'), CALL))
GATE = Gate(
    CALL,
    Concurrency.INTERACTIVE,
    GateState.DENIED,
    "digest",
    "tok",
    True,
    2,
    ("42", "43"),
    3,
    4,
    ToolResult("c1", "no", is_error=True),
)
TURN = Turn(
    "t1",
    "42",
    (Frame((MESSAGE,), "", "prefix", 2, Open(MESSAGE, (GATE,))), Frame((), "c1", reach=Reach.LOOK)),
    base=5,
    ending=Ending.STOPPED,
)
CRON = Cron(
    ("0 9 * * 1-5", "30 9 L * *"),
    AT,
    None,
    7,
    Step(2, Unit.WEEK, date(2026, 11, 30)),
    (date(2026, 12, 25),),
    (5, 6),
    Calendar.STATUTORY_WORKDAYS,
)
TRIGGER = Trigger("r1", HERE, "42", CRON, "Asia/Shanghai", "查房", "zh", Action.RUN, timedelta(hours=2), AT, ("@a",), 3)

VALUES: tuple[object, ...] = (
    HERE,
    ANN,
    REF,
    PICTURE,
    MESSAGE,
    TURN,
    GATE,
    Session(HERE, (TURN, replace(TURN, id="t2", ending=None)), "t1", 9, 12),
    UserMessage("e1", HERE, ANN, 2**60, AT, "hi", (PICTURE,), "quoted", "album", False, REF),
    ButtonPress("e2", HERE, ANN, 5, AT, "tok", "yes", "cb", REF),
    AccessRequested("asks:e1", HERE, AT, ANN, HERE, "三病区", is_private=False, has_joined=True),
    Expired("e3", HERE, AT, "tok"),
    Reply(HERE, "**hi**", (PICTURE,), REF),
    Prompt(HERE, "Do it?", "tok", (Choice("yes", "Yes", Look.GOOD), Choice("no", "No")), AT, "en"),
    PromptClosed(HERE, "tok", "Done", (Choice("undo", "Undo"),)),
    Notice(HERE, "cb", "42", "Noted"),
    Draft(HERE, "t1", 4, "I think"),
    TRIGGER,
    replace(TRIGGER, schedule=Once((AT, AT + timedelta(days=1)))),
    replace(TRIGGER, schedule=Every(timedelta(minutes=45), AT, AT, 3), paused=True),
    PromptRecord("tok", HERE, "approvals", '{"call": "c1"}', (REF,), is_open=False),
    Alarm("tok", AT),
    Alarm("tok", None),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back(value: object) -> None:
    assert decode(type(value), encode(value)) == value


def test_every_kind_is_tried_here() -> None:
    assert {type(value) for value in VALUES} == set(KINDS)


def test_any_inbound_and_outbound_comes_back_without_naming_its_class() -> None:
    for value in VALUES:
        if isinstance(value, Inbound):
            assert decode_inbound(encode(value)) == value
        if isinstance(value, Outbound):
            assert decode_outbound(encode(value)) == value


def test_an_instant_of_another_zone_comes_back_as_utc() -> None:
    shanghai = AT.astimezone(timezone(timedelta(hours=8)))

    back = decode(Alarm, encode(Alarm("tok", shanghai)))

    assert back.at == AT
    assert back.at is not None
    assert back.at.tzinfo is UTC


def test_a_naive_instant_is_refused_before_it_is_stored() -> None:
    with pytest.raises(ValueError, match="naive"):
        encode(Alarm("tok", AT.replace(tzinfo=None)))


def test_a_record_is_one_line_that_people_can_read() -> None:
    record = encode(Reply(HERE, "查房\n吃药"))

    assert "\n" not in record
    assert "查房" in record
    assert json.loads(record)["v"] == 1


def _changed(**fields: object) -> str:
    return json.dumps(json.loads(encode(Alarm("tok", AT))) | fields)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "not json secret",
        "[" * 100_000,
        _changed(v=2),
        _changed(v="1"),
        _changed(k="reply"),
        _changed(k="unheard-of"),
        _changed(k=None),
        _changed(d=None),
        _changed(d=[]),
        _changed(d={}),
        _changed(d={"token": 5, "at": None}),
        _changed(d={"token": "secret", "at": "tomorrow"}),
        _changed(d={"token": "secret", "at": "2026-11-30T01:00:00"}),
        _changed(d={"token": "secret", "at": 5}),
    ],
)
def test_what_is_not_ours_is_a_bad_record_and_is_not_quoted(text: str) -> None:
    with pytest.raises(BadRecord) as caught:
        decode(Alarm, text)

    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tag", ["z", None, ["x"], 5])
def test_an_unknown_tag_is_a_bad_record(tag: object) -> None:
    record = json.loads(encode(Message(Role.USER, (Text("hi"),))))
    record["d"]["parts"][0]["t"] = tag

    with pytest.raises(BadRecord):
        decode(Message, json.dumps(record))


def test_an_inbound_is_no_outbound() -> None:
    with pytest.raises(BadRecord):
        decode_inbound(encode(Reply(HERE, "hi")))
    with pytest.raises(BadRecord):
        decode_outbound(encode(Expired("e", HERE, AT, "tok")))


def test_a_field_of_a_newer_process_is_passed_over() -> None:
    record = json.loads(encode(ANN))
    record["d"]["pronouns"] = "she"

    assert decode(Sender, json.dumps(record)) == ANN


def test_a_session_of_twenty_messages_is_quick() -> None:
    """Measured 60 and 100 us on the reference machine; the bound leaves room for a busy one."""
    messages = (Message(Role.USER, (ToolResult("c1", "text " * 20),)), Message(Role.ASSISTANT, (Text("hi"), CALL))) * 10
    session = Session(HERE, (Turn("t1", "42", (Frame(messages),)),), "t1")
    record = encode(session)

    spent = []
    for _ in range(50):
        began = time.perf_counter()
        decode(Session, encode(session))
        spent.append(time.perf_counter() - began)

    assert decode(Session, record) == session
    assert min(spent) < 0.001
