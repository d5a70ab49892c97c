"""What came with a Telegram message, as references: values in, values out."""

from __future__ import annotations

from collections.abc import Iterator

from aiogram.types import Message

from bots.attached import kind_of, to_fetch
from kernel.chat import Attachment, AttachmentKind


def attachments_of(message: Message) -> tuple[Attachment, ...]:
    """The photo, document, sound or film in it; () for everything that is no file. `source` is Telegram's file id."""
    return tuple(_attached(message))


def _attached(message: Message) -> Iterator[Attachment]:
    number = message.message_id
    sizes = message.photo or (message.live_photo.photo if message.live_photo is not None else None)
    if sizes:
        photo = max(sizes, key=lambda each: each.width * each.height)
        picture = AttachmentKind.PICTURE
        yield to_fetch(photo.file_id, picture, f"photo-{number}.jpg", "image/jpeg", photo.file_size or 0)
    elif message.voice is not None:
        voice = message.voice
        mime = voice.mime_type or "audio/ogg"
        yield to_fetch(voice.file_id, AttachmentKind.VOICE, f"voice-{number}.ogg", mime, voice.file_size or 0)
    elif message.video_note is not None:
        note = message.video_note
        yield to_fetch(note.file_id, AttachmentKind.VIDEO, f"video-{number}.mp4", "video/mp4", note.file_size or 0)
    else:
        # A moving picture is told as a document too: the first of these names it.
        named = message.animation or message.video or message.audio or message.document
        if named is not None:
            mime = named.mime_type or ""
            name = named.file_name or f"file-{number}"
            yield to_fetch(named.file_id, kind_of(mime), name, mime, named.file_size or 0)
