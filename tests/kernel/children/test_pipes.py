"""What is kept of an output."""

from __future__ import annotations

import pytest

from kernel.children.pipes import Sink


@pytest.mark.parametrize("piece", [1, 3, 7, 1000])
@pytest.mark.parametrize("limit", [0, 1, 10, 11])
@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 12, 25, 300])
async def test_beginning_and_end_are_kept_and_the_rest_is_counted(piece: int, limit: int, size: int) -> None:
    sent = bytes(number % 251 for number in range(size))
    sink = Sink(limit)

    for start in range(0, size, piece):
        sink.data_received(sent[start : start + piece])

    kept = sink.output()
    assert len(kept.head) + len(kept.tail) + kept.left_out == size
    assert len(kept.head) + len(kept.tail) == min(size, limit)
    assert sent.startswith(kept.head)
    assert sent.endswith(kept.tail)


async def test_a_flood_is_told_once() -> None:
    told: list[int] = []
    sink = Sink(10, flood=100, on_flood=lambda: told.append(1))

    for _ in range(50):
        sink.data_received(b"x" * 10)

    assert told == [1]


async def test_text_that_is_cut_says_how_much_is_missing() -> None:
    sink = Sink(6)
    sink.data_received("一二三四".encode())

    assert sink.output().text == "一\n[… 6 bytes left out …]\n四"
