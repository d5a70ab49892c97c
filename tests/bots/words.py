"""Short words for the claims about who may come in: a group, people in it, and what they do there."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from kernel.access import Access
from kernel.chat import Address, ButtonPress, Change, ChatChanged, ConversationId, Prompt, Sender, UserMessage
from kernel.ports import Grant, PromptRecord, Right
from kernel.settings import PlatformId
from tests.bots.bench import Bench

OWNER, ANN, WANG, EVE = (
    Sender("9001", "院长"),
    Sender("1001", "Ann"),
    Sender("2002", "小王"),
    Sender("666", "Eve", "zh"),
)
HOME, WARD, TOPIC = ConversationId("fake", "9001"), ConversationId("fake", "-5"), ConversationId("fake", "-5", "7")
OWNED = Access(allow=frozenset({PlatformId("fake", "1001")}), owners=frozenset({PlatformId("fake", "9001")}))
_events = count(1)


def alone(person: Sender) -> ConversationId:
    """Their private chat."""
    return ConversationId("fake", person.id)


def writes(bench: Bench, person: Sender, text: str) -> UserMessage:
    """They write to the bot alone."""
    return bench.message(text, person, alone(person))


def says(
    bench: Bench, person: Sender, text: str, where: ConversationId = WARD, address: Address = Address.DIRECT
) -> UserMessage:
    """They write where many read."""
    message = bench.message(text, person, where)
    return replace(message, is_private=False, address=address, title="三病区")


def presses(bench: Bench, person: Sender, where: ConversationId, token: str = "tok") -> ButtonPress:
    """They press a button there."""
    number = next(_events)
    is_private = where == alone(person)
    at = bench.clock.now()
    return ButtonPress(f"b{number}", where, person, number, at, token, "done", f"p{number}", is_private=is_private)


def changes(
    bench: Bench, change: Change, by: Sender | None = None, where: ConversationId = WARD, to: str = ""
) -> ChatChanged:
    """Something becomes of the group."""
    return ChatChanged(f"c{next(_events)}", where, change, bench.clock.now(), by, "三病区", to=to)


async def opens(bench: Bench, chat: str = "-5") -> None:
    """An owner has opened the group."""
    await bench.stores.grants.give(Grant(Right.CHAT, PlatformId("fake", chat)))


async def shows(bench: Bench, conversation: ConversationId, token: str = "tok") -> None:
    """A card is shown in its conversation."""
    bench.memory.keep_prompts((PromptRecord(token, conversation, "approval", "{}"),))
    await bench.goes(Prompt(conversation, "card", token, ()))


def inboxes(bench: Bench) -> dict[str, list[str]]:
    """What was stored, by chat and thread: the words of messages, the kind of all else."""
    found: dict[str, list[str]] = {}
    for where, record in bench.memory.records.items():
        items = [entry.item.inbound for entry in record.inbox]
        kinds = [each.text if isinstance(each, UserMessage) else type(each).__name__ for each in items]
        if kinds:
            found[where.chat + (f"/{where.thread}" if where.thread else "")] = kinds
    return found
