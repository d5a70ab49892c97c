"""What an adapter brings in is checked, stored once, and never lost on the way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.entrance import settle_time
from kernel.chat import (
    ButtonPress,
    Inbound,
    Notice,
    UserMessage,
)
from kernel.ports import Put
from kernel.stores.memory.conversations import MemoryConversations
from kernel.stores.memory.wakeups import MemoryWakeups
from tests.bots.bench import D1, D2, STRANGER, U1, Broken, running
from tests.twins.clock import JumpingClock


async def test_a_message_is_stored_and_a_worker_is_woken_before_it_is_acknowledged() -> None:
    async with running() as bench:
        await bench.comes(bench.message("你好"))

        assert bench.inbox() == ["你好"]
        assert bench.adapter.acknowledged == ["e1"]
        assert bench.memory.people["fake", "1001"].name == "小王"
        wakeups = bench.stores.wakeups
        assert isinstance(wakeups, MemoryWakeups)
        async with asyncio.timeout(1):
            await wakeups.hinted()


async def test_what_is_stored_already_wakes_a_worker_too_as_the_first_hint_may_be_lost() -> None:
    async with running() as bench:
        said = bench.message("你好")
        await bench.stores.conversations.put(said, now=bench.clock.now())
        wakeups = bench.stores.wakeups
        assert isinstance(wakeups, MemoryWakeups)

        await bench.comes(said)

        assert bench.inbox() == ["你好"]
        async with asyncio.timeout(1):
            await wakeups.hinted()


async def test_a_stranger_is_told_once_a_day_and_makes_no_work() -> None:
    async with running() as bench:
        await bench.comes(bench.message("你好", STRANGER, D2), bench.message("hello?", STRANGER, D2))

        assert len(bench.texts) == 1
        assert "还没有主人" in bench.texts[0]
        assert bench.inbox(D2) == []
        assert bench.adapter.acknowledged == ["e1", "e2"]

        bench.clock.jump(timedelta(hours=24))
        await bench.comes(bench.message("and now?", STRANGER, D2))

        assert len(bench.texts) == 2
        assert ("fake", "2002") not in bench.memory.people


async def test_a_strangers_press_changes_nothing_and_is_told_so() -> None:
    async with running() as bench:
        await bench.comes(bench.press(STRANGER), bench.press(STRANGER))
        await bench.passes(5)

        assert bench.inbox() == []
        assert [notice.person for notice in bench.adapter.notices] == ["2002"]


async def test_stickers_get_one_polite_note_a_minute_and_no_work() -> None:
    async with running() as bench:
        await bench.comes(bench.message(""), bench.message("  "))
        await bench.passes(61)
        await bench.comes(bench.message(""))

        assert bench.texts == ["贴纸、位置这类消息我还看不懂，请用文字告诉我。"] * 2
        assert bench.inbox() == []


@pytest.mark.parametrize(
    ("text", "album", "is_private", "seconds"),
    [
        ("hi", "", True, 0.0),
        ("hi", "", False, 0.3),
        ("hi", "g1", True, 1.2),
        ("/stop", "", False, 0.0),
        ("/nonsense", "", False, 0.3),
    ],
)
def test_settle_times(text: str, album: str, is_private: bool, seconds: float) -> None:
    at = JumpingClock().now()
    message = UserMessage("e", D1, U1, 1, at, text, album=album, is_private=is_private)

    assert settle_time(message) == timedelta(seconds=seconds)
    assert settle_time(ButtonPress("e", D1, U1, 1, at, "t", "c")) == timedelta()


def test_private_text_waits_where_the_one_before_it_may_come_later() -> None:
    """M28: of two Slack processes the one that had to ask who wrote stored the first text behind the second."""
    at, straggles_for = JumpingClock().now(), timedelta(seconds=0.3)
    said = UserMessage("e", D1, U1, 1, at, "hi", is_private=True)

    assert settle_time(said, straggles_for) == straggles_for
    assert settle_time(replace(said, text="/stop"), straggles_for) == timedelta()


async def test_while_the_store_is_away_nothing_is_acknowledged_nothing_lost_and_the_order_stays() -> None:
    async with running() as bench:
        bench.memory.is_away = True
        await bench.comes(*(bench.message(str(number)) for number in range(20)))
        await bench.passes(20)

        assert bench.adapter.acknowledged == []

        bench.memory.is_away = False
        await bench.passes(6)

        assert bench.inbox() == [str(number) for number in range(20)]


async def test_a_press_is_not_called_noted_before_it_is_stored() -> None:
    async with running() as bench:
        bench.memory.is_away = True
        await bench.comes(bench.press())
        await bench.passes(20)
        assert bench.adapter.notices == []

        bench.memory.is_away = False
        await bench.passes(8)

        assert [notice.text for notice in bench.adapter.notices] == ["收到，稍后告诉你结果。"]


async def test_a_copy_of_a_press_gets_no_second_answer() -> None:
    async with running() as bench:
        press = bench.press()
        await bench.comes(press)
        await bench.goes(Notice(D1, "p1", "1001", "已完成"))
        await bench.comes(press)
        await bench.passes(5)

        assert [notice.text for notice in bench.adapter.notices] == ["已完成"]


async def test_a_copy_of_an_update_is_acknowledged_and_dropped() -> None:
    async with running() as bench:
        await bench.comes(bench.message("a", event="same"), bench.message("a", event="same"))

        assert bench.inbox() == ["a"]
        assert bench.adapter.acknowledged == ["same", "same"]


@pytest.fixture
def poisonous(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that breaks at presses and at the word `poison`."""
    put = MemoryConversations.put

    async def broken_put(self: MemoryConversations, inbound: Inbound, **times: object) -> Put:
        if not isinstance(inbound, UserMessage) or inbound.text == "poison":
            raise Broken
        return await put(self, inbound, **times)  # type: ignore[arg-type]  # (passed on as it came)

    monkeypatch.setattr(MemoryConversations, "put", broken_put)


@pytest.mark.usefixtures("poisonous")
async def test_a_press_that_cannot_be_stored_is_to_be_pressed_again() -> None:
    async with running() as bench:
        await bench.comes(bench.press())
        await bench.passes(5)

        assert [notice.text for notice in bench.adapter.notices] == ["没能记下这次点击，请再按一次。"]


@pytest.mark.usefixtures("poisonous")
async def test_an_update_that_breaks_us_does_not_stop_the_ones_behind_it() -> None:
    async with running() as bench:
        await bench.comes(bench.message("poison"), bench.message("next"))
        await bench.passes(5)

        assert bench.inbox() == ["next"]
