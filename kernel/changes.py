"""What a decision of the mind changes beside the session itself: one value, added up into one commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernel.chat import ButtonPress, Notice, Outbound
from kernel.ports import Alarm, MemoryChange, PromptRecord, Spending, TriggerChange
from kernel.texts import say


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything in it takes effect with the commit that carries it, exactly once, or not at all.

    `outbound` goes out in order, with `prompts` for the `Prompt`s in it. `files` maps a path of the workspace to its
    new blob, or to None when the file is deleted.
    """

    outbound: tuple[Outbound, ...] = ()
    prompts: tuple[PromptRecord, ...] = ()
    triggers: tuple[TriggerChange, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    notes: tuple[str, ...] = ()
    files: Mapping[str, str | None] = field(default_factory=dict)
    memories: tuple[MemoryChange, ...] = ()
    spendings: tuple[Spending, ...] = ()

    def __add__(self, later: Changes) -> Changes:
        """Both, this one first."""
        return Changes(
            outbound=self.outbound + later.outbound,
            prompts=self.prompts + later.prompts,
            triggers=self.triggers + later.triggers,
            alarms=self.alarms + later.alarms,
            notes=self.notes + later.notes,
            files={**self.files, **later.files},
            memories=self.memories + later.memories,
            spendings=self.spendings + later.spendings,
        )


def noticed(press: ButtonPress, key: str, language: str) -> Changes:
    """The short answer, the sentence `key`, that the one who pressed gets and nobody else sees."""
    return Changes(outbound=(Notice(press.conversation, press.press, press.sender.id, say(key, language)),))
