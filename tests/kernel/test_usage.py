"""What calls cost, when a day ends, and what `/usage` says."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from kernel.messages import Usage
from kernel.ports import Spent
from kernel.usage import (
    Allowance,
    Overview,
    day_of,
    days_until,
    dollars,
    most,
    next_day,
    overview,
    price_of,
    spent,
)

CALL = Usage(input=1_000_000, output=100_000, cached=800_000)


@pytest.mark.parametrize(
    ("provider", "micro_dollars"),
    [
        ("anthropic:claude-opus-5-5", 200_000 * 4 + 800_000 * 0.2 + 100_000 * 20),
        ("anthropic:claude-opus-4-5-20251101", 200_000 * 5 + 800_000 * 0.5 + 100_000 * 25),
        ("anthropic:claude-sonnet-4-6", 200_000 * 3 + 800_000 * 0.3 + 100_000 * 15),
        ("anthropic:claude-sonnet-5-5", 200_000 * 2 + 800_000 * 0.1 + 100_000 * 10),
        ("anthropic:claude-haiku-4-5-20251001", 200_000 * 1 + 800_000 * 0.1 + 100_000 * 5),
        ("anthropic:claude-fable-5-20260601", 200_000 * 10 + 800_000 * 1 + 100_000 * 50),
        ("anthropic:claude-fable-5-1", 200_000 * 10 + 800_000 * 0.25 + 100_000 * 50),
        ("openai:anthropic/claude-opus-4.8", 200_000 * 5 + 800_000 * 0.5 + 100_000 * 25),
        ("anthropic:claude-opus-5-6", None),
        ("openai:deepseek-chat", 200_000 * 0.3 + 800_000 * 0.006 + 100_000 * 1.2),
        ("openai:deepseek-ai/DeepSeek-V4-Pro", 200_000 * 1.32 + 800_000 * 0.044 + 100_000 * 3.96),
        ("openai:glm-4.6", 200_000 * 0.6 + 800_000 * 0.11 + 100_000 * 2.2),
        ("openai:qwen3-max-2026-01-23", 200_000 * 1.2 + 800_000 * 0.24 + 100_000 * 6),
        ("openai:qwen2.5:7b", None),
        ("openai:llama-3", None),
        ("scripted", None),
    ],
)
def test_money_is_known_for_models_in_the_table_and_tokens_for_all(provider: str, micro_dollars: float | None) -> None:
    used = spent(provider, CALL)

    assert (used.input, used.output, used.cached) == (1_000_000, 100_000, 800_000)
    assert used.micro_dollars == round(micro_dollars or 0)
    assert (price_of(provider) is None) == (micro_dollars is None)


def test_a_small_call_is_never_free() -> None:
    assert spent("openai:deepseek-chat", Usage(input=1)).micro_dollars == 1


def test_more_cached_than_read_is_no_negative_price() -> None:
    assert spent("anthropic:claude-sonnet-5", Usage(input=0, cached=1000)).micro_dollars == 200


@pytest.mark.parametrize(
    ("allowance", "is_used_up"),
    [
        (Allowance(), False),
        (Allowance(tokens=1101), False),
        (Allowance(tokens=1100), True),
        (Allowance(micro_dollars=5001), False),
        (Allowance(micro_dollars=5000), True),
        (Allowance(tokens=9999, micro_dollars=5000), True),
    ],
)
def test_an_allowance_ends_where_it_is_reached(allowance: Allowance, is_used_up: bool) -> None:
    assert allowance.is_used_up(Spent(1000, 100, 900, 5000)) is is_used_up


@pytest.mark.parametrize(
    ("now", "zone", "day", "begins"),
    [
        (datetime(2026, 11, 30, 15, 59, tzinfo=UTC), "Asia/Shanghai", date(2026, 11, 30), "2026-11-30T16:00"),
        (datetime(2026, 11, 30, 16, 0, tzinfo=UTC), "Asia/Shanghai", date(2026, 12, 1), "2026-12-01T16:00"),
        # Clocks go back in New York on that day: it has 25 hours.
        (datetime(2026, 11, 1, 5, 0, tzinfo=UTC), "America/New_York", date(2026, 11, 1), "2026-11-02T05:00"),
        # Midnight does not exist in Santiago on that day: it begins at one.
        (datetime(2026, 9, 5, 12, 0, tzinfo=UTC), "America/Santiago", date(2026, 9, 5), "2026-09-06T04:00"),
        (datetime(2026, 11, 30, 12, 0, tzinfo=UTC), "Pacific/Kiritimati", date(2026, 12, 1), "2026-12-01T10:00"),
    ],
)
def test_a_day_ends_at_midnight_there(now: datetime, zone: str, day: date, begins: str) -> None:
    assert day_of(now, zone) == day
    assert f"{next_day(now, zone).astimezone(UTC):%Y-%m-%dT%H:%M}" == begins
    assert day_of(next_day(now, zone), zone) == day + timedelta(days=1)


def test_days_go_back_from_today() -> None:
    assert days_until(date(2026, 3, 1), 3) == (date(2026, 3, 1), date(2026, 2, 28), date(2026, 2, 27))


@pytest.mark.parametrize(
    ("micro", "shown"),
    [(0, "$0.00"), (1, "$0.0001"), (4200, "$0.0042"), (99_999, "$0.1000"), (1_254_000, "$1.25"), (2_000_000, "$2.00")],
)
def test_money_is_shown_with_the_digits_that_matter(micro: int, shown: str) -> None:
    assert dollars(micro) == shown


def test_usage_shows_today_a_week_and_a_month() -> None:
    day = Spent(10_000, 500, 8_000, 50_000)

    said = overview(Overview((day, *(Spent(),) * 5, day, Spent(), day)), "en").splitlines()

    assert said == [
        "What this chat used (money is an estimate):",
        "Today: 10,500 tokens, about $0.0500 (in 10,000, of it cached 8,000; out 500)",
        "Last 7 days: 21,000 tokens, about $0.10 (in 20,000, of it cached 16,000; out 1,000)",
        "Last 30 days: 31,500 tokens, about $0.15 (in 30,000, of it cached 24,000; out 1,500)",
    ]


def test_usage_without_any_says_so_and_without_a_price_names_no_money() -> None:
    said = overview(Overview((Spent(), Spent(7, 1))), "zh").splitlines()

    assert said[1] == "今天：没有用量"
    assert said[2] == "最近 7 天：8 tokens（输入 7，其中缓存 0；输出 1）"


def test_usage_names_the_allowance_and_the_people_as_they_call_themselves() -> None:
    shown = Overview(allowance=Allowance(50_000, 2_000_000), people=(("*Ann*", Spent(5, 5)),))

    said = overview(shown, "zh").splitlines()

    assert said[4:] == ["每天最多：50,000 tokens / $2.00", "", "最近 30 天，所有聊天，按人：", "• \\*Ann\\*: 10 tokens"]


def test_those_who_used_most_come_first_and_nobody_stands_for_many() -> None:
    people = {str(number): Spent(number) for number in range(20)} | {"": Spent(999)}

    assert most(people) == [(str(number), Spent(number)) for number in range(19, 9, -1)]
