"""Short words for the claims about reminders."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count

from kernel.changes import Changes
from kernel.chat import ButtonPress, ConversationId, Outbound, Prompt, PromptClosed, Reply, Sender
from kernel.reminders.desk import Desk
from kernel.schedule.values import Cron, Once, Schedule
from kernel.triggers import Action, Trigger
from tests.twins.clock import START

HERE = ConversationId("twin", "1")
ANN = Sender("1001", "Ann")
MINUTE = timedelta(minutes=1)
DAILY = Cron(("0 9 * * *",))
SOON = Once((START + 20 * MINUTE,))


def desk(language: str = "zh", *, zone: str = "Asia/Shanghai", late: timedelta = timedelta()) -> Desk:
    """Ann asks on a Monday at nine in Shanghai; she is read `late` after."""
    numbers = count(1)
    return Desk(HERE, ANN.id, ANN.name, zone, language, START, START + late, lambda: f"id-{next(numbers)}")


def trigger(
    text: str = "查房",
    schedule: Schedule = DAILY,
    *,
    language: str = "zh",
    lateness: timedelta = timedelta(hours=12),
) -> Trigger:
    """A trigger of Ann's; its id is made of its text."""
    return Trigger(
        id=f"t-{text}",
        conversation=HERE,
        owner=ANN.id,
        schedule=schedule,
        zone="Asia/Shanghai",
        text=text,
        language=language,
        action=Action.SAY,
        lateness=lateness,
        created=START - timedelta(days=1),
    )


def stored(*triggers: Trigger) -> list[tuple[Trigger, datetime | None]]:
    """These are stored and due tomorrow; those that are paused rest."""
    return [(each, None if each.paused else START + timedelta(days=1)) for each in triggers]


def pressed(choice: str, token: str = "token", *, sender: Sender = ANN) -> ButtonPress:
    """A press on that choice."""
    return ButtonPress("e1", HERE, sender, 1, START, token, choice, press="p1")


def said(changes: Changes) -> str:
    """The one message in it, with or without buttons."""
    (text,) = [each.text for each in changes.outbound if isinstance(each, Reply | Prompt)]
    return text


def shown(outbound: tuple[Outbound, ...]) -> Prompt:
    """The one prompt in it."""
    (prompt,) = [each for each in outbound if isinstance(each, Prompt)]
    return prompt


def closing(changes: Changes | None) -> str:
    """What the one prompt that closes becomes."""
    assert changes is not None
    (text,) = [each.text for each in changes.outbound if isinstance(each, PromptClosed)]
    return text
