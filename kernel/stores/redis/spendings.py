"""What model calls used up, in Redis."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from typing import cast

from kernel.chat import ConversationId
from kernel.ports import Spent
from kernel.stores import keys
from kernel.stores.keys import decoded
from kernel.stores.redis.connect import Server

_SUMS = ("input", "output", "cached", "money")


class RedisSpendings:
    """`Spendings` over one Redis; commits write them."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def of_chat(self, conversation: ConversationId, days: Sequence[date]) -> tuple[Spent, ...]:
        """See `Spendings.of_chat`."""
        names = [keys.SPENT.of(conversation.platform, conversation.chat, day.isoformat()) for day in days]
        found = await asyncio.gather(*(self._server.ask("HMGET", name, *_SUMS) for name in names))
        return tuple(spent_of(cast(list[str | None], sums)) for sums in found)

    async def of_people(self, platform: str, days: Sequence[date]) -> Mapping[str, Spent]:
        """See `Spendings.of_people`."""
        names = [keys.SPENT_BY.of(platform, day.isoformat()) for day in days]
        found = await asyncio.gather(*(self._server.ask("HGETALL", name) for name in names))
        totals: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for each in cast(list[dict[str, str]], found):
            for name, amount in each.items():
                person, sum_ = name.split(" ")
                totals[person][sum_] = totals[person].get(sum_, 0) + int(amount)
        return {decoded(person): Spent(*(sums.get(name, 0) for name in _SUMS)) for person, sums in totals.items()}


def spent_of(sums: Sequence[str | None]) -> Spent:
    """The sums as `_spendings.lua` reads them out."""
    return Spent(*(int(each or 0) for each in sums))


def sums_of(spent: Spent) -> list[str]:
    """The amounts as `_spendings.lua` takes them."""
    return [str(each) for each in (spent.input, spent.output, spent.cached, spent.micro_dollars)]
