"""Promise 4: whatever is typed fast reaches the model once, in order, in its own chat, and is answered."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.chaos.outside import Outside
from tests.chaos.processes import processes


@dataclass
class Report:
    """What became of the texts."""

    texts: int = 0
    requests: int = 0
    answers: int = 0
    took_s: float = 0.0
    wrong_requests: list[str] = field(default_factory=list)
    """Requests that do not hold exactly the texts of one chat from the first to a new one, in order."""
    unread: list[str] = field(default_factory=list)
    """Texts that no request held."""
    unanswered: list[str] = field(default_factory=list)
    """Texts that no answer of their chat followed which had read them."""
    answers_by_chat: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The number of the last text that each answer had read."""

    def lines(self) -> str:
        """For people."""
        return (
            f"{self.texts} texts, {self.requests} requests ({len(self.wrong_requests)} wrong), {self.answers} answers, "
            f"unread {len(self.unread)}, unanswered {len(self.unanswered)}, in {self.took_s:.1f} s"
        )


def type_fast(
    folder: Path, *, chats: int, each: int, workers: int, bots: int, fold: bool, within_s: float = 80
) -> Report:
    """So many people type so many messages without a pause; waits until the last of each is answered, or `within_s`."""
    words = () if fold else ("--no-fold",)
    with processes(folder, workers=workers, bots=bots, worker_words=words, calm=True) as here:
        began = time.time()
        _type(here.outside, chats, each, bots)
        deadline = time.time() + within_s
        wanted = chats if fold else chats * each
        while time.time() < deadline and not _is_over(here.outside, each, chats, wanted):
            here.tend()
            time.sleep(0.1)
        report = _judge(here.outside, chats, each)
        report.took_s = time.time() - began
    return report


def _type(outside: Outside, chats: int, each: int, bots: int) -> None:
    """Chats interleave at random, in bursts; within a chat the order is kept."""
    dice = random.Random(5)
    left = {str(chat): iter(range(1, each + 1)) for chat in range(1, chats + 1)}
    while left:
        chat = dice.choice(sorted(left))
        for _ in range(dice.randint(1, 5)):
            number = next(left[chat], None)
            if number is None:
                del left[chat]
                break
            outside.say(f"bot-{int(chat) % bots}", chat, f"text {number} of chat {chat}")


def _is_over(outside: Outside, each: int, chats: int, wanted: int) -> bool:
    seen = outside.seen()
    return len(seen) >= wanted and sum(one.text == f"read {each}" for one in seen) >= chats


def _judge(outside: Outside, chats: int, each: int) -> Report:
    report = Report(texts=chats * each)
    reached: dict[str, int] = defaultdict(int)
    for number, texts in enumerate(outside.asked()):
        report.requests += 1
        chat, last = texts[-1]
        if texts != [(chat, one + 1) for one in range(last)] or last <= reached[chat]:
            report.wrong_requests.append(f"request {number} of chat {chat}, which had {reached[chat]}: {texts[-5:]}")
        reached[chat] = max(reached[chat], last)
    seen = outside.seen()
    report.answers = len(seen)
    for one in seen:
        report.answers_by_chat[one.chat].append(int(one.text.removeprefix("read ")))
    for chat in map(str, range(1, chats + 1)):
        report.unread += [f"{chat}.{number}" for number in range(reached[chat] + 1, each + 1)]
        read = max(report.answers_by_chat[chat], default=0)
        report.unanswered += [f"{chat}.{number}" for number in range(read + 1, each + 1)]
    return report


def check(report: Report, *, fold: bool, each: int) -> None:
    """The promise, with its figures in sight."""
    print(report.lines())
    assert report.wrong_requests == []
    assert report.unread == []
    assert report.unanswered == []
    for answers in report.answers_by_chat.values():
        assert answers == (sorted(set(answers)) if fold else list(range(1, each + 1)))


@pytest.mark.parametrize("fold", [True, False])
def test_what_6_people_type_fast_is_read_once_in_order_and_answered(tmp_path: Path, fold: bool) -> None:
    report = type_fast(tmp_path, chats=6, each=20, workers=2, bots=1, fold=fold)

    check(report, fold=fold, each=20)


@pytest.mark.chaos
@pytest.mark.parametrize("fold", [True, False])
def test_what_20_people_type_fast_is_read_once_in_order_and_answered(tmp_path: Path, fold: bool) -> None:
    report = type_fast(tmp_path, chats=20, each=100, workers=8, bots=4, fold=fold, within_s=900)

    check(report, fold=fold, each=100)
    assert report.texts == 2000
