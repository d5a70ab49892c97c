"""What owners granted, in memory."""

from __future__ import annotations

from datetime import datetime

from kernel.chat import ConversationId
from kernel.ports.grants import CODE_LIVES, CODE_TRIES, Grant, Granted, Redeemed, Right
from kernel.settings import PlatformId
from kernel.stores.memory.grant_book import GrantBook, Offer
from kernel.stores.memory.state import Memory


class MemoryGrants:
    """The twin of `RedisGrants`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @property
    def _book(self) -> GrantBook:
        self._memory.here()
        return self._memory.grants

    async def granted(self, person: str, conversation: ConversationId) -> Granted:
        """See `Grants.granted`."""
        grants = self._book.grants
        who, chat = PlatformId(conversation.platform, person), PlatformId(conversation.platform, conversation.chat)
        now = self._book.now.get(chat)
        return Granted(
            is_owner=(Right.OWNER, who) in grants,
            is_allowed=(Right.PERSON, who) in grants,
            is_refused=(Right.REFUSED, who) in grants,
            is_open=(Right.CHAT, chat) in grants,
            also_known_as=(now,) if now is not None else (),
        )

    async def give(self, grant: Grant) -> None:
        """See `Grants.give`."""
        self._book.grants[grant.right, grant.whose] = grant
        if grant.right.ends is not None:
            self._book.grants.pop((grant.right.ends, grant.whose), None)

    async def take_back(self, grant: Grant) -> None:
        """See `Grants.take_back`."""
        self._book.grants.pop((grant.right, grant.whose), None)

    async def given(self, platform: str) -> tuple[Grant, ...]:
        """See `Grants.given`."""
        found = [each for each in self._book.grants.values() if each.whose.platform == platform]
        return tuple(sorted(found, key=lambda each: (each.right.value, each.whose.id)))

    async def owners(self, platform: str) -> tuple[str, ...]:
        """See `Grants.owners`."""
        return tuple(each.whose.id for each in await self.given(platform) if each.right is Right.OWNER)

    async def settle(self, owner: PlatformId, home: ConversationId) -> None:
        """See `Grants.settle`."""
        self._book.homes[owner] = home

    async def home(self, owner: PlatformId) -> ConversationId | None:
        """See `Grants.home`."""
        return self._book.homes.get(owner)

    async def move(self, platform: str, chat: str, to: str) -> None:
        """See `Grants.move`."""
        known = await self.known_as(platform, chat)
        self._book.now[PlatformId(platform, known)] = to
        self._book.was[PlatformId(platform, to)] = known

    async def known_as(self, platform: str, chat: str) -> str:
        """See `Grants.known_as`."""
        return self._book.was.get(PlatformId(platform, chat), chat)

    async def called(self, platform: str, chat: str) -> str:
        """See `Grants.called`."""
        return self._book.now.get(PlatformId(platform, chat), chat)

    async def offer(self, code: str, *, now: datetime) -> None:
        """See `Grants.offer`."""
        self._book.offer = Offer(code, now + CODE_LIVES)

    async def redeem(self, code: str, grant: Grant, event: str, *, now: datetime) -> Redeemed:
        """See `Grants.redeem`."""
        offer = self._book.offer
        if offer is None or now >= offer.until:
            return Redeemed.NONE
        if offer.used is not None:
            is_again = offer.used == grant.whose and offer.code == code
            return Redeemed.OWNER if is_again else Redeemed.NONE
        if len(offer.wrong) >= CODE_TRIES:
            return Redeemed.WRONG
        if offer.code != code:
            offer.wrong.add(event)
            return Redeemed.WRONG
        offer.used = grant.whose
        await self.give(grant)
        return Redeemed.OWNER
