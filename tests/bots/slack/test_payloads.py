"""What stands in Slack's payloads is found without raising, whatever JSON it is."""

from __future__ import annotations

import pytest

from bots.slack.payloads import as_count


@pytest.mark.parametrize(
    ("value", "count"),
    [(9, 9), (10**30, 10**30), (0, 0), (-1, 0), (True, 0), (False, 0), (1.5, 0), ("9", 0), (None, 0), ([9], 0)],
)
def test_a_count_is_a_whole_number(value: object, count: int) -> None:
    """A file whose size was `true` was stored as one, and could not be read back."""
    assert (as_count(value), type(as_count(value))) == (count, int)
