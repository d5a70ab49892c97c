"""A model's service is overloaded for a while: no turn is lost, nothing is read twice, and others wait no longer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from benchmarks.storm_service import DROWNED, SENTENCES, Hit, sentence
from benchmarks.storms import DIALECTS, Answer, Plan, Report, judged, storm_over, verdicts


def check(report: Report) -> None:
    """The promise, with its figures in sight."""
    print(report.lines())
    assert report.lost == 0
    assert report.doubled == 0


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_short_storm_of_the_model_s_service_loses_no_turn_and_doubles_no_text(
    dialect: str, tmp_path: Path
) -> None:
    plan = Plan(
        chats=40,
        warm_up_s=0.0,
        calm_s=0.0,
        storm_s=2.0,
        pauses_s=(0.1, 0.5),
        asks_s=(1,),
        deadline=timedelta(seconds=60),
    )

    report = await storm_over(tmp_path, dialect, plan)

    check(report)
    assert report.count(Answer.WHOLE) == len(report.said)
    assert any(said.tag.startswith(DROWNED) for said in report.said)
    assert sum(report.tally.hits.values()) >= 10
    assert report.drafts


@pytest.mark.chaos
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_two_minutes_of_storm_lose_no_turn_double_no_text_and_slow_no_other_chat(
    dialect: str, tmp_path: Path
) -> None:
    plan = Plan()

    report = await storm_over(tmp_path, dialect, plan)

    check(report)
    assert all(report.tally.hits[hit.value] >= 10 for hit in Hit)
    assert [verdict for verdict in verdicts(dialect, plan, report) if not verdict.holds] == []


def test_an_answer_is_whole_doubled_or_broken() -> None:
    tag = "stormy 1/2"
    told = [sentence(number, tag, 1) for number in range(1, SENTENCES + 1)]

    assert judged("".join(told), tag) is Answer.WHOLE
    assert judged("".join([*told, told[-1]]), tag) is Answer.DOUBLED
    assert judged("".join([sentence(1, tag, 1), *(sentence(n, tag, 2) for n in range(2, 9))]), tag) is Answer.DOUBLED
    assert judged("".join(told[:-1]), tag) is Answer.BROKEN
    assert judged("", tag) is Answer.BROKEN
