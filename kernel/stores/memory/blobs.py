"""Bytes by reference, in memory."""

from __future__ import annotations

from collections.abc import Iterator

from kernel.chat import UserMessage
from kernel.stores import rules
from kernel.stores.memory.state import Memory


class MemoryBlobs:
    """The twin of `RedisBlobs`; holds at most `total_bytes` in all."""

    def __init__(self, memory: Memory, total_bytes: int = rules.BLOB_TOTAL_BYTES) -> None:
        self._memory = memory
        self._total_bytes = total_bytes

    async def put(self, content: bytes) -> str:
        """See `Blobs.put`."""
        self._memory.here()
        rules.check_blob_size(len(content))
        blob = rules.blob_id(content)
        blobs = self._memory.blobs
        now = self._memory.clock.now()
        in_use = set(held(self._memory))
        for each, (_, until) in list(blobs.items()):
            if until <= now and each not in in_use:
                del blobs[each]
        spare = sorted((until, each) for each, (_, until) in blobs.items() if each not in in_use | {blob})
        size = sum(len(bytes_) for each, (bytes_, _) in blobs.items() if each != blob) + len(content)
        for _, each in spare:
            if size <= self._total_bytes:
                break
            size -= len(blobs.pop(each)[0])
        if size > self._total_bytes:
            raise rules.blobs_full(self._total_bytes)
        blobs[blob] = (content, now + rules.KEEP_BLOBS)
        return blob

    async def get(self, blob: str) -> bytes | None:
        """See `Blobs.get`."""
        self._memory.here()
        content, until = self._memory.blobs.get(blob, (None, None))
        if until is None or (until <= self._memory.clock.now() and blob not in set(held(self._memory))):
            return None
        return content


def held(memory: Memory) -> Iterator[str]:
    """What workspaces, deliveries and inboxes hold."""
    for record in memory.records.values():
        yield from record.files.values()
        for entry in record.inbox:
            if isinstance(entry.item.inbound, UserMessage):
                yield from rules.blobs_of(entry.item.inbound)
    for line in memory.lines.values():
        for parcel in line.parcels:
            yield from (each.blob for each in rules.attachments_of(parcel.outbound))
