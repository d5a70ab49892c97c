"""Those who may not talk: told so once a day, asked about once a day, and made owners by the right code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from bots.ports import BotPorts
from kernel import texts
from kernel.access import Rights, Standing
from kernel.chat import (
    AccessRequested,
    ButtonPress,
    ChatChanged,
    ConversationId,
    Inbound,
    Notice,
    Outbound,
    Reply,
    Sender,
    UserMessage,
)
from kernel.pairing import code_in
from kernel.patience import patiently
from kernel.ports import Grant, Redeemed, Right
from kernel.ports.grants import CODE_LIVES, CODE_TRIES
from kernel.ports.rates import Counted
from kernel.settings import AccessRule, PlatformId

log = structlog.get_logger(__name__)


class Strangers:
    """What the entrance does about people without rights, and about who adds the bot to a group.

    `store` puts an inbound into the conversation that it names; `say` adds to the outbox.
    """

    def __init__(
        self,
        rights: Rights,
        ports: BotPorts,
        language: str,
        *,
        store: Callable[[Inbound], Awaitable[object]],
        say: Callable[[Outbound], Awaitable[None]],
    ) -> None:
        self._rights = rights
        self._ports = ports
        self._language = language
        self._store = store
        self._say = say

    async def pairs(self, message: UserMessage) -> bool:
        """Whether the message was a pairing code, right or wrong, and has been answered."""
        code = code_in(message.text) if message.is_private and not message.sender.is_bot else None
        if code is None or self._rights.rule is AccessRule.ALLOWLIST:
            return False
        clock, who = self._ports.clock, PlatformId(message.conversation.platform, message.sender.id)
        grant = Grant(Right.OWNER, who, message.sender.name)
        redeemed = await patiently(
            clock, lambda: self._ports.grants.redeem(code, grant, message.event, now=clock.now())
        )
        if redeemed is Redeemed.NONE and await self._is_owned(who.platform):
            return False
        if redeemed is Redeemed.OWNER:
            log.warning("paired with an owner", platform=who.platform, person=who.id)
            await patiently(clock, lambda: self._ports.people.see(who.platform, message.sender))
            await self.settle(message)
        else:
            guesses = await self._guesses(who, message.event)
            if guesses.is_again:
                return True
            if guesses.number > CODE_TRIES:
                return redeemed is Redeemed.WRONG
        key = "pair.done" if redeemed is Redeemed.OWNER else "pair.wrong"
        written = await patiently(clock, lambda: self._ports.people.language(message.conversation))
        language = texts.language_of("", written or message.sender.language, self._language)
        await self._say(Reply(message.conversation, texts.say(key, language)))
        return True

    async def _guesses(self, who: PlatformId, event: str) -> Counted:
        """Which wrong code of theirs this is: whoever guesses could have us write without end."""
        clock = self._ports.clock
        what = f"guesses {who.platform} {who.id}"
        return await patiently(clock, lambda: self._ports.rates.count(what, CODE_LIVES, event, now=clock.now()))

    async def settle(self, message: UserMessage) -> None:
        """An owner reads this private chat: there they are asked."""
        owner = PlatformId(message.conversation.platform, message.sender.id)
        await patiently(self._ports.clock, lambda: self._ports.grants.settle(owner, message.conversation))

    async def refuse(self, inbound: UserMessage | ButtonPress) -> None:
        """Ask an owner about them, and tell them so; both once a day."""
        platform, person = inbound.conversation.platform, inbound.sender.id
        clock, people = self._ports.clock, self._ports.people
        is_asked = await self._ask(inbound)
        is_first = await patiently(clock, lambda: people.refuse(platform, person, now=clock.now()))
        log.info("stranger refused", platform=platform, person=person, is_first=is_first)
        if not is_first:
            return
        words = inbound.text if isinstance(inbound, UserMessage) else ""
        language = self._language_of(inbound.sender, words)
        key = "stranger.asked" if is_asked else await self._refusal(platform)
        text = texts.say(key, language, id=f"{platform}:{person}")
        if isinstance(inbound, ButtonPress):
            await self._say(Notice(inbound.conversation, inbound.press, person, text))
        else:
            await self._say(Reply(inbound.conversation, text))

    async def _refusal(self, platform: str) -> str:
        """What somebody is told about whom no owner is asked: the operator's first message comes before any owner."""
        if self._rights.rule is AccessRule.ALLOWLIST or await self._is_owned(platform):
            return "stranger"
        return "stranger.unowned"

    async def _is_owned(self, platform: str) -> bool:
        return bool(await patiently(self._ports.clock, lambda: self._rights.owners(platform)))

    async def joined(self, changed: ChatChanged, sender: Sender, standing: Standing) -> None:
        """`sender` added the bot to a group: an owner is asked whether its members may use it, if they may not yet.

        About somebody who was not let in once a day, however many groups they have.
        """
        clock, where = self._ports.clock, changed.conversation
        if self._rights.rule is AccessRule.ALLOWLIST or await patiently(clock, lambda: self._rights.is_open(where)):
            return
        event, home = f"asks:{changed.event}", where
        if standing < Standing.OWNER:
            found = await self._home(where.platform)
            if found is None or await patiently(clock, lambda: self._rights.is_refused(sender.id, where)):
                return
            chat = where.chat if standing is Standing.ALLOWED else ""
            event, home = f"asks:{where.platform}:{sender.id}:joined:{chat}:{clock.now():%Y-%m-%d}", found
        asked = AccessRequested(
            event, home, changed.at, sender, where, changed.title, is_private=False, has_joined=True
        )
        await self._store(asked)

    async def _ask(self, inbound: UserMessage | ButtonPress) -> bool:
        """Put the card's request before an owner, once a day; whether there is one who will see it."""
        sender, origin = inbound.sender, inbound.conversation
        if self._rights.rule is AccessRule.ALLOWLIST or sender.is_bot:
            return False
        clock = self._ports.clock
        home = await self._home(origin.platform)
        if home is None or await patiently(clock, lambda: self._rights.is_refused(sender.id, origin)):
            return False
        asked = AccessRequested(
            f"asks:{origin.platform}:{sender.id}:{clock.now():%Y-%m-%d}",
            home,
            inbound.at,
            sender,
            origin,
            inbound.title if isinstance(inbound, UserMessage) else "",
            inbound.is_private,
        )
        await self._store(asked)
        return True

    async def _home(self, platform: str) -> ConversationId | None:
        """Where an owner of the bot on that platform reads alone."""
        clock, grants = self._ports.clock, self._ports.grants
        for owner in await patiently(clock, lambda: self._rights.owners(platform)):
            who = PlatformId(platform, owner)
            home = await patiently(clock, lambda who=who: grants.home(who))  # type: ignore[misc]
            if home is not None:
                return home
        return None

    def _language_of(self, sender: Sender, words: str) -> str:
        return texts.language_of(words, sender.language, self._language)
