"""The card about a stranger or a group, and the list of rights: only an owner's press counts, for what was shown."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count

import pytest

from kernel import admission
from kernel.access import Standing
from kernel.changes import Changes
from kernel.chat import AccessRequested, ButtonPress, ConversationId, Notice, Prompt, Reply, Sender
from kernel.errors import BadRecord
from kernel.ports import Grant, PromptRecord, Right
from kernel.settings import PlatformId
from kernel.texts import say
from tests.kernel.reminders.words import closing, desk, said, shown
from tests.twins.clock import START

HOME = ConversationId("telegram", "9001")
ALONE = ConversationId("telegram", "2002")
WARD, TOPIC = ConversationId("telegram", "-5"), ConversationId("telegram", "-5", "7")
WANG, OWNER = Sender("2002", "小王", "en"), Sender("9001", "院长")
IN_PRIVATE = AccessRequested("e1", HOME, START, WANG, ALONE)
IN_A_GROUP = AccessRequested("e1", HOME, START, WANG, TOPIC, "三病区", is_private=False)
JOINED = replace(IN_A_GROUP, origin=WARD, has_joined=True)
PERSON = Grant(Right.PERSON, PlatformId("telegram", "2002"), "小王")
GROUP = Grant(Right.CHAT, PlatformId("telegram", "-5"), "三病区")
REFUSED = Grant(Right.REFUSED, PlatformId("telegram", "2002"), "小王")


def card(asked: AccessRequested) -> tuple[Prompt, PromptRecord]:
    changes = admission.card(asked, "zh", "auto", lambda: "token")
    return shown(changes.outbound), changes.prompts[0]


def pressed(asked: AccessRequested, choice: str, standing: Standing = Standing.OWNER) -> tuple[Grant | None, Changes]:
    _, record = card(asked)
    press = ButtonPress("e2", HOME, OWNER, 1, START, "token", choice, press="p1")
    return admission.on_press(record, admission.read(record), press, standing)


def told(changes: Changes) -> list[str]:
    return [each.text for each in changes.outbound if isinstance(each, Notice)]


@pytest.mark.parametrize(
    ("asked", "text", "labels"),
    [
        (IN_PRIVATE, "小王 (telegram:2002) 想和我说话。", ["允许此人", "拒绝"]),
        (IN_A_GROUP, "小王 (telegram:2002) 想在「三病区」里用我。", ["允许此人", "开放这个群", "拒绝"]),
        (JOINED, "小王 (telegram:2002) 把我加进了「三病区」。要开放给那里的所有人吗？", ["开放这个群", "拒绝"]),
    ],
)
def test_the_card_says_who_asks_where_and_what_can_be_decided(
    asked: AccessRequested, text: str, labels: list[str]
) -> None:
    prompt, record = card(asked)

    assert (prompt.conversation, record.conversation, record.token) == (HOME, HOME, prompt.token)
    assert prompt.text == text
    assert [choice.label for choice in prompt.choices] == labels


@pytest.mark.parametrize(
    ("asked", "choice", "grant", "closed", "welcome"),
    [
        (IN_PRIVATE, "person", PERSON, "✅ 小王 (telegram:2002) 可以用我了", (ALONE, "admit.welcome")),
        (IN_PRIVATE, "deny", REFUSED, "🚫 没有允许 小王 (telegram:2002)", None),
        (IN_A_GROUP, "person", PERSON, "✅ 小王 (telegram:2002) 可以用我了", (TOPIC, "admit.welcome")),
        (IN_A_GROUP, "chat", GROUP, "✅「三病区」里的人可以用我了", (TOPIC, "admit.welcome_chat")),
        (IN_A_GROUP, "deny", REFUSED, "🚫 没有允许 小王 (telegram:2002)", None),
        (JOINED, "chat", GROUP, "✅「三病区」里的人可以用我了", (WARD, "admit.welcome_chat")),
        (JOINED, "deny", None, "「三病区」没有开放", None),
    ],
)
def test_an_owners_press_decides_and_whom_it_is_about_is_told_in_their_language(
    asked: AccessRequested, choice: str, grant: Grant | None, closed: str, welcome: tuple[ConversationId, str] | None
) -> None:
    given, changes = pressed(asked, choice)

    assert (given, closing(changes), told(changes)) == (grant, closed, ["好的。"])
    replies = [each for each in changes.outbound if isinstance(each, Reply)]
    assert replies == ([Reply(welcome[0], say(welcome[1], "en"))] if welcome else [])


@pytest.mark.parametrize("standing", [Standing.STRANGER, Standing.MEMBER, Standing.ALLOWED])
@pytest.mark.parametrize("choice", ["person", "chat", "deny", "nonsense"])
def test_nobody_elses_press_decides(choice: str, standing: Standing) -> None:
    given, changes = pressed(IN_A_GROUP, choice, standing)

    assert given is None
    assert [type(each) for each in changes.outbound] == [Notice]
    assert told(changes) == ["这要由我的主人来决定。"]


@pytest.mark.parametrize(
    ("asked", "choice"), [(IN_PRIVATE, "chat"), (JOINED, "person"), (IN_PRIVATE, ""), (IN_A_GROUP, "owner")]
)
def test_a_choice_that_the_card_does_not_have_gives_nothing(asked: AccessRequested, choice: str) -> None:
    given, changes = pressed(asked, choice)

    assert (given, told(changes), len(changes.outbound)) == (None, ["这个按钮已经失效了。"], 1)


@pytest.mark.parametrize(
    "name",
    [
        "老板 (telegram:9001)",
        "老板（telegram:9001）",
        "老板\n (telegram:9001)\u202e",
        "老板\u200b\u2066 [telegram:9001]\u2069\x00",
    ],
)
def test_what_stands_in_brackets_behind_a_name_is_always_the_id(name: str) -> None:
    prompt, record = card(replace(IN_PRIVATE, person=replace(WANG, name=name)))

    assert prompt.text == "老板 telegram:9001 (telegram:2002) 想和我说话。"
    assert admission.read(record).person == "2002"


def test_a_long_name_leaves_the_id_in_sight_and_none_is_a_question_mark() -> None:
    long, _ = card(replace(IN_PRIVATE, person=replace(WANG, name="王" * 500)))
    none, _ = card(replace(IN_PRIVATE, person=replace(WANG, name="\u200b()")))

    assert long.text == f"{'王' * 60} (telegram:2002) 想和我说话。"
    assert none.text.startswith("? (telegram:2002)")


def test_a_field_of_five_megabytes_makes_no_large_card() -> None:
    """T20: somebody has written into the store."""
    huge = "长" * 5_000_000

    prompt, record = card(replace(IN_A_GROUP, title=huge, person=replace(WANG, name=huge)))

    assert len(prompt.text) + len(record.data) < 1_000


def test_a_name_is_shown_as_it_is_and_is_no_markup() -> None:
    prompt, _ = card(replace(IN_A_GROUP, title="**[急诊](https://evil.example)**"))

    assert "[急诊]" not in prompt.text
    assert r"\*\* 急诊 https://evil.example" in prompt.text


GRANTS = (
    Grant(Right.CHAT, PlatformId("twin", "-5"), "三病区"),
    Grant(Right.OWNER, PlatformId("twin", "1001"), "院长"),
    PERSON_2 := Grant(Right.PERSON, PlatformId("twin", "2002"), ""),
    Grant(Right.REFUSED, PlatformId("twin", "666"), "Eve"),
)


def listed(*grants: Grant) -> tuple[Prompt, PromptRecord]:
    changes = admission.listing(desk(), grants)
    return shown(changes.outbound), changes.prompts[0]


def removed(choice: str, standing: Standing = Standing.OWNER) -> tuple[Grant | None, Changes]:
    _, record = listed(*GRANTS)
    press = ButtonPress("e2", HOME, OWNER, 1, START, "token", choice, press="p1")
    return admission.on_list_press(record, admission.read_list(record), press, standing)


def test_the_list_shows_who_was_let_in_with_a_button_for_each_but_oneself_and_the_refused() -> None:
    prompt, _ = listed(*GRANTS)

    assert prompt.text.splitlines()[1:] == [
        "1. 群 三病区 (twin:-5)",
        "2. 主人 院长 (twin:1001)",
        "3. 用户 ? (twin:2002)",
    ]
    assert [choice.label for choice in prompt.choices] == ["移除 1", "移除 3"]


def test_with_nobody_let_in_the_list_says_so() -> None:
    assert said(admission.listing(desk(), GRANTS[3:])) == "还没有允许过谁。"


def test_the_list_is_no_longer_than_its_buttons_allow() -> None:
    numbers = count(1)
    many = [replace(PERSON_2, whose=PlatformId("twin", f"7{next(numbers)}")) for _ in range(99)]

    prompt, _ = listed(*many)

    assert len(prompt.choices) == 12
    assert prompt.text.splitlines()[-1] == "……还有 87 个。要看其中一个：/allow 加上它的编号。"


def test_an_owners_press_on_the_list_takes_back_what_stood_there() -> None:
    given, changes = removed("2")

    assert (given, closing(changes), told(changes)) == (PERSON_2, "已移除：? (twin:2002)", ["好的。"])


@pytest.mark.parametrize(
    ("choice", "standing", "notice"),
    [
        ("2", Standing.ALLOWED, "这要由我的主人来决定。"),
        ("3", Standing.OWNER, "这个按钮已经失效了。"),
        ("-1", Standing.OWNER, "这个按钮已经失效了。"),
        ("", Standing.OWNER, "这个按钮已经失效了。"),
        ("²", Standing.OWNER, "这个按钮已经失效了。"),
        ("9" * 200, Standing.OWNER, "这个按钮已经失效了。"),
    ],
)
def test_no_other_press_on_it_takes_anything_back(choice: str, standing: Standing, notice: str) -> None:
    given, changes = removed(choice, standing)

    assert (given, told(changes)) == (None, [notice])


@pytest.mark.parametrize("data", ["", "[]", "{}", "null", '{"grants": [["owner"]], "language": "zh"}', '{"x": 1}'])
def test_a_record_of_another_shape_is_told_apart(data: str) -> None:
    with pytest.raises(BadRecord):
        admission.read(PromptRecord("t", HOME, admission.KIND, data))
    with pytest.raises(BadRecord):
        admission.read_list(PromptRecord("t", HOME, admission.LIST_KIND, data))


def test_what_the_record_holds_comes_back() -> None:
    _, record = card(IN_A_GROUP)

    assert admission.read(record).origin == TOPIC
    assert json.loads(record.data)["their_language"] == "en"
