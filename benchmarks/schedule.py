"""How well the schedule language understands a corpus, side by side with public libraries.

    python benchmarks/schedule.py [CORPUS ...] [--repeat 3] [--fuzz 2000]

The corpus has one case a line, as tests/kernel/schedule/cases.jsonl, which is the default. Columns: precision and
recall of intent; first fire right; all of up to five right (a bounded series must also end right); asks when it must;
body right; manage right; confidently wrong first fire, of all messages; microseconds a message, median and 95th
percentile. Below: how often each level of confidence was right, memory, and a fuzz run.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import time
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

HERE = Path(__file__).resolve().parent
OWN_CASES = HERE.parent / "tests" / "kernel" / "schedule" / "cases.jsonl"
SLOW_MS = 5.0


@dataclass(frozen=True, slots=True)
class Case:
    """One message of the corpus with what should be understood."""

    id: str
    text: str
    now: datetime
    zone: str
    expect: dict[str, Any]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a parser made of a message."""

    intent: bool = False
    ask: bool = False
    fires: tuple[datetime, ...] = ()
    end: datetime | None = None
    body: str = ""
    manage: str | None = None
    confidence: float | None = None


@dataclass(slots=True)
class Score:
    """Counted verdicts; lists of booleans become shares."""

    name: str
    intents: list[tuple[bool, bool]] = field(default_factory=list)
    first: list[bool] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    ask: list[bool] = field(default_factory=list)
    body: list[bool] = field(default_factory=list)
    manage: list[bool] = field(default_factory=list)
    wrong: list[bool] = field(default_factory=list)
    times_us: list[float] = field(default_factory=list)
    confident: list[tuple[float, bool]] = field(default_factory=list)
    crashes: int = 0


Parser = Callable[[Case], Answer]


def load(path: Path) -> list[Case]:
    cases = []
    for line in path.read_text(encoding="utf8").splitlines():
        found = json.loads(line)
        now = datetime.fromisoformat(found["now"]).astimezone(ZoneInfo(found["tz"]))
        cases.append(Case(found["id"], found["text"], now, found["tz"], found["expect"], tuple(found["tags"])))
    return cases


def _instant(written: str) -> datetime:
    return datetime.fromisoformat(written).astimezone(UTC).replace(microsecond=0)


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _same(fires: tuple[datetime, ...], want: list[datetime], first: list[datetime]) -> bool:
    if len(want) < 5 and len(want) == len(first):
        return list(fires) == want
    return list(fires[: len(want)]) == want


def judge(case: Case, answer: Answer, score: Score) -> None:
    """Adds the verdict on one answer; the rules are those of the corpus."""
    expect = case.expect
    if answer.confidence is not None and answer.intent and answer.fires:
        score.confident.append((answer.confidence, _is_first_right(expect, answer)))
    live = answer.intent and not answer.ask and bool(answer.fires)
    if not expect["intent"]:
        fair = bool(expect.get("ask_ok")) and answer.ask
        score.intents.append((False, answer.intent and not fair))
        acts = answer.manage is not None and not expect.get("manage") and "judgement" not in case.tags
        score.wrong.append(live or acts)
        if expect.get("manage"):
            fine = {expect["manage"]}
            if "judgement" in case.tags and fine & {"cancel", "pause"}:
                fine = {"cancel", "pause"}
            score.manage.append(not answer.intent and answer.manage in fine)
        return
    score.intents.append((True, answer.intent))
    if expect["ask"]:
        score.ask.append(answer.intent and answer.ask)
        score.wrong.append(live)
    else:
        _judge_times(answer, expect, score, live=live)
    if expect["body_contains"]:
        body = _folded(answer.body)
        holds = all(_folded(part) in body for part in expect["body_contains"])
        clean = not any(_folded(part) in body for part in expect["body_excludes"])
        score.body.append(answer.intent and holds and clean)


def _is_first_right(expect: dict[str, Any], answer: Answer) -> bool:
    """Of a schedule, created or held back for its low confidence: whether it would have fired when it should."""
    if not expect["intent"] or expect["ask"]:
        return False
    wanted = [each[0] for each in (expect["fires"], *expect.get("accept", []))]
    return answer.fires[0] in {_instant(each) for each in wanted}


