"""`/model`: which models there are, which one answers, and the one that an owner chose for a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from kernel.access import Standing
from kernel.changes import Changes
from kernel.ports import Provider, SeveralModels
from kernel.reminders.desk import Desk
from kernel.session import Session
from kernel.session_events import Chosen
from kernel.texts import say, verbatim

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Models:
    """The names of the models in the order in which they are wanted, and of the one that would be asked now.

    No name at all: their service has not told them yet.
    """

    names: tuple[str, ...] = ()
    answering: str = ""

    def named(self, words: str) -> str:
        """The one that `words` name, with or without whose it is; empty when it is none of them, or not only one."""
        wanted = words.casefold()
        whole = [name for name in self.names if name.casefold() == wanted]
        part = [name for name in self.names if name.casefold().partition(":")[2] == wanted]
        found = whole or part
        return found[0] if len(found) == 1 else ""


def known(provider: Provider | None, chosen: str) -> Models | None:
    """The models behind `provider` in a conversation where `chosen` is asked first; None: there is no model at all."""
    if provider is None:
        return None
    if isinstance(provider, SeveralModels):
        return Models(provider.models, provider.answering(chosen))
    return Models((provider.name,), provider.name)


def shown(models: Models | None, session: Session, desk: Desk) -> Changes:
    """The list, with the one that answers now, and the one that was chosen here."""
    if models is None or not models.names:
        return _nameless(models, desk)
    lines = [say("model.list", desk.language)]
    for number, name in enumerate(models.names, start=1):
        key = "model.line_now" if name == models.answering else "model.line"
        lines.append(say(key, desk.language, number=str(number), name=verbatim(name)))
    if session.model in models.names:
        lines.append(say("model.chosen", desk.language, name=verbatim(session.model)))
    elif desk.standing is Standing.OWNER and len(models.names) > 1:
        lines.append(say("model.choose", desk.language))
    return desk.reply("\n".join(lines))


def choose(words: str, models: Models | None, desk: Desk) -> tuple[Chosen | None, Changes]:
    """The choice that `words` make, and what is said of it; None when they name no model that there is."""
    if words.casefold() == AUTO:
        return Chosen(""), desk.reply(say("model.set_auto", desk.language))
    if models is None or not models.names:
        return None, _nameless(models, desk)
    if name := models.named(words):
        return Chosen(name), desk.reply(say("model.set", desk.language, name=verbatim(name)))
    lines = "\n".join(f"• {verbatim(each)}" for each in models.names)
    return None, desk.reply(say("model.unknown", desk.language, lines=lines))


def _nameless(models: Models | None, desk: Desk) -> Changes:
    return desk.reply(say("model.absent" if models is None else "model.away", desk.language))
