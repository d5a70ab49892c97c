"""What owners granted, in Redis: one hash a platform, a field a right; the code on offer is a hash of its own."""

from __future__ import annotations

import json
from datetime import datetime
from hashlib import sha256
from typing import cast

from kernel.chat import ConversationId
from kernel.ports.grants import CODE_LIVES, CODE_TRIES, Grant, Granted, Redeemed, Right
from kernel.settings import PlatformId
from kernel.stores import rules
from kernel.stores.keys import GRANTS, HOMES, conversation_of, conversation_piece, decoded, encoded
from kernel.stores.redis.connect import Server

_NOW, _WAS = "now", "was"
"""Fields of chats that moved: what the platform calls one now, and what it was when we first knew it."""


class RedisGrants:
    """`Grants` over one Redis."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def granted(self, person: str, conversation: ConversationId) -> Granted:
        """See `Grants.granted`."""
        rights = [_field(right, person) for right in (Right.OWNER, Right.PERSON, Right.REFUSED)]
        chat = conversation.chat
        found = await self._server.ask(
            "HMGET", GRANTS.of(conversation.platform), *rights, _field(Right.CHAT, chat), _moved(_NOW, chat)
        )
        owner, allowed, refused, is_open, now = cast(list[str | None], found)
        also = (now,) if now is not None else ()
        return Granted(owner is not None, allowed is not None, refused is not None, is_open is not None, also)

    async def give(self, grant: Grant) -> None:
        """See `Grants.give`."""
        key = GRANTS.of(grant.whose.platform)
        await self._server.ask("HSET", key, _field(grant.right, grant.whose.id), _value(grant))
        if grant.right.ends is not None:
            await self._server.ask("HDEL", key, _field(grant.right.ends, grant.whose.id))

    async def take_back(self, grant: Grant) -> None:
        """See `Grants.take_back`."""
        await self._server.ask("HDEL", GRANTS.of(grant.whose.platform), _field(grant.right, grant.whose.id))

    async def given(self, platform: str) -> tuple[Grant, ...]:
        """See `Grants.given`."""
        found = cast(dict[str, str], await self._server.ask("HGETALL", GRANTS.of(platform)))
        words = {right.value: right for right in Right}
        grants = []
        for field, value in found.items():
            word, _, piece = field.partition(":")
            if word in words:
                name = str(json.loads(value)["name"])
                grants.append(Grant(words[word], PlatformId(platform, decoded(piece)), name))
        return tuple(sorted(grants, key=lambda each: (each.right.value, each.whose.id)))

    async def owners(self, platform: str) -> tuple[str, ...]:
        """See `Grants.owners`."""
        return tuple(each.whose.id for each in await self.given(platform) if each.right is Right.OWNER)

    async def settle(self, owner: PlatformId, home: ConversationId) -> None:
        """See `Grants.settle`."""
        await self._server.ask("HSET", HOMES.of(owner.platform), encoded(owner.id), conversation_piece(home))

    async def home(self, owner: PlatformId) -> ConversationId | None:
        """See `Grants.home`."""
        found = cast(str | None, await self._server.ask("HGET", HOMES.of(owner.platform), encoded(owner.id)))
        return conversation_of(found) if found is not None else None

    async def move(self, platform: str, chat: str, to: str) -> None:
        """See `Grants.move`."""
        known = await self.known_as(platform, chat)
        await self._server.ask("HSET", GRANTS.of(platform), _moved(_NOW, known), to, _moved(_WAS, to), known)

    async def known_as(self, platform: str, chat: str) -> str:
        """See `Grants.known_as`."""
        return cast(str | None, await self._server.ask("HGET", GRANTS.of(platform), _moved(_WAS, chat))) or chat

    async def called(self, platform: str, chat: str) -> str:
        """See `Grants.called`."""
        return cast(str | None, await self._server.ask("HGET", GRANTS.of(platform), _moved(_NOW, chat))) or chat

    async def offer(self, code: str, *, now: datetime) -> None:
        """See `Grants.offer`. Of the code only a digest is kept."""
        until = rules.stamp(now + CODE_LIVES)
        await self._server.run("offer", _digest(code), until, int(CODE_LIVES.total_seconds()))

    async def redeem(self, code: str, grant: Grant, event: str, *, now: datetime) -> Redeemed:
        """See `Grants.redeem`."""
        field, platform = _field(grant.right, grant.whose.id), encoded(grant.whose.platform)
        ends = _field(grant.right.ends, grant.whose.id) if grant.right.ends is not None else ""
        word = await self._server.run(
            "redeem", _digest(code), field, _value(grant), ends, platform, event, rules.stamp(now), CODE_TRIES
        )
        return Redeemed(word)


def _field(right: Right, whose: str) -> str:
    return f"{right.value}:{encoded(whose)}"


def _moved(word: str, chat: str) -> str:
    return f"{word}:{encoded(chat)}"


def _value(grant: Grant) -> str:
    return json.dumps({"name": grant.name}, ensure_ascii=False)


def _digest(code: str) -> str:
    return sha256(code.encode()).hexdigest()
