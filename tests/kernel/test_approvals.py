"""Cards that ask, and what a press on one decides: only what was shown, only by who asked, only once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bots.console import plain
from kernel.approvals import cards, closed, on_press, read
from kernel.changes import Changes
from kernel.chat import ButtonPress, Notice, Prompt, PromptClosed, Sender
from kernel.errors import BadRecord
from kernel.loop import read_reply
from kernel.messages import Concurrency, Message, ModelReply, Role, Stop, ToolCall
from kernel.open_cards import WAITS
from kernel.ports import Alarm, PromptRecord
from kernel.session import Ending, Session
from kernel.session_events import Broken, Denied, ModelReplied, Voted
from kernel.tools import Approval, ToolRegistry
from tests.twins.clock import START
from tests.twins.sessions import ANN, BEN, HERE, after, calling, spoken, turn_of
from tests.twins.tools import Deeds

REGISTRY = ToolRegistry(
    [Deeds().tool("post", approval=Approval.ASK), Deeds().tool("look", Concurrency.READ_ONLY)],
)


def asked(*texts: str) -> tuple[Session, ModelReplied, Changes]:
    """Ann's turn in which the model wants to post these, and the cards for it."""
    session = after(spoken("发"), calling())
    calls = tuple(ToolCall(f"c{number}", "post", f'{{"text": "{text}"}}') for number, text in enumerate(texts, 1))
    reply = ModelReply(Message(Role.ASSISTANT, calls), Stop.TOOLS)
    tokens = iter(f"token-{number}" for number in range(1, 9))
    event = read_reply(turn_of(session), 1, reply, REGISTRY, lambda: next(tokens))
    return after(event, session=session), event, cards(event, HERE, REGISTRY, "zh", START)


def press(choice: str, person: str = ANN, token: str = "token-1") -> ButtonPress:
    return ButtonPress("e", HERE, Sender(person, "小_王"), 1, START, token, choice, press="p1")


def told(changes: Changes) -> list[str]:
    return [each.text for each in changes.outbound if isinstance(each, Notice)]


def closing(changes: Changes) -> list[str]:
    return [each.text for each in changes.outbound if isinstance(each, PromptClosed)]


def test_each_asking_call_has_a_card_in_order_that_says_what_and_waits_three_days() -> None:
    _, _, changes = asked("一", "二")

    prompts = [each for each in changes.outbound if isinstance(each, Prompt)]
    assert [each.text for each in prompts] == ["需要你同意：post：一", "需要你同意：post：二"]
    assert [[choice.label for choice in each.choices] for each in prompts] == [["允许", "拒绝"]] * 2
    assert [each.token for each in changes.prompts] == ["token-1", "token-2"]
    assert changes.alarms == (Alarm("token-1", START + WAITS), Alarm("token-2", START + WAITS))
    assert timedelta(hours=72) == WAITS


def test_a_call_that_asks_nobody_has_no_card() -> None:
    session = after(spoken("看"), calling())
    reply = ModelReply(Message(Role.ASSISTANT, (ToolCall("c1", "look", '{"text": "x"}'),)), Stop.TOOLS)
    event = read_reply(turn_of(session), 1, reply, REGISTRY, lambda: "token")

    assert cards(event, HERE, REGISTRY, "zh", START) == Changes()


def test_nothing_on_a_card_is_a_link_or_markup() -> None:
    text = "[批准](tg://user?id=1) <!channel> *x*"
    _, _, changes = asked(text)

    (prompt,) = [each for each in changes.outbound if isinstance(each, Prompt)]
    assert plain(prompt.text) == f"需要你同意：post：{text}"


def test_allowing_votes_for_exactly_what_was_shown() -> None:
    session, event, changes = asked("你好")

    vote, then = on_press(changes.prompts[0], press("allow"), session)

    assert vote == Voted("t1", "c1", event.gates[0].digest, ANN)
    assert closing(then) == ["post：你好\n✅ 小\\_王 已允许"]
    assert told(then) == ["好的。"]
    assert then.alarms == (Alarm("token-1", None),)


def test_refusing_tells_the_model_who_refused() -> None:
    session, _, changes = asked("你好")

    denial, then = on_press(changes.prompts[0], press("deny"), session)

    assert denial == Denied("t1", "c1", "Not run: 小_王 refused it.")
    assert closing(then) == ["post：你好\n🚫 小\\_王 已拒绝"]


@pytest.mark.parametrize("choice", ["allow", "deny"])
def test_somebody_else_decides_nothing_and_the_card_stays(choice: str) -> None:
    session, _, changes = asked("你好")

    event, then = on_press(changes.prompts[0], press(choice, BEN), session)

    assert event is None
    assert closing(then) == []
    assert told(then) == ["这要由提出的人或我的主人来决定。"]
    assert then.alarms == ()


@pytest.mark.parametrize("choice", ["", "ALLOW", "allow ", "0"])
def test_a_choice_that_was_never_there_decides_nothing(choice: str) -> None:
    session, _, changes = asked("你好")

    event, then = on_press(changes.prompts[0], press(choice), session)

    assert event is None
    assert closing(then) == []
    assert told(then) == ["这个按钮已经失效了。"]


def test_after_the_turn_was_stopped_a_card_never_says_allowed() -> None:
    session, _, changes = asked("你好")
    stopped = after(Broken("t1", Ending.STOPPED), session=session)

    event, then = on_press(changes.prompts[0], press("allow"), stopped)

    assert event is None
    assert closing(then) == ["post：你好\n已不再需要决定"]
    assert told(then) == ["已经处理过了。"]


def test_a_card_of_another_digest_never_allows_this_call() -> None:
    session, _, _ = asked("你好")
    _, _, others = asked("别的")

    event, then = on_press(others.prompts[0], press("allow"), session)

    assert event is None
    assert closing(then) == ["post：别的\n已不再需要决定"]


def test_a_card_that_closes_by_itself_says_so_and_its_alarm_goes() -> None:
    _, _, changes = asked("你好")

    then = closed(changes.prompts[0])

    assert closing(then) == ["post：你好\n已不再需要决定"]
    assert then.alarms == (Alarm("token-1", None),)


@pytest.mark.parametrize("data", ["no json", "[]", "{}", '{"turn": "t1"}', '{"turn": 1, "x": 2}'])
def test_a_record_that_cannot_be_read_is_a_bad_record(data: str) -> None:
    with pytest.raises(BadRecord):
        read(PromptRecord("token", HERE, "approval", data))
