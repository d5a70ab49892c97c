"""Cards that ask before something with effects happens, and what a press on one means.

A card whose person wrote something else instead of deciding is put aside: until its time is over one button takes
the request up again, and the card asks as it did (docs/decisions/0015-taken-up-again.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from kernel.changes import Changes, noticed
from kernel.chat import ButtonPress, Choice, ConversationId, Look, Prompt, PromptClosed
from kernel.codec import decode, encode
from kernel.errors import BadRecord
from kernel.messages import Text, by_program
from kernel.open_cards import WAITS, ended
from kernel.ports import Alarm, PromptRecord
from kernel.session import Gate, GateState, Session, Turn
from kernel.session_events import Denied, ModelReplied, Restored, SessionEvent, Voted
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
    gate: str = ""
    """While it is put aside: the call as it was asked about, encoded."""
    person: str = ""
    """While it is put aside: whose request it is."""
    is_private: bool = False
    is_expired: bool = False
    """Its time was over before anybody decided."""

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
        prompt = Prompt(conversation, _text(card), gate.token, _choices(card), language=language)
        record = card.record(gate.token, conversation)
        found += Changes(outbound=(prompt,), prompts=(record,), alarms=(Alarm(gate.token, now + WAITS),))
    return found


def on_press(record: PromptRecord, press: ButtonPress, session: Session) -> tuple[SessionEvent | None, Changes]:
    """What the press decides, and what people see of it. None: it decides nothing.

    Only the one who asked may decide (owners and named deciders come with policies). Raises BadRecord when the record
    cannot be read.
    """
    card = read(record)
    turn = session.turn(card.turn)
    if turn is None or not _asks(turn, card, record.token):
        return None, closed(record) + noticed(press, "press.decided", card.language)
    if turn.requester != press.sender.id:
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


def put_aside(record: PromptRecord, turn: Turn, gate: Gate) -> Changes:
    """The card of a request whose person wrote something else instead of deciding; its time goes on.

    `turn` and `gate` are those of the request as it was. Raises BadRecord when the record cannot be read.
    """
    card = replace(read(record), gate=encode(gate), person=turn.requester, is_private=turn.is_private)
    text = say("ask.aside", card.language, what=verbatim(card.what))
    restore = Choice("restore", say("ask.restore", card.language))
    return Changes(
        outbound=(PromptClosed(record.conversation, record.token, text, (restore,)),),
        prompts=(card.record(record.token, record.conversation),),
    )


def take_up(
    record: PromptRecord, press: ButtonPress, head: str, prefix: str, new_id: Callable[[], str]
) -> tuple[Restored | None, Changes]:
    """What a press on a card that was put aside does: the request stands again as a turn of its own, and asks.

    `head` are the facts at the head of a message and `prefix` the digest, as for words of the person. Raises BadRecord
    when the record cannot be read.
    """
    card = read(record)
    if press.sender.id != card.person:
        return None, noticed(press, "ask.not_yours", card.language)
    if press.choice != "restore":
        return None, noticed(press, "press.aside", card.language)
    gate = decode(Gate, card.gate)
    gate = replace(gate, call=replace(gate.call, id=new_id()), votes=())
    # Their button is in the language that they are spoken to in; what the call says stands in the call.
    pressed = say("ask.restore", card.language)
    words = by_program(f"the person pressed “{pressed}”: they take up again the call below, which a message put aside.")
    event = Restored(new_id(), card.person, (Text(head), Text(words)), gate, prefix, card.is_private)
    asks = Card(event.turn, gate.call.id, gate.digest, card.what, card.language)
    shown = PromptClosed(record.conversation, record.token, _text(asks), _choices(asks))
    changes = Changes(outbound=(shown,), prompts=(asks.record(record.token, record.conversation),))
    return event, changes + noticed(press, "press.noted", card.language)


def expired(record: PromptRecord) -> Changes:
    """The card's end when its time is over. Raises BadRecord when the record cannot be read."""
    card = replace(read(record), gate="", person="", is_expired=True)
    end = ended(record, say("ask.expired", card.language, what=verbatim(card.what)))
    return end + Changes(prompts=(card.record(record.token, record.conversation),))


def closed(record: PromptRecord) -> Changes:
    """The card's end when something else decided it than a press, time or words: `/stop`, the end of its turn.

    Raises BadRecord when the record cannot be read.
    """
    card = read(record)
    return ended(record, say("ask.closed", card.language, what=verbatim(card.what)))


def _text(card: Card) -> str:
    return say("ask.card", card.language, what=verbatim(card.what))


def _choices(card: Card) -> tuple[Choice, ...]:
    return (
        Choice("allow", say("ask.allow", card.language), Look.GOOD),
        Choice("deny", say("ask.deny", card.language), Look.DANGER),
    )


def _asks(turn: Turn, card: Card, token: str) -> bool:
    """Whether the call still waits for this very card: what was shown is what runs, or nothing does."""
    return any(
        gate.state is GateState.ASKED and gate.token == token and gate.digest == card.digest
        for gate in turn.gates
        if gate.call.id == card.call
    )
