"""The mailbox of a conversation."""

from __future__ import annotations

import asyncio

import pytest

from workers.mailbox import Mailbox


async def test_mail_is_taken_in_the_order_in_which_it_came() -> None:
    box: Mailbox[int] = Mailbox()
    for number in (1, 2, 3):
        box.put(number)

    assert [await box.get(), box.take(), await box.get()] == [1, 2, 3]
    assert box.is_empty


async def test_a_reader_that_waits_is_woken_once_however_much_comes() -> None:
    box: Mailbox[int] = Mailbox()
    reading = asyncio.create_task(box.get())
    await asyncio.sleep(0)

    box.put(1)
    box.put(2)

    assert await reading == 1
    assert await box.get() == 2


async def test_mail_outlives_a_reader_that_was_cancelled() -> None:
    box: Mailbox[int] = Mailbox()
    reading = asyncio.create_task(box.get())
    await asyncio.sleep(0)

    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    box.put(1)

    assert await box.get() == 1
