"""Who may do what: the operator's lists, and what owners granted in chats.

Only ids that a platform vouches for grant anything, never names, and they are looked up at the moment of use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from kernel.chat import ConversationId, Sender
from kernel.ports.grants import Granted, Grants
from kernel.ports.records import People
from kernel.settings import AccessRule, PlatformId

CONSOLE = "console"
"""The platform of whoever sits at this machine's terminal."""


class Standing(IntEnum):
    """What somebody may do in a chat; each may do what those before it may."""

    STRANGER = 0
    """Nothing, but to say that a reminder which a chat was shown is done."""
    MEMBER = 1
    """Reads and writes in a chat that was opened: may talk, and decide what they asked for themselves."""
    ALLOWED = 2
    """Also sets reminders, and sees and changes what the chat keeps."""
    OWNER = 3
    """Also decides for others, and lets people in."""


@dataclass(frozen=True, slots=True)
class Access:
    """The operator's lists: persons, chats and teams in `allow`, persons in `owners`; `rule` is for all others."""

    allow: frozenset[PlatformId] = frozenset()
    owners: frozenset[PlatformId] = frozenset()
    rule: AccessRule = AccessRule.PAIRING

    def standing(self, sender: Sender, conversation: ConversationId, granted: Granted | None = None) -> Standing:
        """Who `sender` is in the conversation, with what was `granted` there.

        Under `allowlist` nothing but the lists counts. A bot has rights only when its own id is on the list.
        """
        platform = conversation.platform
        if platform == CONSOLE:
            return Standing.OWNER
        is_listed = PlatformId(platform, sender.id) in self.allow
        if sender.is_bot:
            return Standing.MEMBER if is_listed else Standing.STRANGER
        has_grants = self.rule is not AccessRule.ALLOWLIST
        known = granted if granted is not None else Granted()
        given = known if has_grants else Granted(also_known_as=known.also_known_as)
        if given.is_owner or PlatformId(platform, sender.id) in self.owners:
            return Standing.OWNER
        is_member = bool(sender.team) and (has_grants or PlatformId(platform, sender.team) in self.allow)
        if is_listed or is_member or given.is_allowed or self.rule is AccessRule.OPEN:
            return Standing.ALLOWED
        if sender.is_guest:
            return Standing.STRANGER
        chats = {PlatformId(platform, chat) for chat in (conversation.chat, *given.also_known_as)}
        if given.is_open or not chats.isdisjoint(self.allow):
            return Standing.MEMBER
        return Standing.STRANGER

    def is_settled(self, sender: Sender, conversation: ConversationId) -> bool:
        """Whether the lists alone say who `sender` is, so that nothing has to be looked up."""
        return sender.is_bot or self.standing(sender, conversation) is Standing.OWNER


class Rights:
    """Who somebody is just now, by the lists and the grants together."""

    def __init__(self, access: Access, grants: Grants, people: People) -> None:
        self._access = access
        self._grants = grants
        self._people = people

    @property
    def rule(self) -> AccessRule:
        """What the operator decided for people who are on no list."""
        return self._access.rule

    async def standing(self, sender: Sender, conversation: ConversationId) -> Standing:
        """Who `sender` is in the conversation now. Raises `RetryLater` while the store is away."""
        if self._access.is_settled(sender, conversation):
            return self._access.standing(sender, conversation)
        if sender.is_guest:
            # Their profile could not be read just now, or they are one: what was seen last tells.
            seen = await self._people.get(conversation.platform, sender.id)
            sender = replace(sender, team=seen.team, is_guest=False) if seen is not None and seen.team else sender
        granted = await self._grants.granted(sender.id, conversation)
        return self._access.standing(sender, conversation, granted)

    async def of_person(self, person: str, conversation: ConversationId) -> Standing:
        """Likewise of somebody who is known by id alone: what the bots last saw of them counts."""
        # Looked up for owners, too: a bot has no rights by an id on their list.
        sender = await self._people.get(conversation.platform, person) or Sender(person)
        return await self.standing(sender, conversation)

    async def is_open(self, conversation: ConversationId) -> bool:
        """Whether whoever reads the chat may talk there."""
        nobody = Sender("")
        granted = await self._grants.granted(nobody.id, conversation)
        return self._access.standing(nobody, conversation, granted) > Standing.STRANGER

    async def is_refused(self, person: str, conversation: ConversationId) -> bool:
        """Whether an owner has refused that person."""
        return (await self._grants.granted(person, conversation)).is_refused

    async def owners(self, platform: str) -> tuple[str, ...]:
        """The persons who own the bot on that platform, those whom the operator listed first."""
        listed = sorted(each.id for each in self._access.owners if each.platform == platform)
        if self.rule is AccessRule.ALLOWLIST:
            return tuple(listed)
        granted = await self._grants.owners(platform)
        return (*listed, *(each for each in granted if each not in listed))
