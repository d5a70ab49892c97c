"""What came with a Slack message, as references; pure and total, whatever JSON it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bots.attached import MOST_FILES, kind_of, not_there, to_fetch
from bots.slack.payloads import as_count, as_items, as_object, as_text
from kernel.chat import Attachment, AttachmentKind, Fetch

_HIDDEN: Final = frozenset({"tombstone", "hidden_by_limit"})
"""Modes of files that Slack names and does not give."""
_LINK_LIMIT: Final = 500


def attachments_of(files: object) -> tuple[Attachment, ...]:
    """The `files` of a message. `source` is the address that our token opens; of what is kept elsewhere, its own."""
    found = [_attached(as_object(each)) for each in as_items(files)]
    wanted = [each for each in found if each.fetch is Fetch.WAITING][:MOST_FILES]
    return tuple(
        not_there(Fetch.FAILED, each.name, each.mime, each.size_bytes)
        if each.fetch is Fetch.WAITING and each not in wanted
        else each
        for each in found[: 2 * MOST_FILES]
    )


def _attached(file: Mapping[str, object]) -> Attachment:
    name = as_text(file.get("name")) or as_text(file.get("title"))
    mime, mode, size_bytes = as_text(file.get("mimetype")), as_text(file.get("mode")), as_count(file.get("size"))
    address = as_text(file.get("url_private_download")) or as_text(file.get("url_private"))
    if mode == "external" or file.get("is_external") is True:
        link = as_text(file.get("external_url")) or as_text(file.get("url_private")) or as_text(file.get("permalink"))
        return not_there(Fetch.LINK, name, mime, source=link[:_LINK_LIMIT])
    if mode in _HIDDEN or not address:
        return not_there(Fetch.GONE, name, mime, size_bytes)
    return to_fetch(address, _kind(file, mime), name, mime, size_bytes)


def _kind(file: Mapping[str, object], mime: str) -> AttachmentKind:
    """Voice and film that was recorded in Slack come in a container that may be called either."""
    match file.get("subtype"):
        case "slack_audio":
            return AttachmentKind.VOICE
        case "slack_video":
            return AttachmentKind.VIDEO
        case _:
            return kind_of(mime)
