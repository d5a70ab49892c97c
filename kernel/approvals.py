"""Cards that ask before something with effects happens, and what a press on one means.

What becomes of a card whose person writes something else instead of deciding stands in `kernel.asides`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from kernel.changes import Changes, noticed
from kernel.chat import ButtonPress, Choice, ConversationId, Look, Prompt
from kernel.errors import BadRecord
from kernel.open_cards import WAITS, ended
from kernel.ports import Alarm, PromptRecord
from kernel.session import GateState, Session, Turn
from kernel.session_events import Denied, ModelReplied, SessionEvent, Voted
from kernel.texts import say, verbatim
from kernel.tools import ToolRegistry

KIND = "approval"


@dataclass(frozen=True, slots=True)
class Card:
    """What an approval's prompt record holds, as a JSON object; `what` is the sentence that was shown."""

    turn: str
    call: str
    digest: str
    what: str
    language: str
    is_expired: bool = False
    """Its time was over before anybody decided."""

    @property
    def text(self) -> str:
        """The card as it asks."""
        return say("ask.card", self.language, what=verbatim(self.what))

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Its buttons while it asks."""
        return (
            Choice("allow", say("ask.allow", self.language), Look.GOOD),
            Choice("deny", say("ask.deny", self.language), Look.DANGER),
        )

    def record(self, token: str, conversation: ConversationId) -> PromptRecord:
        """The record that a press on the card `token` will find."""
        return PromptRecord(token, conversation, KIND, json.dumps(asdict(self), ensure_ascii=False))


def read(record: PromptRecord) -> Card:
    """The card of a record of our `KIND`. Raises BadRecord when this version cannot read it."""
    try:
        return Card(**json.loads(record.data))
    except (ValueError, TypeError) as error:
        raise BadRecord("an approval's record has an unknown shape") from error


def cards(
    event: ModelReplied, conversation: ConversationId, registry: ToolRegistry, language: str, now: datetime
) -> Changes:
    """One prompt for every call of the reply that asks, in the order of the calls; open for `WAITS` from `now` on."""
    found = Changes()
    for gate in event.gates:
        if gate.state is not GateState.ASKED:
            continue
        bound = registry.bind(gate.call)
        what = bound.tool.describe(bound.arguments, language)
        card = Card(event.turn, gate.call.id, gate.digest, what, language)
        prompt = Prompt(conversation, card.text, gate.token, card.choices, language=language)
        record = card.record(gate.token, conversation)
        found += Changes(outbound=(prompt,), prompts=(record,), alarms=(Alarm(gate.token, now + WAITS),))
    return found


def on_press(
    record: PromptRecord, press: ButtonPress, session: Session, *, decides: bool = False
) -> tuple[SessionEvent | None, Changes]:
    """What the press decides, and what people see of it. None: it decides nothing.

    The one who asked may decide, and who `decides` for others. Raises BadRecord when the record cannot be read.
    """
    card = read(record)
    turn = session.turn(card.turn)
    if turn is None or not _asks(turn, card, record.token):
        return None, closed(record) + noticed(press, "press.decided", card.language)
    if turn.requester != press.sender.id and not decides:
        return None, noticed(press, "ask.not_yours", card.language)
    event: SessionEvent
    match press.choice:
        case "allow":
            event, key = Voted(card.turn, card.call, card.digest, press.sender.id), "ask.allowed"
        case "deny":
            name = " ".join(press.sender.name.split()) or "the person"
            event, key = Denied(card.turn, card.call, f"Not run: {name} refused it."), "ask.denied"
        case "restore":
            return None, noticed(press, "press.noted", card.language)  # Pressed twice: it asks again already.
        case _:
            return None, noticed(press, "press.unknown", card.language)
    text = say(key, card.language, what=verbatim(card.what), name=verbatim(press.sender.name))
    return event, ended(record, text) + noticed(press, "press.noted", card.language)


def expired(record: PromptRecord, card: Card) -> Changes:
    """The end of `card` when its time is over; its record says so to late presses."""
    end = ended(record, say("ask.expired", card.language, what=verbatim(card.what)))
    return end + Changes(prompts=(replace(card, is_expired=True).record(record.token, record.conversation),))


def closed(record: PromptRecord) -> Changes:
    """The card's end when something else decided it than a press, time or words: `/stop`, the end of its turn.

    Raises BadRecord when the record cannot be read.
    """
    card = read(record)
    return ended(record, say("ask.closed", card.language, what=verbatim(card.what)))


def _asks(turn: Turn, card: Card, token: str) -> bool:
    """Whether the call still waits for this very card: what was shown is what runs, or nothing does."""
    return any(
        gate.state is GateState.ASKED and gate.token == token and gate.digest == card.digest
        for gate in turn.gates
        if gate.call.id == card.call
    )
