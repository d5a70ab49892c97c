"""Terminals that are open at the same time have numbers of their own."""

from __future__ import annotations

from pathlib import Path

from zclaw.folder import open_folder
from zclaw.terminals import open_terminal


def test_each_open_terminal_has_the_lowest_free_number(tmp_path: Path) -> None:
    folder = open_folder(tmp_path)

    with open_terminal(folder) as first:
        with open_terminal(folder) as second, open_terminal(folder) as third:
            assert [first.number, second.number, third.number] == [1, 2, 3]
        with open_terminal(folder) as again:
            assert again.number == 2


def test_a_terminal_knows_which_others_were_open_and_are_not_now(tmp_path: Path) -> None:
    folder = open_folder(tmp_path)

    with open_terminal(folder) as first, open_terminal(folder):
        with open_terminal(folder):
            assert first.closed_ones() == []
        assert first.closed_ones() == [3]
    with open_terminal(folder) as alone:
        assert alone.closed_ones() == [2, 3]
