"""What each button under a reminder does, and that it never says what did not happen."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.chat import Notice, Prompt, Sender
from kernel.errors import BadRecord
from kernel.ports import PromptRecord, TriggerGone, TriggerPut
from kernel.reminders.cards import Card, Kind
from kernel.reminders.pressing import on_press
from kernel.schedule.values import Once
from kernel.triggers import Trigger
from tests.kernel.reminders.words import DAILY, HERE, SOON, closing, desk, pressed, stored, trigger
from tests.twins.clock import START

ROUND, WATER = trigger("查房"), trigger("喝水")


def record(kind: Kind, *triggers: Trigger, language: str = "zh", text: str = "") -> PromptRecord:
    return Card(kind, triggers, language, text).record("token", HERE)


def test_undo_removes_what_the_card_set() -> None:
    changes = on_press(record(Kind.CARD, ROUND), pressed("undo"), desk(), stored(ROUND))

    assert changes is not None
    assert changes.triggers == (TriggerGone(ROUND.id),)
    assert closing(changes) == "已撤销：查房"
    assert changes.notes == ("reminder undone: 查房",)


@pytest.mark.parametrize(("kind", "choice"), [(Kind.CARD, "undo"), (Kind.CANCEL, "0"), (Kind.PAUSE, "0")], ids=str)
def test_what_is_gone_already_is_said_to_be_gone_not_undone(kind: Kind, choice: str) -> None:
    changes = on_press(record(kind, ROUND), pressed(choice), desk(), stored(WATER))

    assert changes is not None
    assert closing(changes) == "「查房」已经不在了。"
    assert (changes.triggers, changes.notes) == ((), ())


def test_done_says_who_did_it() -> None:
    changes = on_press(record(Kind.FIRED, ROUND), pressed("done", sender=Sender("2", "小_李")), desk(), ())

    assert changes is not None
    assert closing(changes) == "⏰ 查房\n✅ 小\\_李 完成了"
    assert changes.notes == ("reminder done by 小_李: 查房",)
    assert changes.triggers == ()


def test_later_sets_one_more_in_ten_minutes_and_leaves_the_series_alone() -> None:
    changes = on_press(record(Kind.FIRED, ROUND), pressed("snooze"), desk(late=timedelta(seconds=55)), stored(ROUND))

    assert changes is not None
    (put,) = changes.triggers
    assert isinstance(put, TriggerPut)
    assert put.due == START + timedelta(minutes=11)
    assert put.trigger.schedule == Once((START + timedelta(minutes=11),))
    assert (put.trigger.text, put.trigger.owner) == ("查房", ROUND.owner)
    assert put.trigger.id != ROUND.id
    assert closing(changes) == "⏰ 查房\n🕐 Ann：今天 09:11 再提醒"
    assert changes.notes == ("reminder put off by Ann: 查房",)


def test_an_answer_to_the_question_becomes_a_trigger_with_its_card() -> None:
    asked = record(
        Kind.QUESTION, replace(ROUND, id="", schedule=DAILY), replace(ROUND, id="", schedule=SOON), text="几点？"
    )

    changes = on_press(asked, pressed("1"), desk(), ())

    assert changes is not None
    (put,) = changes.triggers
    assert isinstance(put, TriggerPut)
    assert (put.trigger.schedule, put.trigger.text) == (SOON, "查房")
    assert put.trigger.id
    assert closing(changes) == "几点？"
    assert any(isinstance(each, Prompt) and "查房" in each.text for each in changes.outbound)


def test_an_answer_whose_time_has_passed_meanwhile_is_not_stored() -> None:
    passed = replace(ROUND, id="", schedule=Once((START - timedelta(minutes=1),)))

    changes = on_press(record(Kind.QUESTION, passed, text="几点？"), pressed("0"), desk(), ())

    assert changes is not None
    assert changes.triggers == ()
    assert len(changes.outbound) == 2


def test_from_a_list_the_one_with_that_number_goes() -> None:
    changes = on_press(record(Kind.CANCEL, ROUND, WATER), pressed("1"), desk(), stored(ROUND, WATER))

    assert changes is not None
    assert changes.triggers == (TriggerGone(WATER.id),)
    assert closing(changes) == "已取消：喝水"


def test_from_a_list_the_one_with_that_number_rests_as_it_is_now() -> None:
    changed = replace(WATER, revision=4)

    changes = on_press(record(Kind.PAUSE, ROUND, WATER), pressed("1"), desk(), stored(ROUND, changed))

    assert changes is not None
    assert changes.triggers == (TriggerPut(replace(changed, paused=True, revision=5), None),)
    assert closing(changes) == "已暂停：喝水"


def test_all_go_but_what_is_gone_already_and_the_card_can_bring_them_back() -> None:
    pills = trigger("吃药")

    changes = on_press(record(Kind.ALL, ROUND, WATER, pills), pressed("all"), desk(), stored(ROUND, WATER))

    assert changes is not None
    assert changes.triggers == (TriggerGone(ROUND.id), TriggerGone(WATER.id))
    assert closing(changes) == "已取消 2 个提醒：查房、喝水"
    (kept,) = changes.prompts
    back = on_press(kept, pressed("undo"), desk(), ())
    assert back is not None
    tomorrow = START + timedelta(days=1)
    assert back.triggers == tuple(TriggerPut(replace(each, revision=1), tomorrow) for each in (ROUND, WATER))
    assert closing(back) == "已恢复 2 个提醒：查房、喝水"


def test_what_is_over_meanwhile_does_not_come_back_and_what_rested_rests() -> None:
    over, rests = replace(ROUND, schedule=Once((START - timedelta(minutes=1),))), replace(WATER, paused=True)

    changes = on_press(record(Kind.GONE, over, rests), pressed("undo"), desk(), ())

    assert changes is not None
    assert changes.triggers == (TriggerPut(replace(rests, revision=1), None),)


def test_only_the_owner_decides_about_all_of_theirs() -> None:
    changes = on_press(
        record(Kind.ALL, ROUND, WATER), pressed("all", sender=Sender("2", "小李")), desk(), stored(ROUND)
    )

    assert changes is not None
    assert changes.triggers == ()
    assert [type(each) for each in changes.outbound] == [Notice]


@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.value)
@pytest.mark.parametrize("choice", ["", "7", "-1", "²", "nothing", "0; drop"])
def test_a_choice_that_was_never_there_does_nothing(kind: Kind, choice: str) -> None:
    assert on_press(record(kind, ROUND), pressed(choice), desk(), stored(ROUND)) is None


@pytest.mark.parametrize(
    "damaged",
    [
        PromptRecord("token", HERE, "reminder", "no json"),
        PromptRecord("token", HERE, "reminder", "[1, 2]"),
        PromptRecord("token", HERE, "reminder", '{"triggers": ["{}"], "language": "zh", "text": ""}'),
        PromptRecord("token", HERE, "reminder-from-the-future", '{"triggers": [], "language": "zh", "text": ""}'),
    ],
)
def test_a_record_that_cannot_be_read_is_a_bad_record(damaged: PromptRecord) -> None:
    with pytest.raises(BadRecord):
        on_press(damaged, pressed("undo"), desk(), ())


def test_the_language_is_that_of_the_prompt() -> None:
    changes = on_press(record(Kind.CANCEL, ROUND, language="en"), pressed("0"), desk("zh"), stored(ROUND))

    assert closing(changes) == "Cancelled: 查房"
