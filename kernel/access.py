"""Who may talk to the bot, and who owns it. Only ids that a platform vouches for grant anything; names never do."""

from __future__ import annotations

from dataclasses import dataclass

from kernel.chat import ConversationId, Sender
from kernel.settings import PlatformId

CONSOLE = "console"
"""The platform of whoever sits at this machine's terminal."""


@dataclass(frozen=True, slots=True)
class Access:
    """The operator's lists: persons, chats and teams in `allow`; persons in `owners`. `is_open`: everybody may talk."""

    allow: frozenset[PlatformId] = frozenset()
    owners: frozenset[PlatformId] = frozenset()
    is_open: bool = False

    def may_talk(self, sender: Sender, conversation: ConversationId, team: str = "") -> bool:
        """Whether `sender` is let in, as a person or as a member of the chat or of the platform's `team`."""
        if self.is_open or self.is_owner(sender, conversation):
            return True
        known = {PlatformId(conversation.platform, each) for each in (sender.id, conversation.chat, team) if each}
        return not known.isdisjoint(self.allow)

    def is_owner(self, sender: Sender, conversation: ConversationId) -> bool:
        """Whether `sender` owns the bot. A chat or a team never does, and the terminal's person always."""
        return conversation.platform == CONSOLE or PlatformId(conversation.platform, sender.id) in self.owners
