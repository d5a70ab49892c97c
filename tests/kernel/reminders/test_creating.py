"""A sentence that is understood becomes a stored trigger and its card; one that is not, a question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kernel.ports import TriggerPut
from kernel.reminders.cards import Kind, read
from kernel.reminders.creating import MAX_PER_CONVERSATION, create
from kernel.reminders.desk import Desk
from kernel.schedule.values import Calendar, Choice, Cron, Doubt, Every, Once, Question, Schedule, ScheduleIntent
from kernel.triggers import Trigger, next_fire
from tests.kernel.reminders.words import DAILY, HERE, MINUTE, SOON, desk, said, shown, stored, trigger
from tests.twins.clock import START


def asked(schedule: Schedule | None, body: str = "查房", question: Question | None = None) -> ScheduleIntent:
    return ScheduleIntent("Asia/Shanghai", 0.97, body=body, schedule=schedule, question=question)


def put(schedule: Schedule, at: Desk | None = None, body: str = "查房") -> TriggerPut:
    (change,) = create(asked(schedule, body), at or desk(), ()).triggers
    assert isinstance(change, TriggerPut)
    return change


def test_the_trigger_is_due_when_its_card_says_so() -> None:
    change = put(DAILY)

    assert change.due == START + timedelta(days=1)
    assert change.due == next_fire(change.trigger, START)
    assert change.trigger.text == "查房"
    assert change.trigger.owner == "1001"


def test_the_card_says_what_when_three_next_times_and_the_zone() -> None:
    text = said(create(asked(DAILY), desk(), ()))

    assert text == (
        "好，每天 09:00 提醒你：查房\n接下来：明天 09:00、12月2日 周三 09:00、12月3日 周四 09:00（Asia/Shanghai）"
    )


def test_a_one_shot_card_is_one_line() -> None:
    assert said(create(asked(SOON, "取快递"), desk(), ())) == "好，今天 09:20 提醒你：取快递（Asia/Shanghai）"


def test_the_card_in_english() -> None:
    text = said(create(asked(DAILY, "do the ward round"), desk("en"), ()))

    assert text.startswith("Done, every day at 09:00: do the ward round\nNext: tomorrow")
    assert text.endswith("(Asia/Shanghai)")


def test_the_card_of_day_31_says_which_months_are_left_out() -> None:
    assert len(said(create(asked(Cron(("0 9 31 * *",))), desk(), ())).splitlines()) == 3


def test_the_card_can_undo_and_its_record_knows_the_trigger() -> None:
    changes = create(asked(DAILY), desk(), ())

    prompt, (record,) = shown(changes.outbound), changes.prompts
    assert [choice.label for choice in prompt.choices] == ["撤销"]
    assert record.token == prompt.token
    assert record.conversation == HERE
    card = read(record)
    assert card.kind is Kind.CARD
    assert card.triggers == tuple(each.trigger for each in changes.triggers if isinstance(each, TriggerPut))


def test_setting_it_leaves_a_note_for_the_model() -> None:
    assert create(asked(DAILY), desk(), ()).notes == ("reminder set: 每天 09:00: 查房",)


def test_two_minutes_count_from_when_it_was_said_not_from_when_it_was_read() -> None:
    change = put(Once((START + 2 * MINUTE,)), desk(late=timedelta(minutes=10)))

    assert change.due == START + 2 * MINUTE


def test_without_words_of_its_own_it_says_reminder() -> None:
    assert put(SOON, body="").trigger.text == "提醒"
    assert put(SOON, desk("en"), body="").trigger.text == "Reminder"


@pytest.mark.parametrize(
    ("schedule", "window"),
    [
        (Once((START + 20 * MINUTE,)), timedelta(hours=3)),
        (Once((START + timedelta(hours=2),)), timedelta(hours=12)),
        (Every(timedelta(minutes=45), START + 45 * MINUTE), timedelta(minutes=45)),
        (Every(timedelta(hours=36), START + 45 * MINUTE), timedelta(hours=12)),
        (DAILY, timedelta(hours=12)),
    ],
)
def test_how_late_it_may_still_come(schedule: Schedule, window: timedelta) -> None:
    assert put(schedule).trigger.lateness == window


def test_the_201st_of_a_chat_is_refused() -> None:
    many = stored(*(trigger(str(number)) for number in range(MAX_PER_CONVERSATION)))

    changes = create(asked(DAILY), desk(), many)

    assert "200" in said(changes)
    assert changes.triggers == ()


def test_every_second_is_refused_with_what_goes() -> None:
    changes = create(asked(Every(timedelta(seconds=1), START)), desk(), ())

    assert said(changes) == "最密只能每分钟一次。"
    assert changes.triggers == ()


def test_a_time_that_never_comes_is_said_and_not_stored() -> None:
    changes = create(asked(Cron(("0 9 30 2 *",))), desk(), ())

    assert said(changes) == "这个时间永远不会到。"
    assert changes.triggers == ()


def test_a_calendar_that_ends_before_is_said_with_its_end() -> None:
    start = datetime(2090, 1, 1, tzinfo=UTC)
    far = Cron(("0 9 * * *",), start=start, calendar=Calendar.STATUTORY_WORKDAYS)

    changes = create(asked(far), desk(), ())

    assert "法定节假日安排只公布到" in said(changes)
    assert "{" not in said(changes)
    assert changes.triggers == ()


def test_a_question_with_answers_has_a_button_for_each_and_stores_nothing() -> None:
    question = Question(Doubt.NO_TIME, "几点提醒？", (Choice("上午9点", DAILY), Choice("下午3点", SOON)))

    changes = create(asked(None, question=question), desk(), ())

    prompt = shown(changes.outbound)
    assert (prompt.text, [choice.label for choice in prompt.choices]) == ("几点提醒？", ["上午9点", "下午3点"])
    assert changes.triggers == ()
    card = read(changes.prompts[0])
    assert [each.schedule for each in card.triggers] == [DAILY, SOON]


def test_a_question_without_answers_is_only_asked() -> None:
    changes = create(asked(None, question=Question(Doubt.EVENT, "那大概是几点？")), desk(), ())

    assert said(changes) == "那大概是几点？"
    assert (changes.prompts, changes.triggers) == ((), ())
    assert changes.notes == ("asked back about a reminder: 那大概是几点？",)


def test_what_is_no_request_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="not a request"):
        create(asked(None), desk(), ())


def test_the_words_of_the_person_are_shown_as_they_are_in_the_card() -> None:
    text = said(create(asked(SOON, "2*3*4 [批准](https://evil.example/a_b)"), desk(), ()))

    assert r"2\*3\*4 \[批准\](https://evil.example/a_b)" in text
    assert put(SOON, body="2*3*4").trigger.text == "2*3*4"


def test_ids_are_all_distinct() -> None:
    changes = create(asked(DAILY), desk(), ())

    assert isinstance(changes.triggers[0], TriggerPut)
    stored_trigger: Trigger = changes.triggers[0].trigger
    assert stored_trigger.id != shown(changes.outbound).token
