"""What came with a message, as its platform tells of it: values in, values out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bots.splitting import clean
from kernel.chat import MAX_FILE_BYTES, Attachment, AttachmentKind, Fetch
from kernel.pictures import can_be_shown, picture_of

MOST_FILES: Final = 10
"""Of one message, as both platforms offer; what is beyond is named and not fetched."""
NAME_LIMIT: Final = 200
"""Characters."""
UNKNOWN_MIME: Final = "application/octet-stream"
_MIME_LIMIT: Final = 100
_KINDS: Final = {"image": AttachmentKind.PICTURE, "audio": AttachmentKind.VOICE, "video": AttachmentKind.VIDEO}


def kind_of(mime: str) -> AttachmentKind:
    """What a thing of that type is to a person."""
    return _KINDS.get(mime.partition("/")[0], AttachmentKind.FILE)


def to_fetch(source: str, kind: AttachmentKind, name: str, mime: str, size_bytes: int) -> Attachment:
    """Something that its platform keeps for us under `source`, unless it is too large to be fetched."""
    size_bytes = max(size_bytes, 0)
    fetch = Fetch.LARGE if size_bytes > MAX_FILE_BYTES else Fetch.WAITING
    return Attachment(kind, "", _name(name), _mime(mime), size_bytes, source, fetch)


def not_there(fetch: Fetch, name: str, mime: str, size_bytes: int = 0, source: str = "") -> Attachment:
    """Something that cannot be fetched, as `fetch` says."""
    return Attachment(kind_of(mime), "", _name(name), _mime(mime), max(size_bytes, 0), source, fetch)


def looked_at(attachment: Attachment, content: bytes) -> Attachment:
    """The attachment as its bytes show it to be: a PICTURE is one that models take, whatever it was called."""
    if can_be_shown(content) and (picture := picture_of(content)) is not None:
        return replace(attachment, kind=AttachmentKind.PICTURE, mime=picture.mime)
    if attachment.kind is AttachmentKind.PICTURE:
        return replace(attachment, kind=AttachmentKind.FILE)
    return attachment


def _name(name: str) -> str:
    return clean(name).strip()[:NAME_LIMIT] or "file"


def _mime(mime: str) -> str:
    return mime.strip().lower()[:_MIME_LIMIT] or UNKNOWN_MIME
