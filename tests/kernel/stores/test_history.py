"""How long a history may become, and where it is cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.messages import Message, Role, Text
from kernel.ports import Checkout, Outcome, Step
from kernel.stores import rules
from kernel.stores.stores import Stores
from tests.kernel.stores.words import calling, result, said, taken, turn, user
from tests.twins.clock import JumpingClock

ANSWER = Message(Role.ASSISTANT, (Text("noon"),))


class Chat:
    """One conversation under one lease, to which many messages are committed."""

    def __init__(self, stores: Stores, clock: JumpingClock, checkout: Checkout) -> None:
        self._stores, self._clock, self._lease = stores, clock, checkout.lease
        self.session = checkout.session

    async def commits(self, *messages: Message) -> None:
        length = self.session.history_length + len(messages)
        step = Step(replace(self.session, history_length=length), Outcome.RUN, history=messages)
        self.session = await self._stores.conversations.commit(self._lease, step, now=self._clock.now())

    async def kept(self) -> tuple[Message, ...]:
        await self._stores.conversations.release(self._lease, now=self._clock.now(), keep=False)
        checkout = await taken(self._stores, self._clock.now())
        self._lease = checkout.lease
        return checkout.history


@pytest.fixture
async def chat(stores: Stores, clock: JumpingClock) -> Chat:
    await stores.conversations.put(said(), now=clock.now())
    return Chat(stores, clock, await taken(stores, clock.now()))


def numbered(first: int, count: int) -> list[Message]:
    return [user(str(number)) for number in range(first, first + count)]


async def test_a_long_history_loses_its_oldest_messages(chat: Chat) -> None:
    for number in range(0, 1000, 50):
        await chat.commits(*numbered(number, 50))

    kept = await chat.kept()

    assert rules.HISTORY_KEPT <= len(kept) <= rules.HISTORY_KEPT + rules.HISTORY_SLACK
    assert chat.session.history_length == 1000
    assert kept[0].text == str(1000 - len(kept))
    assert kept[-1].text == "999"


async def test_a_short_history_is_kept_whole(chat: Chat) -> None:
    await chat.commits(*numbered(0, rules.HISTORY_KEPT + rules.HISTORY_SLACK))

    assert len(await chat.kept()) == rules.HISTORY_KEPT + rules.HISTORY_SLACK


async def test_it_is_cut_where_no_call_loses_its_result(chat: Chat) -> None:
    talk = (user("what time is it?"), calling(), result(), ANSWER)
    for _ in range(200):
        await chat.commits(*talk)

    kept = await chat.kept()

    assert kept[0] == talk[0]
    assert len(kept) % len(talk) == 0
    assert len(kept) < 800


async def test_a_history_without_a_place_to_begin_is_not_cut(chat: Chat) -> None:
    for _ in range(6):
        await chat.commits(*(message for _ in range(50) for message in (calling(), result())))

    assert len(await chat.kept()) == 600


async def test_what_a_waiting_turn_was_asked_about_stays(chat: Chat) -> None:
    await chat.commits(*numbered(0, 450))
    chat.session = replace(chat.session, turns=(turn(base=450),))
    for number in range(450, 1450, 100):
        await chat.commits(*numbered(number, 100))

    kept = await chat.kept()

    first = chat.session.history_length - len(kept)
    assert first <= 50
    assert kept[450 - first].text == "450"


async def test_however_long_a_turn_waits_there_is_a_limit(chat: Chat) -> None:
    chat.session = replace(chat.session, turns=(turn(base=0),))
    for number in range(0, 3000, 500):
        await chat.commits(*numbered(number, 500))

    kept = await chat.kept()

    assert len(kept) <= rules.HISTORY_LIMIT + rules.HISTORY_SLACK
    assert kept[-1].text == "2999"
    assert kept[0].text == str(3000 - len(kept))
