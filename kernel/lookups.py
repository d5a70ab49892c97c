"""What some commands need to know before they can answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kernel import commands, memories, models, usage
from kernel.access import Standing
from kernel.chat import Command, UserMessage
from kernel.forgetting import Scope, scope_of
from kernel.pairing import new_code
from kernel.ports import Conversations, Grants, Memories, People, Provider, Silences, Spendings
from kernel.reminders.desk import Desk
from kernel.session import Session
from kernel.texts import say


@dataclass(frozen=True, slots=True)
class Lookups:
    """The ports that commands look into.

    `allowance` is what each chat may use up in a day, `zone` counts where nobody set one.
    """

    conversations: Conversations
    people: People
    memories: Memories
    spendings: Spendings
    grants: Grants
    silences: Silences
    allowance: usage.Allowance
    zone: str
    provider: Provider | None = None

    async def of(
        self,
        command: Command,
        rest: str,
        message: UserMessage,
        session: Session,
        desk: Desk,
        written: Callable[[str], str],
    ) -> commands.Looked:
        """What `command` needs; nothing of it for somebody who may not give it.

        `written` gives what people have seen of the answer that a turn is writing.
        """
        if commands.refusal(command, rest, desk) is not None:
            return commands.Looked()
        match command:
            case Command.STOP:
                seen = {turn.id: words for turn in session.turns if turn.ending is None and (words := written(turn.id))}
                return commands.Looked(written=seen)
            case Command.MEMORY:
                shelf = memories.shelf_of(message.conversation, desk.person, is_private=message.is_private)
                return commands.Looked(shelf, await self.memories.on(shelf))
            case Command.FORGET:
                is_own = message.is_private or scope_of(rest) is Scope.PERSON
                shelf = memories.shelf_of(message.conversation, desk.person, is_private=is_own)
                holdings = await self.conversations.holdings(message.conversation, now=desk.now)
                return commands.Looked(shelf, await self.memories.on(shelf), holdings=holdings)
            case Command.MODEL:
                return commands.Looked(models=models.known(self.provider, session.model))
            case Command.USAGE:
                return commands.Looked(usage=await self._usage(desk))
            case Command.WHY:
                return commands.Looked(unanswered=await self.silences.of(message.conversation))
            case Command.ALLOW:
                given = await self.grants.given(message.conversation.platform)
                return commands.Looked(grants=given, title=message.title)
            case Command.PAIR if message.is_private:
                code = new_code()
                await self.grants.offer(code, now=desk.now)
                return commands.Looked(code=code)
            case _:
                return commands.Looked()

    async def _usage(self, desk: Desk) -> usage.Overview:
        """What the chat used up; for owners, where nobody else reads it, also what everybody did."""
        zone = await self.people.zone(desk.conversation) or self.zone
        days = usage.days_until(usage.day_of(desk.now, zone), usage.DAYS_SHOWN)
        used = await self.spendings.of_chat(desk.conversation, days)
        shown = usage.Overview(used, self.allowance)
        if not (desk.is_private and desk.standing is Standing.OWNER):
            return shown
        platform = desk.conversation.platform
        most = usage.most(await self.spendings.of_people(platform, days))
        known = [await self.people.get(platform, person) for person, _ in most]
        unknown = say("usage.stranger", desk.language)
        names = [sender.name if sender and sender.name else unknown for sender in known]
        return replace(shown, people=tuple(zip(names, (spent for _, spent in most), strict=True)))
