"""What a press means: whose it is to make, that it does nothing but what its button says, and nothing twice (T3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta
from itertools import count

import pytest

from kernel import admission, approvals, memories, questions
from kernel.access import Standing
from kernel.chat import ButtonPress, ConversationId, Notice, PromptClosed, Reply, Sender
from kernel.messages import Concurrency
from kernel.ports import Grant, PromptRecord, Right, TriggerPut
from kernel.pressing import Pressing
from kernel.reaction import Reaction
from kernel.reminders.cards import Card, Kind
from kernel.session import GateState, Session
from kernel.settings import PlatformId
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.texts import say
from tests.kernel.reminders.words import desk, trigger
from tests.twins.clock import START, JumpingClock
from tests.twins.sessions import ANN, BEN, HERE, after, called, calling, gate, gate_of, spoken

STRANGER, MEMBER, ALLOWED, OWNER = Standing
WAITING = after(spoken("发"), calling(), called(gate("post", GateState.ASKED, Concurrency.EXCLUSIVE)))
REMINDER = trigger("查房")
NOT_PERSONALLY = say("rights.allowed", "zh")


def of_reminder(kind: Kind) -> PromptRecord:
    return Card(kind, (REMINDER,), "zh").record("token", HERE)


def asks() -> PromptRecord:
    token = gate_of(WAITING, "post").token
    return approvals.Card("t1", "post", "digest-post", "发通知", "zh").record(token, HERE)


def of_admission() -> PromptRecord:
    card = admission.Card("twin", "2002", "小王", "-5", "", "三病区", False, False, "zh", "zh")
    return PromptRecord("token", HERE, admission.KIND, json.dumps(asdict(card)))


def of_rights() -> PromptRecord:
    data = '{"grants": [["person", "twin", "2002", "小王"]], "language": "zh"}'
    return PromptRecord("token", HERE, admission.LIST_KIND, data)


def of_memory() -> PromptRecord:
    shelf = memories.shelf_of(HERE, ANN, is_private=False)
    (record,) = memories.listing(desk(), shelf, ("对青霉素过敏",)).prompts
    return record


class Hand:
    """A press on a card, by somebody of a standing."""

    def __init__(self) -> None:
        self.memory = Memory(JumpingClock())
        self.stores = memory_stores(self.memory.clock, memory=self.memory)
        self.memory.change_trigger(TriggerPut(REMINDER, START + timedelta(days=1)))
        numbers = count(1)
        stores = self.stores
        self._pressing = Pressing(
            stores.triggers, stores.memories, stores.grants, stores.people, "p", lambda: f"id-{next(numbers)}"
        )

    async def presses(
        self,
        record: PromptRecord | None,
        choice: str,
        standing: Standing,
        *,
        person: str = BEN,
        is_private: bool = False,
        session: Session = WAITING,
    ) -> Reaction:
        press = ButtonPress("e1", HERE, Sender(person, "小本"), 1, START, "token", choice, "p1", is_private=is_private)
        at = replace(desk(), person=person, standing=standing, is_private=is_private)
        return await self._pressing.press(record, press, session, at)


def told(reaction: Reaction) -> list[str]:
    return [each.text for each in reaction.changes.outbound if isinstance(each, Notice)]


def has_changed(reaction: Reaction, session: Session = WAITING) -> bool:
    """Whether the press did anything but answer."""
    changes = reaction.changes
    is_quiet = all(isinstance(each, Notice) for each in changes.outbound)
    rest = (changes.prompts, changes.triggers, changes.alarms, changes.notes, changes.files, changes.memories)
    return reaction.session is not session or not is_quiet or any(rest)


NEEDED = [
    (lambda: of_reminder(Kind.FIRED), "done", STRANGER),
    (lambda: of_reminder(Kind.FIRED), "snooze", STRANGER),
    (lambda: of_reminder(Kind.CARD), "undo", ALLOWED),
    (lambda: of_reminder(Kind.CANCEL), "0", ALLOWED),
    (lambda: of_reminder(Kind.PAUSE), "0", ALLOWED),
    (lambda: of_reminder(Kind.GONE), "undo", ALLOWED),
    (lambda: of_reminder(Kind.QUESTION), "0", ALLOWED),
    (of_memory, "0", ALLOWED),
    (asks, "allow", OWNER),
    (asks, "deny", OWNER),
    (of_admission, "person", OWNER),
    (of_admission, "chat", OWNER),
    (of_rights, "0", OWNER),
]


@pytest.mark.parametrize("standing", Standing)
@pytest.mark.parametrize(("record", "choice", "needed"), NEEDED)
async def test_a_press_does_something_for_those_alone_whose_it_is_to_make(
    record: Callable[[], PromptRecord], choice: str, needed: Standing, standing: Standing
) -> None:
    hand = Hand()

    reaction = await hand.presses(record(), choice, standing)

    granted = set(hand.memory.grants.grants)
    assert (has_changed(reaction) or bool(granted)) is (standing >= needed)
    assert len(told(reaction)) == 1


@pytest.mark.parametrize(("standing", "is_decided"), [(STRANGER, False), (MEMBER, True), (ALLOWED, True)])
async def test_who_asked_decides_while_they_may_still_talk(standing: Standing, is_decided: bool) -> None:
    reaction = await Hand().presses(asks(), "allow", standing, person=ANN)

    assert (gate_of(reaction.session, "post").state is GateState.READY) is is_decided


@pytest.mark.parametrize(("standing", "is_decided"), [(STRANGER, False), (MEMBER, False), (ALLOWED, True)])
async def test_whose_reminders_go_together_decides_while_they_may_still_set_some(
    standing: Standing, is_decided: bool
) -> None:
    reaction = await Hand().presses(of_reminder(Kind.ALL), "all", standing, person=ANN)

    assert has_changed(reaction) is is_decided


async def test_a_reminder_that_came_in_a_private_chat_is_its_persons() -> None:
    reaction = await Hand().presses(of_reminder(Kind.FIRED), "done", STRANGER, is_private=True)

    assert (has_changed(reaction), told(reaction)) == (False, [NOT_PERSONALLY])


@pytest.mark.parametrize("choice", ["undo", "0", "all", "allow", "person", "", "done:snooze", "DONE"])
async def test_on_a_reminder_that_came_nothing_but_its_two_buttons_can_be_pressed(choice: str) -> None:
    reaction = await Hand().presses(of_reminder(Kind.FIRED), choice, OWNER)

    assert (has_changed(reaction), told(reaction)) == (False, [say("press.unknown", "zh")])


async def test_a_strangers_snooze_sets_that_reminder_once_more_and_nothing_else() -> None:
    reaction = await Hand().presses(of_reminder(Kind.FIRED), "snooze", STRANGER)

    (put,) = reaction.changes.triggers
    assert isinstance(put, TriggerPut)
    assert (put.trigger.text, put.trigger.owner, put.trigger.conversation) == ("查房", REMINDER.owner, HERE)


@pytest.mark.parametrize(
    "record", [None, replace(of_reminder(Kind.FIRED), conversation=ConversationId("twin", "2"))], ids=["none", "other"]
)
async def test_a_token_that_is_none_or_of_another_conversation_does_nothing(record: PromptRecord | None) -> None:
    reaction = await Hand().presses(record, "done", OWNER)

    assert (has_changed(reaction), told(reaction)) == (False, [say("press.unknown", "zh")])


@pytest.mark.parametrize("record", [of_reminder(Kind.FIRED), of_admission(), of_rights(), asks()])
async def test_a_closed_card_says_that_it_was_decided(record: PromptRecord) -> None:
    hand = Hand()

    reaction = await hand.presses(replace(record, is_open=False), "person", OWNER)

    assert (has_changed(reaction), told(reaction)) == (False, [say("press.decided", "zh")])
    assert hand.memory.grants.grants == {}


@pytest.mark.parametrize("kind", [admission.KIND, admission.LIST_KIND, approvals.KIND, questions.KIND, "nonsense"])
async def test_a_record_that_this_version_cannot_read_stops_nothing(kind: str) -> None:
    reaction = await Hand().presses(PromptRecord("token", HERE, kind, "{}"), "person", OWNER)

    assert (has_changed(reaction), told(reaction)) == (False, [say("press.unknown", "zh")])


async def test_a_group_that_moved_while_its_card_stood_there_is_opened_as_we_know_it() -> None:
    hand = Hand()
    await hand.stores.grants.move("twin", "-1", "-5")

    reaction = await hand.presses(of_admission(), "chat", OWNER)

    assert set(hand.memory.grants.grants) == {(Right.CHAT, PlatformId("twin", "-1"))}
    assert [each.conversation.chat for each in reaction.changes.outbound if isinstance(each, Reply)] == ["-5"]


async def test_what_an_owner_takes_back_counts_no_longer() -> None:
    hand, grant = Hand(), Grant(Right.PERSON, PlatformId("twin", "2002"), "小王")
    await hand.stores.grants.give(grant)

    reaction = await hand.presses(of_rights(), "0", OWNER)

    assert hand.memory.grants.grants == {}
    assert any(isinstance(each, PromptClosed) for each in reaction.changes.outbound)
