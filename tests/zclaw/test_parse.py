"""The parse command: a card for people, lines for machines."""

from __future__ import annotations

import io
import json
import sys

import pytest

from kernel.errors import BadSettings
from zclaw.parse import run


def test_a_message_is_shown_with_its_reading_and_next_times(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["--tz", "Asia/Shanghai", "--now", "2026-04-22T10:30", "每天早上9点提醒我查房"])

    shown = capsys.readouterr().out
    assert code == 0
    assert "每天 09:00" in shown
    assert "查房" in shown
    assert shown.count("next:") == 5
    assert "2026-04-23 09:00:00+08:00" in shown


def test_a_year_whose_holidays_are_not_published_is_said_kindly(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["--tz", "Asia/Shanghai", "--now", "2095-02-01T10:00", "法定工作日早上8点提醒我打卡"])

    shown = capsys.readouterr().out
    assert code == 0
    assert "每个法定工作日 08:00" in shown
    assert "法定节假日安排只公布到" in shown


def test_an_unclear_message_is_shown_with_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--tz", "Asia/Shanghai", "--now", "2026-04-22T10:30", "remind", "me", "tomorrow", "to", "call"])

    shown = capsys.readouterr().out
    assert "ask back" in shown
    assert "At what time?" in shown


def test_words_that_manage_are_shown_with_what_they_name(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--tz", "Asia/Shanghai", "--now", "2026-04-22T10:30", "吃药的提醒不用了"])

    shown = capsys.readouterr().out
    assert "manage: cancel" in shown
    assert "吃药" in shown


def test_lines_go_in_and_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"id": 1, "text": "明天下午3点提醒 @小王 交合同", "now": "2026-04-22T10:30:00+08:00", "tz": "Asia/Shanghai"},
        {"id": 2, "text": "删除所有提醒", "now": "2026-04-22T10:30:00+08:00", "tz": "Asia/Shanghai"},
        {"id": 3, "text": "明天提醒我交材料", "now": "2026-04-22T10:30:00+08:00", "tz": "Asia/Shanghai"},
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(map(json.dumps, lines))))

    code = run(["--jsonl"])

    once, managed, asked = map(json.loads, capsys.readouterr().out.splitlines())
    assert code == 0
    assert once == {
        "id": 1,
        "intent": True,
        "kind": "once",
        "fires": ["2026-04-23T15:00:00+08:00"],
        "body": "小王 交合同",
        "ask": False,
        "manage": None,
        "ends": None,
    }
    assert (managed["intent"], managed["manage"]) == (False, "cancel")
    assert (asked["intent"], asked["ask"], asked["fires"]) == (True, True, [])


def test_a_bounded_series_says_when_it_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {
        "id": 1,
        "text": "接下来7天每天晚上10点提醒我敷面膜",
        "now": "2026-04-22T10:30:00+08:00",
        "tz": "Asia/Shanghai",
    }
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(line)))

    run(["--jsonl"])

    found = json.loads(capsys.readouterr().out)
    assert found["ends"] == "2026-04-28T22:00:00+08:00"


def test_an_unreadable_line_is_named_and_the_rest_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"id": 1}\nnonsense\n{"id": 3, "text": "hi"}\n'))

    code = run(["--jsonl", "--tz", "UTC"])

    written = capsys.readouterr()
    assert code == 1
    assert "line 1" in written.err
    assert "line 2" in written.err
    assert json.loads(written.out)["id"] == 3


def test_an_unknown_zone_is_wrong_use() -> None:
    with pytest.raises(BadSettings):
        run(["--tz", "Asia/Nowhere", "hi"])
