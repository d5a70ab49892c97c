"""Albums in groups: Telegram sends every picture by itself, and the bot's name stands under one of them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from kernel.chat import Address, ConversationId, UserMessage

_REMEMBERED = 200
_MOST_PARTS = 20
"""Telegram puts ten into one."""


@dataclass(slots=True)
class _Album:
    """One album as far as it has come."""

    is_ours: bool = False
    before: list[UserMessage] = field(default_factory=list)
    """Parts that came before we knew that it is for the bot."""


class Albums:
    """The newest albums of groups. A process that was not there for all of one knows only its own parts."""

    def __init__(self) -> None:
        self._albums: OrderedDict[tuple[ConversationId, str, str], _Album] = OrderedDict()

    def together(self, part: UserMessage) -> tuple[UserMessage, ...]:
        """What to deliver now that `part` has come: one that is for the bot brings those before it, and those after.

        Parts may be delivered twice so; they are the same events.
        """
        if part.is_private or not part.album:
            return (part,)
        name = (part.conversation, part.album, part.sender.id)
        album = self._albums.setdefault(name, _Album())
        if len(self._albums) > _REMEMBERED:
            self._albums.popitem(last=False)
        if part.address is Address.DIRECT:
            album.is_ours = True
            return (*(replace(each, address=Address.DIRECT) for each in album.before), part)
        if album.is_ours:
            return (replace(part, address=Address.DIRECT),)
        if len(album.before) < _MOST_PARTS:
            album.before.append(part)
        return (part,)
