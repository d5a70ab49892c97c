"""An adapter process of a chaos run: the real driver over a platform that lives outside.

python -m tests.chaos.bot STORE_URL OUTSIDE_URL NAME [--calm]
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bots.driver import Driver
from kernel.access import Access
from kernel.chat import ConversationId, MessageRef, Notice, Prompt, PromptClosed, Reply, Sender, UserMessage
from kernel.clock import SystemClock
from kernel.logs import set_up
from kernel.ports import Deliver, Delivery, Outbox
from kernel.settings import AccessRule
from kernel.stores.redis.stores import open_stores
from tests.chaos.outside import Fuse, Outside
from zclaw.wiring.bot_ports import bot_ports
from zclaw.wiring.parts import process_name, until_told

POLL_S = 0.02


class OutsideAdapter:
    """See `Adapter`: updates come and messages go through the outside world."""

    platform = "outside"
    typing_every = timedelta(seconds=4)

    def __init__(self, outside: Outside, fuse: Fuse, name: str) -> None:
        self._outside = outside
        self._fuse = fuse
        self._name = name

    async def run(self, deliver: Deliver) -> None:
        """See `Adapter.run`."""
        while True:
            found = self._outside.update(self._name)
            if found is None:
                await asyncio.sleep(POLL_S)
                continue
            number, chat, text = found
            here = ConversationId(self.platform, chat)
            event = f"{self._name}:{number}"
            await deliver(UserMessage(event, here, Sender(chat), number, datetime.now(UTC), text))
            self._fuse.at("after put")
            self._outside.confirm(self._name, number)

    def split(self, outbound: Reply | Prompt) -> tuple[str, ...]:
        """One part."""
        return (outbound.text,)

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        """Show it."""
        ref = MessageRef(outbound.conversation, self._outside.show(outbound.conversation.chat, part))
        self._fuse.at("between send and its record")
        return ref

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        """There are no prompts here."""

    async def notify(self, notice: Notice) -> None:
        """There are no presses here."""

    async def typing(self, conversation: ConversationId) -> None:
        """Nobody looks."""


class FusedOutbox:
    """The real outbox, with a fuse behind the record of a sent part."""

    def __init__(self, inner: Outbox, fuse: Fuse) -> None:
        self._inner = inner
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def sent(self, delivery: Delivery, ref: MessageRef | None, *, now: datetime) -> Delivery:
        """As the real one."""
        recorded = await self._inner.sent(delivery, ref, now=now)
        self._fuse.at("after the record of a send")
        return recorded


def main(store_url: str, outside_url: str, name: str, *words: str) -> int:
    """Carry until told to stop."""
    set_up("warning")
    outside = Outside(outside_url)
    fuse = Fuse(outside, is_live="--calm" not in words)
    fuse.watch(outside_url)

    async def live() -> None:
        clock = SystemClock()
        stores = await open_stores(store_url, clock)
        stores = replace(stores, outbox=FusedOutbox(stores.outbox, fuse))
        await Driver(
            OutsideAdapter(outside, fuse, name),
            access=Access(rule=AccessRule.OPEN),
            ports=bot_ports(stores, clock),
            holder=process_name(),
            language="en",
        ).run()

    return until_told(live)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
