"""Chats that the bot knows: the same in memory and in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from kernel.chat import ConversationId
from kernel.ports.chats import KEEP_CHATS, MAX_CHATS, Chats, KnownChat
from kernel.stores.keys import CHATS
from kernel.stores.memory.chats import MemoryChats
from kernel.stores.memory.state import Memory
from kernel.stores.redis.chats import RedisChats
from kernel.stores.redis.connect import Server
from tests.twins.clock import START, JumpingClock

WARD = KnownChat(ConversationId("twin", "-100:*?\n"), "三病区", "1001", "T1")
ANN = KnownChat(ConversationId("twin", "1001"), "Ann", "1001")


@pytest.fixture(params=["memory", "redis"])
async def chats(request: pytest.FixtureRequest) -> AsyncIterator[Chats]:
    """The port over each store in turn."""
    if request.param == "memory":
        yield MemoryChats(Memory(JumpingClock()))
        return
    server = Server(request.getfixturevalue("redis_url"))
    yield RedisChats(server)
    await server.close()


async def test_a_platforms_chats_are_known_by_id_and_no_other_platforms(chats: Chats) -> None:
    await chats.see(ANN, now=START)
    await chats.see(WARD, now=START)

    assert await chats.known("twin") == (WARD, ANN)
    assert await chats.known("other") == ()


async def test_the_newest_word_on_a_chat_counts_and_no_title_leaves_the_one_we_know(chats: Chats) -> None:
    await chats.see(WARD, now=START)
    await chats.see(KnownChat(WARD.conversation, "", "1002", ""), now=START)
    await chats.see(KnownChat(ANN.conversation, "Anna", "1001"), now=START)

    assert await chats.known("twin") == (
        KnownChat(WARD.conversation, "三病区", "1002", ""),
        KnownChat(ANN.conversation, "Anna", "1001"),
    )


async def test_the_one_that_was_silent_for_longest_makes_room(chats: Chats, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("memory", "redis"):
        monkeypatch.setattr(f"kernel.stores.{module}.chats.MAX_CHATS", 3)

    for number in (2, 1, 3, 4):
        chat = KnownChat(ConversationId("twin", str(number)), f"{number}", "p")
        await chats.see(chat, now=START + timedelta(minutes=number))

    assert [each.title for each in await chats.known("twin")] == ["2", "3", "4"]
    assert MAX_CHATS > 3


async def test_they_are_forgotten_when_a_platform_is_silent_for_long(redis_url: str) -> None:
    server, clock = Server(redis_url), JumpingClock()
    remembered = MemoryChats(Memory(clock))
    await remembered.see(ANN, now=clock.now())
    await RedisChats(server).see(ANN, now=clock.now())

    clock.jump(KEEP_CHATS)

    assert await remembered.known("twin") == ()
    assert await server.ask("TTL", CHATS.of("twin")) == KEEP_CHATS.total_seconds()
    await server.close()