def _judge_times(answer: Answer, expect: dict[str, Any], score: Score, *, live: bool) -> None:
    if expect.get("ask_ok") and answer.intent and answer.ask:
        score.first.append(True)
        score.whole.append(True)
        score.wrong.append(False)
        return
    wanted = [[_instant(t) for t in each] for each in [expect["fires"], *expect.get("accept", [])]]
    first = live and any(answer.fires[0] == want[0] for want in wanted)
    whole = live and any(_same(answer.fires, want, wanted[0]) for want in wanted)
    if whole and expect["ends"] and len(expect["fires"]) >= 5:
        late = None if answer.end is None else answer.end - _instant(expect["ends"])
        whole = late is not None and timedelta() <= late < timedelta(days=1)
    score.first.append(first)
    score.whole.append(whole)
    score.wrong.append(live and not first)


def measure(name: str, parser: Parser, timed: Callable[[Case], object], cases: list[Case], repeat: int) -> Score:
    """Scores a parser; `timed` is what its time is taken of (parsing alone, without listing the fires)."""
    score = Score(name)
    for case in cases:
        try:
            answer = parser(case)
        except Exception:  # A crash of any parser is a miss, and is counted.
            score.crashes += 1
            answer = Answer()
        judge(case, answer, score)
        best = float("inf")
        for _ in range(repeat):
            began = time.perf_counter()
            try:
                timed(case)
            except Exception:  # Counted above.
                break
            best = min(best, time.perf_counter() - began)
        score.times_us.append(best * 1e6)
    return score


# --- parsers


def _ours_answer(case: Case) -> Answer:
    from kernel.schedule.parse import parse
    from kernel.schedule.values import CREATE_FROM
    from kernel.triggers import ends, fires

    found = parse(case.text, now=case.now, zone=case.zone)
    times: tuple[datetime, ...] = ()
    end = None
    if found.schedule is not None:
        times = fires(found.schedule, found.zone, case.now.astimezone(UTC), 5)
        end = ends(found.schedule, found.zone, case.now.astimezone(UTC))
    body = " ".join((*found.mentions, found.body))
    manage = found.manage.value if found.manage else None
    times = tuple(each.replace(microsecond=0) for each in times)
    asks = found.question is not None or (found.schedule is not None and found.confidence < CREATE_FROM)
    return Answer(found.is_request, asks, times, end, body, manage, found.confidence)


def _ours_timed(case: Case) -> object:
    from kernel.schedule.parse import parse

    return parse(case.text, now=case.now, zone=case.zone)


def _dateparser(case: Case) -> Answer:
    settings = {
        "RELATIVE_BASE": case.now.replace(tzinfo=None),
        "PREFER_DATES_FROM": "future",
        "TIMEZONE": case.zone,
        "RETURN_AS_TIMEZONE_AWARE": True,
    }
    found = import_module("dateparser.search").search_dates(case.text, languages=["zh", "en"], settings=settings)
    if not found:
        return Answer()
    body = case.text
    for words, _ in found:
        body = body.replace(words, "")
    return Answer(intent=True, fires=tuple(at.astimezone(UTC).replace(microsecond=0) for _, at in found[:5]), body=body)


def _recurrent(case: Case) -> Answer:
    from dateutil.rrule import rrulestr

    local = case.now.replace(tzinfo=None)
    event = import_module("recurrent.event_parser").RecurringEvent(now_date=local)
    found = event.parse(case.text)
    if not found:
        return Answer()
    zone = ZoneInfo(case.zone)
    if isinstance(found, datetime):
        times: Iterable[datetime] = [found]
    else:
        times = [
            at for _, at in zip(range(5), rrulestr(event.get_RFC_rrule(), dtstart=local).xafter(local), strict=False)
        ]
    fires = tuple(at.replace(tzinfo=zone).astimezone(UTC).replace(microsecond=0) for at in times)
    return Answer(intent=True, fires=fires, body=case.text)


def _parsedatetime(case: Case) -> Answer:
    at, context = import_module("parsedatetime").Calendar().parseDT(case.text, sourceTime=case.now.replace(tzinfo=None))
    if not context:
        return Answer()
    fire = at.replace(tzinfo=ZoneInfo(case.zone)).astimezone(UTC).replace(microsecond=0)
    return Answer(intent=True, fires=(fire,), body=case.text)


PUBLIC: dict[str, Parser] = {"dateparser": _dateparser, "recurrent": _recurrent, "parsedatetime": _parsedatetime}


# --- report


def _share(values: list[bool]) -> str:
    return f"{100 * sum(values) / len(values):6.1f}" if values else "     -"


def row(score: Score) -> str:
    hits = sum(want and got for want, got in score.intents)
    said = sum(got for _, got in score.intents)
    asked = sum(want for want, _ in score.intents)
    precision = f"{100 * hits / said:6.1f}" if said else "     -"
    recall = f"{100 * hits / asked:6.1f}" if asked else "     -"
    times = sorted(score.times_us)
    late = times[int(0.95 * (len(times) - 1))]
    shares = " ".join(
        _share(each) for each in (score.first, score.whole, score.ask, score.body, score.manage, score.wrong)
    )
    return (
        f"{score.name:14}{precision} {recall} {shares} {statistics.median(times):8.0f} {late:8.0f} {score.crashes:6d}"
    )


