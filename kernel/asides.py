"""Requests that a person's own words put aside, and the button that takes one up again.

The card asks as it did, until the time that it had (docs/decisions/0015-taken-up-again.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from kernel import approvals
from kernel.changes import Changes, noticed
from kernel.chat import ButtonPress, Choice, ConversationId, PromptClosed
from kernel.codec import decode, encode
from kernel.errors import BadRecord
from kernel.messages import Text, by_program
from kernel.ports import PromptRecord
from kernel.session import Gate, Turn
from kernel.session_events import Restored
from kernel.texts import say, verbatim

KIND = "approval-aside"


@dataclass(frozen=True, slots=True)
class Aside:
    """What the record of a card holds, as a JSON object, while its request is put aside.

    `gate` is the call as it was asked about, encoded; `person` whose request it is.
    """

    gate: str
    person: str
    is_private: bool
    what: str
    language: str

    def record(self, token: str, conversation: ConversationId) -> PromptRecord:
        """The record that a press on the card `token` will find."""
        return PromptRecord(token, conversation, KIND, json.dumps(asdict(self), ensure_ascii=False))


def read(record: PromptRecord) -> Aside:
    """The request of a record of our `KIND`. Raises BadRecord when this version cannot read it."""
    try:
        return Aside(**json.loads(record.data))
    except (ValueError, TypeError) as error:
        raise BadRecord("the record of a request that was put aside has an unknown shape") from error


def put_aside(record: PromptRecord, turn: Turn, gate: Gate) -> Changes:
    """The card of an approval whose person wrote something else instead of deciding; its time goes on.

    `turn` and `gate` are those of the request as it was. Raises BadRecord when the record cannot be read.
    """
    card = approvals.read(record)
    aside = Aside(encode(gate), turn.requester, turn.is_private, card.what, card.language)
    text = say("ask.aside", card.language, what=verbatim(card.what))
    restore = Choice("restore", say("ask.restore", card.language))
    return Changes(
        outbound=(PromptClosed(record.conversation, record.token, text, (restore,)),),
        prompts=(aside.record(record.token, record.conversation),),
    )


def on_press(
    record: PromptRecord, press: ButtonPress, head: str, prefix: str, new_id: Callable[[], str]
) -> tuple[Restored | None, Changes]:
    """What the press does: taken up, the request stands again as a turn of its own, and asks.

    `head` are the facts at the head of a message and `prefix` the digest, as for words of the person. Raises BadRecord
    when the record cannot be read.
    """
    aside = read(record)
    if press.sender.id != aside.person:
        return None, noticed(press, "ask.not_yours", aside.language)
    if press.choice != "restore":
        return None, noticed(press, "press.aside", aside.language)
    gate = decode(Gate, aside.gate)
    gate = replace(gate, call=replace(gate.call, id=new_id()), votes=())
    # Their button is in the language that they are spoken to in; what the call says stands in the call.
    pressed = say("ask.restore", aside.language)
    words = by_program(f"the person pressed “{pressed}”: they take up again the call below, which a message put aside.")
    event = Restored(new_id(), aside.person, (Text(head), Text(words)), gate, prefix, aside.is_private)
    card = approvals.Card(event.turn, gate.call.id, gate.digest, aside.what, aside.language)
    shown = PromptClosed(record.conversation, record.token, card.text, card.choices)
    changes = Changes(outbound=(shown,), prompts=(card.record(record.token, record.conversation),))
    return event, changes + noticed(press, "press.noted", aside.language)


def expired(record: PromptRecord) -> Changes:
    """The end of the card when its time is over. Raises BadRecord when the record cannot be read."""
    aside = read(record)
    return approvals.expired(record, approvals.Card("", "", "", aside.what, aside.language))
