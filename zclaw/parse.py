"""`zclaw parse`: what the schedule language understands, without a model and without a store."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TextIO
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kernel.errors import BadSchedule, BadSettings
from kernel.schedule.parse import parse
from kernel.schedule.values import CREATE_FROM, Once, ScheduleIntent

_SHOWN = 5
_WRONG_USE = 2
"""Exit code for wrong use, as every command has it."""


@dataclass(frozen=True, slots=True)
class _Line:
    id: object
    text: str
    now: datetime
    zone: str


def run(argv: Sequence[str]) -> int:
    """Exit code: 0 fine, 2 for wrong use: no text, or a line of --jsonl that cannot be read. Raises BadSettings."""
    parser = argparse.ArgumentParser(prog="zclaw parse", description="Show how a message is understood.")
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the message; absent: standard input")
    parser.add_argument("--jsonl", action="store_true", help='read lines of {"id","text","now","tz"}, write results')
    parser.add_argument("--now", metavar="ISO", help="when the message was sent; absent: now")
    parser.add_argument("--tz", metavar="ZONE", help="the chat's zone, as Asia/Shanghai; absent: ZCLAW_TIMEZONE")
    arguments = parser.parse_args(argv)
    zone = _zone(arguments.tz) if arguments.tz or arguments.jsonl else _configured_zone()
    now = _now(arguments.now, zone)
    # A byte that is no text is said with its line; it must not end the rest.
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    if arguments.jsonl:
        if arguments.text:
            sys.stderr.write("With --jsonl the texts come in on standard input: leave TEXT out.\n")
            return _WRONG_USE
        return _answer_lines(sys.stdin, sys.stdout, now, zone)
    text = (" ".join(arguments.text) if arguments.text else sys.stdin.read()).strip()
    if not text or not _is_text(text):
        why = "it is not UTF-8" if text else "it is empty"
        sys.stderr.write(f"There is no text to read ({why}): say `zclaw parse '每天早上9点提醒我查房'`.\n")
        return _WRONG_USE
    sys.stdout.write(_shown(parse(text, now=now, zone=zone), text, now))
    return 0


def _configured_zone() -> str:
    from kernel import config  # noqa: PLC0415  (90 ms that --tz and --jsonl save)

    return str(config.read().settings(config.CommonSettings).timezone)


@lru_cache(maxsize=64)
def _zone(name: str | None) -> str:
    try:
        return str(ZoneInfo(name or "UTC"))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadSettings(f"There is no time zone {name!r}; write it like Asia/Shanghai.") from error


def _now(written: str | None, zone: str) -> datetime:
    if written is None:
        return datetime.now(UTC)
    try:
        now = datetime.fromisoformat(written)
    except ValueError as error:
        raise BadSettings(f"A time must look like 2026-03-10T10:00, not {written!r}.") from error
    return now if now.tzinfo else now.replace(tzinfo=ZoneInfo(zone))


def _shown(found: ScheduleIntent, text: str, now: datetime) -> str:
    lines: list[tuple[str, str]] = []
    if found.manage is not None:
        lines.append(("understood", f"manage: {found.manage.value}"))
    elif not found.is_request:
        lines.append(("understood", "not a request"))
    elif found.question is not None:
        lines.append(("understood", f"a request to ask back about ({found.question.doubt.value})"))
        lines.append(("question", found.question.text))
        lines.extend(("choice", choice.label) for choice in found.question.choices)
    else:
        lines.append(("understood", _kind(found) + (" run" if found.is_agent_run else " reminder")))
    if found.is_request:
        lines.append(("body", found.body))
    elif found.body:
        lines.append(("about", found.body))
    if found.mentions:
        lines.append(("for", ", ".join(found.mentions)))
    if found.schedule is not None:
        lines.extend(_times(found, text, now))
        lines.append(("confidence", f"{found.confidence:.2f}"))
    return "".join(f"{name + ':':12}{value}\n" for name, value in lines)


def _times(found: ScheduleIntent, text: str, now: datetime) -> Iterable[tuple[str, str]]:
    from kernel.schedule.reading import describe, zone_name  # noqa: PLC0415  (only a clear request needs words)
    from kernel.texts import say, written_in  # noqa: PLC0415  (as above)

    assert found.schedule is not None
    language = written_in(text) or "en"
    yield "reading", describe(found.schedule, found.zone, language)
    yield "zone", zone_name(found.zone)
    try:
        times = _fires(found, now)
    except BadSchedule as error:  # The published calendar does not reach the first time.
        yield "next", say(error.key, language, **error.fields)
        return
    for fire in times:
        yield "next", fire.astimezone(ZoneInfo(found.zone)).isoformat(sep=" ", timespec="seconds")


def _kind(found: ScheduleIntent) -> str:
    return "once" if isinstance(found.schedule, Once) else "recurring"


def _fires(found: ScheduleIntent, now: datetime) -> tuple[datetime, ...]:
    if isinstance(found.schedule, Once):
        return found.schedule.times[:_SHOWN]
    from kernel.triggers import fires  # noqa: PLC0415  (a one-shot does not need it)

    assert found.schedule is not None
    return fires(found.schedule, found.zone, now, _SHOWN)


def _answer_lines(lines: Iterable[str], out: TextIO, now: datetime, zone: str) -> int:
    code = 0
    for number, written in enumerate(lines, 1):
        if not written.strip():
            continue
        try:
            line = _read_line(written, now, zone)
        except BadSettings as error:
            sys.stderr.write(f"line {number}: {error}\n")
            code = _WRONG_USE
            continue
        out.write(json.dumps(_answer(line), ensure_ascii=False) + "\n")
    return code


def _read_line(written: str, now: datetime, zone: str) -> _Line:
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadSettings('This is not a JSON object like {"text": "…"}.')
    if not isinstance(found.get("text"), str):
        raise BadSettings('"text" is not there.' if "text" not in found else '"text" must be a string.')
    # What cannot be written out again: half of a character, as an escape or as bytes.
    if not _is_text(json.dumps(found, ensure_ascii=False)):
        raise BadSettings("This is not UTF-8 text.")
    line_zone = _zone(str(found["tz"])) if found.get("tz") else zone
    line_now = _now(str(found["now"]), line_zone) if found.get("now") else now
    return _Line(found.get("id"), found["text"], line_now, line_zone)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _answer(line: _Line) -> dict[str, object]:
    """One line of --jsonl. A schedule below the confidence to create counts as one to ask about."""
    found = parse(line.text, now=line.now, zone=line.zone)
    answer: dict[str, object] = {
        "id": line.id,
        "intent": found.is_request,
        "kind": _kind(found) if found.schedule is not None else None,
        "fires": [],
        "body": _body(found),
        "ask": found.question is not None or (found.schedule is not None and found.confidence < CREATE_FROM),
        "manage": found.manage.value if found.manage is not None else None,
        "ends": None,
    }
    if found.schedule is not None and not answer["ask"]:
        clock = ZoneInfo(line.zone)
        try:
            answer["fires"] = [each.astimezone(clock).isoformat() for each in _fires(found, line.now)]
            answer["ends"] = _end(found, line.now, clock)
        except BadSchedule:
            answer["ask"] = True  # The published calendar does not reach the first time.
    return answer


def _body(found: ScheduleIntent) -> str:
    """The body with the people it is for, so that none of them is lost."""
    return " ".join((*found.mentions, found.body)) if found.mentions else found.body


def _end(found: ScheduleIntent, now: datetime, clock: ZoneInfo) -> str | None:
    if isinstance(found.schedule, Once):
        return None
    from kernel.triggers import ends  # noqa: PLC0415  (a one-shot does not need it)

    assert found.schedule is not None
    end = ends(found.schedule, found.zone, now)
    return None if end is None else end.astimezone(clock).isoformat()
