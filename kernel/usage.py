"""What model calls cost: the price table, days and allowances, and what `/usage` says.

Prices are in US dollars for a million tokens, as the makers published them in November 2026 for pay-as-you-go without
discounts: platform.claude.com/docs/en/about-claude/pricing, api-docs.deepseek.com/quick_start/pricing (its dearer
hours), docs.z.ai, alibabacloud.com/help/en/model-studio, platform.kimi.ai/docs/pricing,
developers.openai.com/api/docs/pricing. They are for an estimate: of prices by the length of a request the shortest is
taken, tokens written into a cache count as plain input, and what a reseller or a plan charges is not known. A model
that is not here costs no money, only tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from kernel.messages import Usage
from kernel.ports import Spent
from kernel.texts import say, verbatim

DAYS_SHOWN = 30
"""`/usage` looks back so far."""
MOST_PEOPLE = 10
"""So many persons are named, those who used most."""


@dataclass(frozen=True, slots=True)
class Price:
    """Of a thousand tokens, in millionths of a US dollar: a dollar for a million tokens is 1,000."""

    input: int
    output: int
    cached: int

    def of(self, usage: Usage) -> int:
        """The money in millionths of a US dollar, rounded up."""
        new = max(0, usage.input - usage.cached)
        return -(-(new * self.input + usage.cached * self.cached + usage.output * self.output) // 1000)


_PRICES = (
    # (the whole name without a date; what a thousand tokens cost)
    (r"claude-(?:fable|mythos)-5-1", Price(10_000, 50_000, 250)),
    (r"claude-(?:fable|mythos)-5", Price(10_000, 50_000, 1_000)),
    (r"claude-opus-5-5", Price(4_000, 20_000, 200)),
    (r"claude-opus-(?:5|4-[5-8])", Price(5_000, 25_000, 500)),
    (r"claude-opus-4(?:-[01])?", Price(15_000, 75_000, 1_500)),
    (r"claude-sonnet-5-5", Price(2_000, 10_000, 100)),
    (r"claude-sonnet-5", Price(2_000, 10_000, 200)),
    (r"claude-sonnet-4(?:-[0-6])?", Price(3_000, 15_000, 300)),
    (r"claude-haiku-5-5", Price(100, 500, 10)),
    (r"claude-haiku-4-5", Price(1_000, 5_000, 100)),
    (r"deepseek-v4-pro", Price(1_320, 3_960, 44)),
    (r"deepseek-(?:v4-)?flash|deepseek-chat|deepseek-reasoner", Price(300, 1_200, 6)),
    (r"glm-5-[2-3]", Price(1_400, 4_400, 260)),
    (r"glm-5", Price(1_000, 3_200, 200)),
    (r"glm-4-[67]", Price(600, 2_200, 110)),
    (r"qwen3-max", Price(1_200, 6_000, 240)),
    (r"qwen3-5-plus", Price(400, 2_400, 80)),
    (r"qwen3-5-flash", Price(100, 400, 20)),
    (r"kimi-k3", Price(3_000, 15_000, 300)),
    (r"gpt-5-5", Price(5_000, 30_000, 500)),
    (r"gpt-5-4", Price(2_500, 15_000, 250)),
    (r"gpt-5-4-mini", Price(750, 4_500, 75)),
    (r"gpt-5-4-nano", Price(200, 1_250, 20)),
)
_DATE = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")


def price_of(provider: str) -> Price | None:
    """What the provider of that name (`anthropic:<model>`, `openai:<model>`) takes; None when it is not known."""
    model = provider.partition(":")[2].rpartition("/")[2].lower()  # Resellers put a maker in front: `z-ai/glm-5`.
    name = _DATE.sub("", model).replace(".", "-")
    return next((price for pattern, price in _PRICES if re.fullmatch(pattern, name)), None)


def spent(provider: str, usage: Usage) -> Spent:
    """What a call of the provider of that name used up."""
    price = price_of(provider)
    return Spent(usage.input, usage.output, usage.cached, price.of(usage) if price else 0)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a chat may use up in a day: tokens, money in millionths of a US dollar; None: as much as it likes."""

    tokens: int | None = None
    micro_dollars: int | None = None

    def is_used_up(self, today: Spent) -> bool:
        """Whether the model may not be asked any more on a day on which `today` was used up."""
        tokens, money = self.tokens, self.micro_dollars
        return (tokens is not None and today.tokens >= tokens) or (money is not None and today.micro_dollars >= money)


def day_of(now: datetime, zone: str) -> date:
    """Which day it is in `zone`."""
    return now.astimezone(ZoneInfo(zone)).date()


def next_day(now: datetime, zone: str) -> datetime:
    """When the next day begins in `zone`, aware; where midnight is skipped by a clock change, right after the gap."""
    midnight = datetime.combine(day_of(now, zone) + timedelta(days=1), time(), ZoneInfo(zone))
    # There and back: an instant that does not exist comes out on the other side of the gap.
    return midnight.astimezone(ZoneInfo("UTC")).astimezone(ZoneInfo(zone))


def days_until(today: date, count: int) -> tuple[date, ...]:
    """`today` and the days before it, newest first, `count` in all."""
    return tuple(today - timedelta(days=back) for back in range(count))


@dataclass(frozen=True, slots=True)
class Overview:
    """What `/usage` shows. `days` are the chat's newest first; `people`, by name, are for owners."""

    days: Sequence[Spent] = ()
    allowance: Allowance = Allowance()
    people: Sequence[tuple[str, Spent]] = ()


def most(people: Mapping[str, Spent]) -> list[tuple[str, Spent]]:
    """Those who used most, and how much."""
    known = [(person, used) for person, used in people.items() if person]
    return sorted(known, key=lambda each: (-each[1].tokens, each[0]))[:MOST_PEOPLE]


def overview(shown: Overview, language: str) -> str:
    """The answer to `/usage`, Markdown."""
    lines = [say("usage.head", language)]
    for key, count in (("usage.today", 1), ("usage.week", 7), ("usage.month", DAYS_SHOWN)):
        total = sum(shown.days[:count], Spent())
        lines.append(say(key, language, used=_used(total, language)))
    if limit := _limit(shown.allowance, language):
        lines.append(say("usage.allowance", language, limit=limit))
    if shown.people:
        lines += ["", say("usage.people", language)]
        lines += [f"• {verbatim(name)}: {_total(used, language)}" for name, used in shown.people]
    return "\n".join(lines)


def _used(used: Spent, language: str) -> str:
    if not used.tokens:
        return say("usage.nothing", language)
    parts = {name: f"{getattr(used, name):,}" for name in ("input", "cached", "output")}
    return say("usage.used", language, total=_total(used, language), **parts)


def _total(used: Spent, language: str) -> str:
    """`12,345 tokens`, and the money where it is known."""
    tokens = say("usage.tokens", language, tokens=f"{used.tokens:,}")
    if not used.micro_dollars:
        return tokens
    return say("usage.priced", language, tokens=tokens, money=dollars(used.micro_dollars))


def _limit(allowance: Allowance, language: str) -> str:
    limits: list[str] = []
    if allowance.tokens is not None:
        limits.append(say("usage.tokens", language, tokens=f"{allowance.tokens:,}"))
    if allowance.micro_dollars is not None:
        limits.append(dollars(allowance.micro_dollars))
    return " / ".join(limits)


def dollars(micro: int) -> str:
    """`$1.25`; a small amount with the digits that matter, `$0.0042`."""
    if micro >= 100_000 or not micro:
        return f"${micro / 1_000_000:.2f}"
    return f"${max(micro, 100) / 1_000_000:.4f}"
