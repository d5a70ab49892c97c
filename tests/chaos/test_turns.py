"""Promise 1: whatever worker or adapter is killed or frozen, no message is lost and no side effect repeated."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.chaos.storm import ANSWERED_WITHIN_S, POINTS, Plan, Report, Storm


def check(report: Report) -> None:
    """The promise, with its figures in sight."""
    print(report.lines())
    assert report.lost == []
    assert report.parked == 0
    assert report.repeated_effects == []
    # At most one more copy for each death that may have come between a send and its record.
    assert (
        report.duplicate_replies
        <= report.kills["between send and its record"] + report.kills["at random"] + report.freezes
    )
    assert report.longest_s <= ANSWERED_WITHIN_S


def test_a_short_storm_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    plan = Plan(at_each_point=1, random_kills=3, freezes=1, freeze_s=17, least_turns=60, chats=20, workers=3)

    report = Storm(tmp_path, plan, random.Random(1)).run()

    check(report)
    assert set(report.kills) >= set(POINTS)


@pytest.mark.chaos
def test_a_long_storm_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    plan = Plan(at_each_point=20, random_kills=30, freezes=50, freeze_s=21, least_turns=1000)

    report = Storm(tmp_path, plan, random.Random(2)).run()

    check(report)
    assert all(report.kills[point] >= 20 for point in POINTS)
    assert report.kills.total() >= 200
    assert report.freezes >= 50
    assert report.messages >= 1000
