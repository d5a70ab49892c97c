"""What came with a person's message: pictures for the model to look at, files for the conversation's workspace."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from kernel.chat import MAX_FILE_BYTES, Attachment, AttachmentKind, Fetch, UserMessage
from kernel.messages import QUOTED, Image, Part, Text
from kernel.workspace import MAX_FILES

FOLDER: Final = "uploads"
_NAME_CHARS: Final = 100
_NAME_BYTES: Final = 200
"""In UTF-8; file systems take 255, and a number may follow."""
_ENDING_CHARS: Final = 12
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_NOT_IN_NAMES: Final = re.compile(r'[<>:"|?*`$&;!\'\[\](){}#%]+')
"""What some file system or shell would read as something else."""
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\..*)?", re.IGNORECASE)
_KINDS: Final = {
    AttachmentKind.PICTURE: "picture",
    AttachmentKind.FILE: "file",
    AttachmentKind.VOICE: "sound",
    AttachmentKind.VIDEO: "film",
}


@dataclass(frozen=True, slots=True)
class Arrived:
    """`parts` for the model to read, `files` for the workspace (path to blob)."""

    parts: tuple[Part, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def arrived(message: UserMessage, files: Mapping[str, str | None]) -> Arrived:
    """What came with `message`; `files` are the workspace's paths and blobs (None: deleted).

    Every name is told as quoted data: a stranger may have chosen it.
    """
    new: dict[str, str] = {}
    lines: list[str] = []
    pictures: list[Part] = []
    known = {path: blob for path, blob in files.items() if blob is not None}
    for each in message.attachments:
        if each.fetch is Fetch.DONE and each.kind is AttachmentKind.PICTURE:
            pictures.append(Image(each.blob, each.mime))
            continue
        path = _kept_as(each, {**known, **new}) if each.fetch is Fetch.DONE else ""
        if path:
            new[path] = each.blob
        lines.append(f"> {_told(each)}: {_became(each, path)}")
    head = (Text("\n".join([f"{QUOTED} Came with the message:", *lines])),) if lines else ()
    return Arrived((*head, *pictures), new)


def safe_name(name: str) -> str:
    """`name` as one segment of a path that every system takes and that looks like what it is; never empty."""
    name = re.split(r"[/\\]", name)[-1]
    name = unicodedata.normalize("NFC", "".join(sign for sign in name if unicodedata.category(sign) not in _UNSEEN))
    name = "_".join(_NOT_IN_NAMES.sub("_", name).split()).strip("._- ")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem or len(ending) > _ENDING_CHARS:
        stem, dot, ending = name, "", ""
    if _DEVICES.fullmatch(name):
        stem = f"_{stem}"
    stem = stem[: _NAME_CHARS - len(ending)]
    while len(f"{stem}{dot}{ending}".encode()) > _NAME_BYTES:
        stem = stem[:-1]
    return f"{stem}{dot}{ending}" if stem else "file"


def _kept_as(attachment: Attachment, files: Mapping[str, str]) -> str:
    """Where in the workspace it is kept: under a path of its own, but for the same bytes; empty when it is full."""
    name = safe_name(attachment.name)
    stem, dot, ending = name.rpartition(".")
    stem, ending = (stem, f".{ending}") if dot else (name, "")
    taken = {path.casefold(): blob for path, blob in files.items()}
    for number in range(1, MAX_FILES + 2):
        path = f"{FOLDER}/{stem}{ending}" if number == 1 else f"{FOLDER}/{stem}-{number}{ending}"
        blob = taken.get(path.casefold())
        if blob is None:
            return path if len(files) < MAX_FILES else ""
        if blob == attachment.blob and path in files:
            return path
    return ""


def _told(attachment: Attachment) -> str:
    name = " ".join(attachment.name.split()).replace('"', "'")
    mime = " ".join(attachment.mime.split())
    facts = [mime] if mime else []
    facts += [_size(attachment.size_bytes)] if attachment.size_bytes else []
    return f'{_KINDS[attachment.kind]} "{name}" ({", ".join(facts)})'


def _became(attachment: Attachment, path: str) -> str:
    match attachment.fetch:
        case Fetch.DONE if not path:
            return f"not kept, as there are {MAX_FILES} files here already; tell the person."
        case Fetch.DONE:
            return f"kept as {path}{_UNREAD.get(attachment.kind, '')}"
        case Fetch.LARGE:
            return f"not fetched, as it is larger than {MAX_FILE_BYTES // 1_000_000} MB; tell the person."
        case Fetch.GONE:
            return "not fetched, as the platform does not give it; tell the person."
        case Fetch.FAILED | Fetch.WAITING:
            return "not fetched in time; tell the person, who may send it again."
        case Fetch.LINK:
            return f"only a link to it came, and nothing was fetched: {' '.join(attachment.source.split())}"
        case _:
            assert_never(attachment.fetch)


_UNREAD: Final = {
    AttachmentKind.VOICE: "; you cannot hear it, and nobody has written down what is said: say so.",
    AttachmentKind.VIDEO: "; you cannot watch it: say so.",
}


def _size(size_bytes: int) -> str:
    if size_bytes >= 1_000_000:
        return f"{size_bytes / 1_000_000:.1f} MB"
    return f"{max(size_bytes // 1000, 1)} KB" if size_bytes >= 1000 else f"{size_bytes} bytes"
