from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.providers.words import Pieces, mend


@pytest.mark.parametrize(
    ("broken", "whole"),
    [("好🎩", "好🎩"), ("\ud83c\udfa9", "🎩"), ("a\ud83c", "a\ufffd"), ("\udfa9b", "\ufffdb"), ("", "")],
)
def test_halves_are_joined_or_replaced(broken: str, whole: str) -> None:
    assert mend(broken) == whole


def test_a_pair_cut_between_two_pieces_is_one_character() -> None:
    pieces = Pieces()

    shown = [pieces.hear(piece) for piece in ["帽\ud83c", "\udfa9子"]]

    assert shown == ["帽", "🎩子"]
    assert pieces.text() == "帽🎩子"


def test_half_a_character_at_the_end_is_replaced() -> None:
    pieces = Pieces()

    pieces.hear("a\ud83c")

    assert pieces.text() == "a\ufffd"


@given(st.text(), st.lists(st.integers(0, 60)))
def test_cuts_change_nothing(text: str, cuts: list[int]) -> None:
    halves = text.encode("utf-16-le", "surrogatepass")
    units = [halves[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(halves), 2)]
    edges = [0, *sorted(min(cut, len(units)) for cut in cuts), len(units)]
    pieces = Pieces()

    shown = "".join(pieces.hear("".join(units[a:b])) for a, b in pairwise(edges))

    assert pieces.text() == shown == text
