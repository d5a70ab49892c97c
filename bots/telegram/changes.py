"""What becomes of whole chats on Telegram: the bot comes and goes, a group becomes a supergroup.

A group that moves gets another id. Telegram says so twice, in the old chat and in the new one; both are one event, so
that either suffices and the second changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from aiogram.types import Chat, Message, User
from pydantic import AwareDatetime, BaseModel, Field

from bots.telegram.people import chat_of, is_private, is_somebody, sender_of
from kernel.chat import Change, ChatChanged


class _Member(BaseModel):
    status: Literal["creator", "administrator", "member", "restricted", "left", "kicked"]
    is_member: bool = True
    can_send_messages: bool = True

    @property
    def can_speak(self) -> bool:
        if self.status == "restricted":
            return self.is_member and self.can_send_messages
        return self.status not in ("left", "kicked")


class _Updated(BaseModel):
    chat: Chat
    from_user: User = Field(alias="from")
    date: AwareDatetime
    old_chat_member: _Member
    new_chat_member: _Member


class MembershipUpdate(BaseModel):
    """A `my_chat_member` update, as far as we read it.

    aiogram wants every right that administrators have had since: one that a server does not know, and the bot would
    never hear that it was thrown out.
    """

    update_id: int
    my_chat_member: _Updated


def membership(update: MembershipUpdate, event: str) -> ChatChanged | None:
    """That the bot may speak in a chat from now on, or no longer; None when only its rights there have changed.

    In a private chat: that its person has blocked it, or not any more.
    """
    updated = update.my_chat_member
    can_speak = updated.new_chat_member.can_speak
    if can_speak == updated.old_chat_member.can_speak:
        return None
    return ChatChanged(
        event=event,
        conversation=chat_of(updated.chat),
        change=Change.JOINED if can_speak else Change.GONE,
        at=updated.date,
        sender=sender_of(updated.from_user) if is_somebody(updated.from_user) else None,
        title=updated.chat.title or "",
        is_private=is_private(updated.chat),
    )


def move(message: Message, namespace: str) -> ChatChanged | None:
    """That the group has become a supergroup, told in either of them; None for every other message."""
    here = chat_of(message.chat)
    if message.migrate_to_chat_id is not None:
        old, new = here, str(message.migrate_to_chat_id)
    elif message.migrate_from_chat_id is not None:
        old, new = replace(here, chat=str(message.migrate_from_chat_id)), here.chat
    else:
        return None
    user = message.from_user
    return ChatChanged(
        event=f"{namespace}:moved:{old.chat}:{new}",
        conversation=old,
        change=Change.MOVED,
        at=message.date,
        sender=sender_of(user) if user is not None and is_somebody(user) else None,
        title=message.chat.title or "",
        to=new,
    )
