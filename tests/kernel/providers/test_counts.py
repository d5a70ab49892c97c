"""Whatever a service says of its tokens, a number comes of it that can be added up."""

from __future__ import annotations

import pytest

from kernel.providers.counts import tokens


@pytest.mark.parametrize(
    ("told", "counted"),
    [(12, 12), (12.0, 12), (0, 0), (-5, 0), (None, 0), ("12", 0), (True, 0), ([], 0), ({}, 0), (float("nan"), 0)],
)
def test_what_is_no_number_of_tokens_counts_nothing(told: object, counted: int) -> None:
    assert tokens(told) == counted


@pytest.mark.parametrize("told", [10**30, float("inf")])
def test_what_no_store_could_add_up_is_bounded(told: object) -> None:
    assert tokens(told) == 1_000_000_000
