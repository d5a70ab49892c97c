"""What is forgotten of a conversation at once, in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from kernel.chat import ConversationId, Inbound, UserMessage
from kernel.messages import Image, Message
from kernel.ports import Forgetting
from kernel.stores import rules
from kernel.stores.memory.blobs import held
from kernel.stores.memory.state import Line, Memory, Record


def wipe(memory: Memory, conversation: ConversationId, forgetting: Forgetting, spared: Collection[str]) -> None:
    """See `Forgetting`; of the prompts that are `spared` it stays known where they were shown."""
    record, line = memory.record(conversation), memory.lines[conversation]
    went = [entry for entry in record.inbox if entry.item.id <= forgetting.upto]
    blobs = {*_shown(record), *record.files.values(), *_waiting(line)}
    blobs.update(_sent([*(entry.item.inbound for entry in went), *(item.inbound for item in record.parked)]))
    record.inbox = [entry for entry in record.inbox if entry not in went]
    record.history, record.old_histories, record.notes, record.parked, record.files = [], [], [], [], {}
    line.parcels, line.draft, line.working = [], None, None
    line.fence += 1
    line.holder, line.until, line.not_before = "", None, None
    _forget_prompts(memory, conversation, spared)
    for trigger in [each.id for each in memory.triggers.values() if each.conversation == conversation]:
        memory.triggers.pop(trigger)
        memory.set_due(trigger, None)
        memory.ledger.pop(trigger, None)
    memory.memories.pop(forgetting.shelf, None)
    memory.unanswered.pop(replace(conversation, thread=""), None)
    memory.askers.pop(conversation, None)
    for blob in blobs - set(held(memory)):
        memory.blobs.pop(blob, None)


def _forget_prompts(memory: Memory, conversation: ConversationId, spared: Collection[str]) -> None:
    for token in [each.token for each in memory.prompts.values() if each.conversation == conversation]:
        memory.set_due((conversation, token), None)
        if token not in spared:
            memory.prompts.pop(token)
            memory.forget_prompts.pop(token, None)


def _shown(record: Record) -> Iterator[str]:
    """Pictures of its histories."""
    histories: list[list[Message]] = [record.history, *(history for _, history in record.old_histories)]
    messages = (message for history in histories for message in history)
    yield from (part.blob for message in messages for part in message.parts if isinstance(part, Image))


def _sent(inbounds: Iterable[Inbound]) -> Iterator[str]:
    for inbound in inbounds:
        if isinstance(inbound, UserMessage):
            yield from (attachment.blob for attachment in inbound.attachments if attachment.blob)


def _waiting(line: Line) -> Iterator[str]:
    """What deliveries that are not out carry."""
    yield from (each.blob for parcel in line.parcels for each in rules.attachments_of(parcel.outbound))
