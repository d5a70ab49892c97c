"""Lists of reminders, and cancelling or pausing one in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.chat import Prompt, PromptClosed, Reply
from kernel.ports import TriggerGone, TriggerPut
from kernel.reminders.cards import Kind, read
from kernel.reminders.listing import LISTED, listing, manage
from kernel.reminders.pressing import on_press
from kernel.schedule.parse import parse
from kernel.schedule.values import ScheduleIntent
from kernel.triggers import Trigger
from tests.kernel.reminders.words import MINUTE, SOON, desk, pressed, said, shown, stored, trigger
from tests.twins.clock import START

ROUND, WATER, MUM = trigger("查房"), trigger("喝水"), trigger("给妈妈打电话")
STRETCH = trigger("stretch your legs", language="en")
TEA = trigger("drink tea", language="en")


def meant(words: str) -> ScheduleIntent:
    """What Ann asks of her reminders with these words."""
    asked = parse(words, now=START, zone="Asia/Shanghai")
    assert asked.manage is not None
    return asked


def test_no_reminders_is_said() -> None:
    assert said(listing(desk(), ())) == "现在没有提醒。"
    assert said(listing(desk("en"), ())) == "No reminders."


def test_each_line_says_what_when_and_next_and_has_a_button() -> None:
    changes = listing(desk(), stored(ROUND, replace(WATER, paused=True)))

    assert said(changes) == "提醒：\n1. 查房，每天 09:00，下次 明天 09:00\n2. 喝水，每天 09:00，已暂停"
    assert [choice.label for choice in shown(changes.outbound).choices] == ["取消 1", "取消 2"]
    assert read(changes.prompts[0]).kind is Kind.CANCEL


def test_a_one_shot_has_only_its_time() -> None:
    listed = listing(desk(), [(trigger("取快递", SOON), START + 20 * MINUTE)])

    assert said(listed) == "提醒：\n1. 取快递，今天 09:20"


def test_a_reminder_that_keeps_another_zone_names_it() -> None:
    here = replace(desk(), zone="Europe/Berlin")

    assert said(listing(here, stored(ROUND))) == "提醒：\n1. 查房，每天 09:00，下次 明天 09:00（Asia/Shanghai）"


def test_a_long_list_is_cut_and_every_button_fits_its_line() -> None:
    changes = listing(desk(), stored(*(trigger(f"第{number}件") for number in range(LISTED + 5))))

    assert len(shown(changes.outbound).choices) == LISTED == len(read(changes.prompts[0]).triggers)


@pytest.mark.parametrize("words", ["取消喝水的提醒", "别再提醒我喝水了", "把喝水那个提醒删掉", "取消喝水提醒"])
def test_the_one_that_is_named_is_cancelled_at_once(words: str) -> None:
    changes = manage(meant(words), desk(), stored(ROUND, WATER, MUM))

    assert changes.triggers == (TriggerGone(WATER.id),)
    assert said(changes) == "已取消：喝水"
    assert changes.notes == ("reminder cancelled: 喝水",)


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("取消第2个提醒", [WATER]),
        ("cancel the last reminder", [MUM]),
        ("取消第1个和第3个提醒", [ROUND, MUM]),
    ],
)
def test_those_at_the_named_places_of_the_list_are_cancelled_at_once(words: str, gone: list[Trigger]) -> None:
    changes = manage(meant(words), desk(), stored(ROUND, WATER, MUM))

    assert changes.triggers == tuple(TriggerGone(each.id) for each in gone)
    told = [each.text for each in changes.outbound if isinstance(each, Prompt)]
    assert told == [f"已取消：{each.text}" for each in gone]


def test_a_place_that_is_not_there_cancels_nothing_and_the_person_picks() -> None:
    changes = manage(meant("取消第4个提醒"), desk(), stored(ROUND, WATER, MUM))

    assert changes.triggers == ()
    assert read(changes.prompts[0]).kind is Kind.CANCEL


def test_what_was_cancelled_comes_back_with_a_press() -> None:
    gone = manage(meant("取消喝水的提醒"), desk(), stored(ROUND, WATER))

    assert [choice.label for choice in shown(gone.outbound).choices] == ["撤销"]
    back = on_press(gone.prompts[0], pressed("undo"), desk(), stored(ROUND))

    assert back is not None
    assert [change.trigger.id for change in back.triggers if isinstance(change, TriggerPut)] == [WATER.id]
    assert [each.text for each in back.outbound if isinstance(each, PromptClosed)] == ["已恢复：喝水"]


def test_in_english_too() -> None:
    changes = manage(meant("Please cancel the Stretch reminder"), desk("en"), stored(TEA, STRETCH))

    assert changes.triggers == (TriggerGone(STRETCH.id),)
    assert said(changes) == "Cancelled: stretch your legs"


def test_of_several_that_fit_the_person_picks() -> None:
    cold = trigger("喝水吃药")

    changes = manage(meant("取消喝水的提醒"), desk(), stored(ROUND, WATER, cold))

    assert said(changes).startswith("要取消哪一个？\n1. 喝水")
    assert read(changes.prompts[0]).triggers == (WATER, cold)
    assert changes.triggers == ()


@pytest.mark.parametrize("words", ["取消提醒", "cancel my reminder", "把这个提醒取消吧"])
def test_when_no_name_is_said_the_only_one_is_meant(words: str) -> None:
    assert manage(meant(words), desk(), stored(ROUND)).triggers == (TriggerGone(ROUND.id),)


def test_when_no_name_is_said_and_there_are_several_the_person_picks() -> None:
    changes = manage(meant("取消提醒"), desk(), stored(ROUND, WATER))

    assert changes.triggers == ()
    assert len(shown(changes.outbound).choices) == 2


@pytest.mark.parametrize("words", ["取消吃药的提醒", "stop reminding me about the pills"])
def test_a_name_that_is_not_here_never_cancels_another(words: str) -> None:
    changes = manage(meant(words), desk(), stored(ROUND))

    assert changes.triggers == ()
    assert [choice.id for choice in shown(changes.outbound).choices] == ["0"]


@pytest.mark.parametrize("words", ["取消今晚8点的提醒", "把明天的提醒删了", "cancel my 6am alarm"])
def test_a_time_alone_never_cancels_the_only_one_unasked(words: str) -> None:
    changes = manage(meant(words), desk(), stored(ROUND))

    assert changes.triggers == ()
    assert [choice.id for choice in shown(changes.outbound).choices] == ["0"]


def test_the_whole_name_counts_before_a_shared_word() -> None:
    cold = trigger("喝水吃药")

    changes = manage(meant("取消喝水吃药的提醒"), desk(), stored(WATER, cold))

    assert changes.triggers == (TriggerGone(cold.id),)


def test_pausing_rests_the_named_one() -> None:
    changes = manage(meant("先别提醒我喝水"), desk(), stored(ROUND, WATER))

    assert changes.triggers == (TriggerPut(replace(WATER, paused=True, revision=1), None),)
    assert said(changes) == "已暂停：喝水"


def test_of_several_to_pause_the_person_picks() -> None:
    changes = manage(meant("暂停提醒"), desk(), stored(ROUND, WATER))

    assert [choice.label for choice in shown(changes.outbound).choices] == ["暂停 1", "暂停 2"]
    assert read(changes.prompts[0]).kind is Kind.PAUSE


@pytest.mark.parametrize("words", ["取消喝水的提醒", "暂停喝水的提醒", "我有哪些提醒"])
def test_without_any_reminder_that_is_all_there_is_to_say(words: str) -> None:
    (only,) = manage(meant(words), desk(), ()).outbound

    assert isinstance(only, Reply)
    assert only.text == "现在没有提醒。"


def test_what_people_wrote_is_shown_as_it_is() -> None:
    assert r"1. 2\*3\*4，" in said(listing(desk(), stored(trigger("2*3*4"))))


@pytest.mark.parametrize(
    "words", ["取消所有提醒", "删除全部提醒", "刪除所有提醒", "把提醒都删了", "cancel all reminders"]
)
def test_who_wants_all_gone_is_asked_once_how_many_that_are(words: str) -> None:
    of_ben = replace(MUM, owner="1002")

    changes = manage(meant(words), desk(), stored(ROUND, WATER, of_ben))

    assert changes.triggers == ()
    assert [choice.label for choice in shown(changes.outbound).choices] == ["取消全部 2 个", "保留"]
    card = read(changes.prompts[0])
    assert (card.kind, card.triggers) == (Kind.ALL, (ROUND, WATER))


def test_all_of_one_name_are_those_and_all_of_a_day_are_picked() -> None:
    cold = trigger("喝水吃药")

    named = manage(meant("取消所有喝水的提醒"), desk(), stored(ROUND, WATER, cold))
    narrowed = manage(meant("取消明天的所有提醒"), desk(), stored(ROUND, WATER))

    assert read(named.prompts[0]).triggers == (WATER, cold)
    assert read(narrowed.prompts[0]).kind is Kind.CANCEL


def test_of_one_alone_nobody_asks_twice() -> None:
    assert manage(meant("取消所有提醒"), desk(), stored(ROUND)).triggers == (TriggerGone(ROUND.id),)


def test_a_long_list_says_how_many_it_leaves_out() -> None:
    many = stored(*(trigger(str(number)) for number in range(LISTED + 3)))

    text = said(manage(meant("取消所有提醒"), desk(), many))

    assert text.startswith("要把这 23 个提醒都取消吗？")
    assert text.endswith("……还有 3 个")
