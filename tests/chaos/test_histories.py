"""Promise 7 at its full count: 10,000 random histories, trimmed, cancelled, crashed and failed over."""

from __future__ import annotations

import pytest

from tests.twins.histories import live

HISTORIES = 10_000


@pytest.mark.chaos
async def test_no_history_makes_a_request_that_is_refused() -> None:
    tally = await live(HISTORIES, first=1_000_000)

    print(f"promise 7: {tally.lines()}")
    assert tally.refusals == []
    assert tally.requests > HISTORIES * 5
