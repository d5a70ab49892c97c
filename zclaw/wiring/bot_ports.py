"""What bots use of the stores, as the one value that a driver is handed."""

from __future__ import annotations

from bots.ports import BotPorts
from kernel.ports import Clock
from kernel.stores.stores import Stores


def bot_ports(stores: Stores, clock: Clock) -> BotPorts:
    """The ports of bots over `stores`."""
    return BotPorts(
        conversations=stores.conversations,
        fetches=stores.fetches,
        blobs=stores.blobs,
        outbox=stores.outbox,
        prompts=stores.prompts,
        people=stores.people,
        chats=stores.chats,
        grants=stores.grants,
        rates=stores.rates,
        silences=stores.silences,
        locks=stores.locks,
        wakeups=stores.wakeups,
        clock=clock,
    )
