"""Chats that got another id: inside the one that we knew first, outside the one that they have now."""

from __future__ import annotations

import asyncio

import pytest

from bots.adapter import ChatMoved
from bots.moves import Moves
from kernel.chat import ConversationId
from kernel.stores.memory.grants import MemoryGrants
from kernel.stores.memory.state import Memory
from tests.twins.clock import JumpingClock

OLD, NEW, NEWER = (ConversationId("fake", chat) for chat in ("-5", "-1005", "-2005"))
TOPIC = ConversationId("fake", "-1005", "7")


@pytest.fixture
def memory() -> Memory:
    return Memory(JumpingClock())


def process(memory: Memory) -> Moves:
    """One of several over the same store."""
    return Moves(MemoryGrants(memory), memory.clock)


async def test_a_chat_that_never_moved_is_called_as_it_is(memory: Memory) -> None:
    moves = process(memory)

    assert (await moves.here(OLD), moves.there(OLD)) == (OLD, OLD)


async def test_what_moved_comes_in_under_its_first_id_and_goes_out_under_its_last(memory: Memory) -> None:
    moves = process(memory)
    await moves.follow(OLD, "-1005")
    await moves.follow(OLD, "-2005")

    assert [await moves.here(each) for each in (OLD, NEW, NEWER)] == [OLD] * 3
    assert await moves.here(TOPIC) == ConversationId("fake", "-5", "7")
    assert moves.there(OLD) == NEWER
    assert moves.there(ConversationId("fake", "-5", "7")) == ConversationId("fake", "-2005", "7")
    assert moves.there(ConversationId("other", "-5")) == ConversationId("other", "-5")


async def test_what_is_refused_because_the_chat_moved_is_sent_once_more_where_it_is(memory: Memory) -> None:
    moves, tried = process(memory), []

    async def send(where: ConversationId) -> str:
        tried.append(where)
        if where == OLD:
            raise ChatMoved("moved", to="-1005")
        return "sent"

    assert await moves.through(OLD, send) == "sent"
    assert await moves.through(OLD, send) == "sent"
    assert tried == [OLD, NEW, NEW]
    assert await process(memory).here(NEW) == OLD


async def test_a_chat_that_is_said_to_move_for_ever_is_tried_twice(memory: Memory) -> None:
    moves, tried = process(memory), []

    async def send(where: ConversationId) -> str:
        tried.append(where)
        raise ChatMoved("moved", to=f"{where.chat}0")

    with pytest.raises(ChatMoved):
        await moves.through(OLD, send)

    assert len(tried) == 2


async def test_while_the_store_is_away_a_move_waits_for_it() -> None:
    clock = JumpingClock()
    memory = Memory(clock)
    moves = process(memory)
    memory.is_away = True

    async def returns() -> None:
        await clock.sleeper()
        memory.is_away = False
        await clock.run_to(await clock.sleeper())

    await asyncio.gather(moves.follow(OLD, "-1005"), returns())

    assert moves.there(OLD) == NEW
