"""Which pictures a request shows."""

from __future__ import annotations

from kernel.messages import Image, Message, Role, Text
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.state import Memory
from tests.kernel.test_pictures import png
from tests.twins.clock import JumpingClock
from workers.pictures import MOST_BYTES, MOST_PICTURES, shown_in


async def stored(blobs: MemoryBlobs, *contents: bytes) -> list[Message]:
    """A message for each picture."""
    return [Message(Role.USER, (Image(await blobs.put(each), "image/png"), Text("看"))) for each in contents]


def blobs() -> MemoryBlobs:
    return MemoryBlobs(Memory(JumpingClock()))


async def test_the_newest_ones_are_shown() -> None:
    here = blobs()
    pictures = [png(width=number + 1) for number in range(MOST_PICTURES + 5)]

    shown = await shown_in(await stored(here, *pictures), here)

    assert set(shown.values()) == set(pictures[5:])


async def test_they_are_not_too_heavy_together() -> None:
    here = blobs()
    pictures = [png(width=number + 1) + bytes(3_000_000) for number in range(5)]

    shown = await shown_in(await stored(here, *pictures), here)

    assert set(shown.values()) == set(pictures[2:])
    assert sum(map(len, shown.values())) <= MOST_BYTES


async def test_what_a_service_would_refuse_is_left_out() -> None:
    here = blobs()
    messages = await stored(here, png(9000), b"no picture", png(5))
    misnamed = Message(Role.USER, (Image(await here.put(png(6)), "image/jpeg"), Image("gone", "image/png")))

    assert list((await shown_in([*messages, misnamed], here)).values()) == [png(5)]
