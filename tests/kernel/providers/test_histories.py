"""Promise 7, the short form; tests/chaos/test_histories.py is the long one."""

from __future__ import annotations

import pytest

from tests.twins.histories import live


async def test_no_history_makes_a_request_that_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    tally = await live(150)

    with capsys.disabled():
        print(f"\npromise 7: {tally.lines()}")
    assert tally.refusals == []
    assert tally.requests > 500
