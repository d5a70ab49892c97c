"""Questions that a tool call puts to the person: the card with its choices, and what a press on one means."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime

from kernel.changes import Changes, noticed
from kernel.chat import ButtonPress, Choice, ConversationId, Prompt
from kernel.errors import BadRecord, ModelError
from kernel.open_cards import WAITS, ended
from kernel.ports import Alarm, PromptRecord
from kernel.session import Gate, GateState, Session, Turn
from kernel.session_events import SessionEvent, Worded
from kernel.texts import say, verbatim
from kernel.tools import ToolRegistry

KIND = "question"


@dataclass(frozen=True, slots=True)
class Card:
    """What a question's prompt record holds, as a JSON object; `choices` are the words on its buttons."""

    turn: str
    call: str
    question: str
    choices: tuple[str, ...]
    language: str

    def record(self, token: str, conversation: ConversationId) -> PromptRecord:
        """The record that a press on the card `token` will find."""
        return PromptRecord(token, conversation, KIND, json.dumps(asdict(self), ensure_ascii=False))


def read(record: PromptRecord) -> Card:
    """The card of a record of our `KIND`. Raises BadRecord when this version cannot read it."""
    try:
        card = Card(**json.loads(record.data))
        return Card(card.turn, card.call, card.question, tuple(card.choices), card.language)
    except (ValueError, TypeError) as error:
        raise BadRecord("a question's record has an unknown shape") from error


def cards(
    before: Session, after: Session, registry: ToolRegistry, language: Callable[[Turn], str], now: datetime
) -> Changes:
    """One prompt for every question that was put between the two sessions; open for `WAITS` from `now` on."""
    known = {gate.token for turn in before.turns for gate in turn.gates if _is_asked(gate)}
    found = Changes()
    for turn in after.turns:
        for gate in turn.gates:
            if _is_asked(gate) and gate.token not in known:
                found += _card(turn, gate, after.conversation, registry, language(turn), now)
    return found


def _is_asked(gate: Gate) -> bool:
    return gate.state is GateState.ASKED and gate.is_question


def _card(
    turn: Turn, gate: Gate, conversation: ConversationId, registry: ToolRegistry, language: str, now: datetime
) -> Changes:
    question = registry.question(gate.call)
    if question is None:
        raise ModelError("The question can no longer be put.")
    card = Card(turn.id, gate.call.id, question.text, question.choices, language)
    hint = f"\n\n{say('question.hint', language)}" if question.choices else ""
    prompt = Prompt(
        conversation,
        question.text + hint,
        gate.token,
        tuple(Choice(str(number), label) for number, label in enumerate(question.choices)),
        language=language,
    )
    alarm = Alarm(gate.token, now + WAITS)
    return Changes(outbound=(prompt,), prompts=(card.record(gate.token, conversation),), alarms=(alarm,))


def on_press(
    record: PromptRecord, press: ButtonPress, session: Session, *, decides: bool = False
) -> tuple[SessionEvent | None, Changes]:
    """What the press answers, and what people see of it. None: it answers nothing.

    The one for whom the turn works is asked; who `decides` for others may answer too. Raises BadRecord when the record
    cannot be read.
    """
    card = read(record)
    turn = session.turn(card.turn)
    gates = turn.gates if turn else ()
    if turn is None or not any(_is_asked(gate) and gate.token == record.token for gate in gates):
        return None, closed(record) + noticed(press, "press.decided", card.language)
    if turn.requester != press.sender.id and not decides:
        return None, noticed(press, "ask.not_yours", card.language)
    if not press.choice.isdecimal() or int(press.choice) >= len(card.choices):
        return None, noticed(press, "press.unknown", card.language)
    answer = card.choices[int(press.choice)]
    text = say("question.answered", card.language, question=card.question, answer=verbatim(answer))
    return Worded(card.turn, card.call, answer), ended(record, text) + noticed(press, "press.noted", card.language)


def closed(record: PromptRecord) -> Changes:
    """The card's end when something else than a press answered it: a message, `/stop`, time.

    Raises BadRecord when the record cannot be read.
    """
    return ended(record, read(record).question)