BINS = ((0.0, 0.8), (0.8, 0.86), (0.86, 0.9), (0.9, 0.94), (0.94, 0.97), (0.97, 0.985), (0.985, 1.01))


def reliability(score: Score) -> str:
    """For each bin of confidence how many schedules fell into it, their mean confidence, and the share right."""
    lines = [f"  {'confidence':14}{'count':>7}{'mean':>8}{'right %':>9}"]
    for low, high in BINS:
        inside = [(sure, right) for sure, right in score.confident if low <= sure < high]
        if inside:
            mean = statistics.mean(sure for sure, _ in inside)
            share = _share([right for _, right in inside]).strip()
            lines.append(f"  {f'{low:g} to {min(high, 1.0):g}':14}{len(inside):7}{mean:8.2f}{share:>9}")
    return "\n".join(lines)


def memory_mb() -> float:
    """What the grammar holds after it has read a message, in MB."""
    import subprocess
    import sys

    code = (
        "import tracemalloc; tracemalloc.start(); from kernel.schedule.parse import parse; from datetime import *; "
        "parse('每天早上9点提醒我查房', now=datetime.now(UTC), zone='Asia/Shanghai'); "
        "print(tracemalloc.get_traced_memory()[1] / 1e6)"
    )
    root = str(HERE.parent)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root, timeout=60)
    return float(ran.stdout)


def fuzz(cases: list[Case], count: int) -> str:
    """Pieces of the corpus in any order, repeated, mixed with any characters, up to 10,000 long."""
    from kernel.schedule.parse import parse

    source = random.Random(20260310)
    pieces = [c.text[i : i + source.randint(1, 8)] for c in cases for i in range(0, len(c.text), 3)]
    crashes, slow, worst = 0, 0, 0.0
    for n in range(count):
        match n % 5:
            case 0:
                text = "".join(source.choice(pieces) for _ in range(source.randint(1, 16)))
            case 1:
                text = " ".join(source.choice(pieces) for _ in range(source.randint(1, 70)))
            case 2:
                text = source.choice(pieces) * source.randint(1, 3000)
            case 3:
                text = "".join(
                    chr(source.choice((source.randint(1, 0x3000), source.randint(0x4E00, 0x9FFF)))) for _ in range(300)
                )
            case _:
                text = source.choice(cases).text + source.choice(cases).text
        case = source.choice(cases)
        took = float("inf")
        for _ in range(3):
            began = time.thread_time()
            try:
                parse(text[:10_000], now=case.now, zone=case.zone)
            except Exception:  # What the fuzz run is for.
                crashes += 1
            took = min(took, (time.thread_time() - began) * 1000)
            if took <= SLOW_MS:
                break  # Else it may have been a collection of garbage, which is not the message's.
        worst = max(worst, took)
        slow += took > SLOW_MS
    return f"fuzz: {count} messages, {crashes} crashes, {slow} over {SLOW_MS:g} ms, worst {worst:.1f} ms"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpus", nargs="*", type=Path, default=[OWN_CASES])
    options.add_argument("--repeat", type=int, default=3, help="time each message so often, keep the best")
    options.add_argument("--fuzz", type=int, default=2000, help="messages of the fuzz run")
    options.add_argument("--alone", action="store_true", help="without the public libraries")
    given = options.parse_args()
    cases = [case for path in given.corpus for case in load(path)]
    print(f"{len(cases)} messages of {', '.join(path.name for path in given.corpus)}")
    heads = ("prec", "rec", "first", "all<=5", "ask", "body", "manage", "wrong")
    print(" " * 14 + " ".join(f"{head:>6}" for head in heads) + f" {'median':>8} {'p95 us':>8} {'crash':>6}")
    ours = measure("zclaw", _ours_answer, _ours_timed, cases, given.repeat)
    print(row(ours))
    for name, parser in () if given.alone else PUBLIC.items():
        try:
            import_module(name)
        except ImportError:
            print(f"{name:14}not installed")
            continue
        gc.collect()
        print(row(measure(name, parser, parser, cases, 1)))
    print("confidence of a schedule (below 0.8 it is not created), and how often its first fire was right")
    print(reliability(ours))
    print(f"memory: {memory_mb():.1f} MB")
    print(fuzz(cases, given.fuzz))


if __name__ == "__main__":
    main()
