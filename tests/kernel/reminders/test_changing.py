"""A changed reminder is the same one; its card changes it back, as long as nothing else has changed it since."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kernel.ports import PromptRecord, TriggerGone, TriggerPut
from kernel.reminders.changing import TOO_LATE, change
from kernel.reminders.pressing import on_press
from kernel.schedule.values import Cron, ScheduleIntent
from kernel.triggers import Trigger
from tests.kernel.reminders.words import DAILY, HERE, SOON, closing, desk, pressed, said, stored, trigger
from tests.twins.clock import START

ELEVEN = Cron(("0 11 * * *",))
TO_ELEVEN = ScheduleIntent("Asia/Tokyo", 0.97, schedule=ELEVEN)
ROUND = replace(trigger("查房"), revision=3, owner="1002")
TOMORROW = START + timedelta(days=1)


def changed(
    before: Trigger = ROUND, when: ScheduleIntent | None = TO_ELEVEN, text: str = ""
) -> tuple[TriggerPut, PromptRecord]:
    changes = change(before, TOMORROW, desk(), stored(before), when=when, text=text)
    (put,), (record,) = changes.triggers, changes.prompts
    assert isinstance(put, TriggerPut)
    return put, record


def test_it_stays_the_owners_in_its_place_and_is_due_by_its_new_times_alone() -> None:
    put, _ = changed()

    assert (put.trigger.id, put.trigger.owner, put.trigger.conversation) == (ROUND.id, "1002", HERE)
    assert (put.trigger.schedule, put.trigger.zone, put.trigger.revision) == (ELEVEN, "Asia/Tokyo", 4)
    assert put.due == START + timedelta(hours=1)


def test_new_words_alone_keep_time_and_zone() -> None:
    put, _ = changed(when=None, text="交班")

    assert (put.trigger.text, put.trigger.schedule, put.trigger.zone) == ("交班", DAILY, ROUND.zone)
    assert put.due == TOMORROW


def test_one_that_rested_goes_on() -> None:
    put, _ = changed(replace(ROUND, paused=True), when=None, text="交班")

    assert not put.trigger.paused
    assert put.due == TOMORROW


def test_within_seconds_of_its_time_it_stays_as_it_is() -> None:
    late = change(ROUND, START + TOO_LATE, desk(), stored(ROUND), when=TO_ELEVEN, text="")
    in_time = change(ROUND, START + TOO_LATE + timedelta(seconds=1), desk(), stored(ROUND), when=TO_ELEVEN, text="")

    assert late.triggers == ()
    assert said(late) == "「查房」马上就到点了，现在改来不及。"
    assert in_time.triggers


def test_undo_changes_it_back_under_a_later_revision() -> None:
    put, record = changed()

    changes = on_press(record, pressed("undo"), desk(), [(put.trigger, put.due)])

    assert changes is not None
    assert changes.triggers == (TriggerPut(replace(ROUND, revision=5), TOMORROW),)
    assert closing(changes) == "已改回：每天 09:00，查房"


def test_undo_of_what_has_been_changed_once_more_changes_nothing() -> None:
    put, record = changed()
    again = replace(put.trigger, revision=5)

    changes = on_press(record, pressed("undo"), desk(), [(again, put.due)])

    assert changes is not None
    assert changes.triggers == ()
    assert closing(changes) == "「查房」后来又改过，这里不再撤销。"


def test_undo_back_to_a_time_that_has_passed_takes_it_away() -> None:
    put, record = changed(replace(ROUND, schedule=SOON))

    changes = on_press(record, pressed("undo"), desk(late=timedelta(hours=1)), [(put.trigger, put.due)])

    assert changes is not None
    assert changes.triggers == (TriggerGone(ROUND.id),)
    assert closing(changes) == "已撤销：查房"


def test_undo_gives_one_that_rested_its_rest_back() -> None:
    put, record = changed(replace(ROUND, paused=True))

    changes = on_press(record, pressed("undo"), desk(), [(put.trigger, put.due)])

    assert changes is not None
    assert changes.triggers == (TriggerPut(replace(ROUND, paused=True, revision=5), None),)
