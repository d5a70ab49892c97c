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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('"hi"', "not a JSON object"),
        ('{"id": 1}', '"text" is not there'),
        ('{"text": null}', '"text" must be a string'),
        ('{"text": "\\ud800"}', "not UTF-8"),
        ('{"text": "hi", "now": "soon"}', "must look like 2026-03-10T10:00"),
        ('{"text": "hi", "tz": "Asia/Nowhere"}', "no time zone 'Asia/Nowhere'"),
    ],
)
def test_an_unreadable_line_is_named_in_one_line_and_the_rest_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f'\n{line}\n{{"id": 3, "text": ""}}\n'))

    code = run(["--jsonl", "--tz", "UTC"])

    written = capsys.readouterr()
    assert code == 2
    assert written.err.startswith("line 2: ")
    assert said in written.err
    assert written.err.count("\n") == 1
    assert json.loads(written.out)["id"] == 3


def test_bytes_that_are_no_text_are_named_with_their_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = '{"id": 1, "text": "你好"}\n'.encode() + b'{"text": "\xff"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines), encoding="utf-8"))

    assert run(["--jsonl", "--tz", "UTC"]) == 2

    written = capsys.readouterr()
    assert json.loads(written.out)["id"] == 1
    assert written.err == "line 2: This is not UTF-8 text.\n"


@pytest.mark.parametrize(("words", "piped"), [([""], "hi"), (["", " "], "hi"), ([], ""), ([], " \n"), ([], "\udcff")])
def test_without_a_text_one_line_says_how_it_is_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], piped: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(piped))

    assert run(["--tz", "UTC", *words]) == 2

    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("There is no text to read")
    assert written.err.count("\n") == 1


def test_a_text_beside_lines_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--jsonl", "每天9点提醒我查房"]) == 2

    assert "leave TEXT out" in capsys.readouterr().err


def test_an_unknown_zone_is_wrong_use() -> None:
    with pytest.raises(BadSettings):
        run(["--tz", "Asia/Nowhere", "hi"])
