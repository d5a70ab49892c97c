"""The pictures that a request shows: the newest ones whose bytes are still there."""

from __future__ import annotations

from collections.abc import Iterable

from kernel.messages import Image, Message
from kernel.pictures import can_be_shown, picture_of
from kernel.ports import Blobs

MOST_PICTURES = 20
"""With more, Anthropic takes only small ones."""
MOST_BYTES = 10_000_000
"""Of all of them: in base64, with everything else, below what services take at once (32 MB), and twice in memory."""


async def shown_in(messages: Iterable[Message], blobs: Blobs) -> dict[str, bytes]:
    """The bytes of the pictures in `messages` that may be shown, by blob; what a service would refuse is left out."""
    pictures = [part for message in messages for part in message.parts if isinstance(part, Image)]
    shown: dict[str, bytes] = {}
    left = MOST_BYTES
    for part in reversed(pictures):
        if len(shown) == MOST_PICTURES:
            break
        if part.blob in shown or (content := await blobs.get(part.blob)) is None:
            continue
        picture = picture_of(content)
        if picture is None or picture.mime != part.mime or not can_be_shown(content):
            continue
        left -= len(content)
        if left < 0:
            break
        shown[part.blob] = content
    return shown
