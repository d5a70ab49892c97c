"""Tool loops that have lost their thinking are closed, so that every service takes them (decision 0011)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from kernel.messages import Message, Opaque, Role, Text, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it may go. `lost` says that kept parts were taken out of it."""

    message: Message
    lost: bool


_BROKEN_OFF = Sent(Message(Role.ASSISTANT, (Text("(I was interrupted here.)"),)), lost=False)
_GO_ON = Sent(Message(Role.USER, (Text("Go on."),)), lost=False)


def close_loops(sent: list[Sent]) -> list[Sent]:
    """The messages with every tool loop closed that goes on without the thinking it began with.

    The thinking is gone when another model thought it, or when a turn that was broken off in its loop is followed by
    another after the prefix changed. Two short messages then stand behind the results. They stay for as long as the
    model's next message has thinking of its own, which is bound to them; so they are a matter of the messages alone.
    """
    if not any(_calls(each) for each in sent):
        return sent
    runs = [list(run) for _, run in groupby(sent, key=lambda each: each.message.role)]
    closed: list[Sent] = []
    for number, run in enumerate(runs):
        before = runs[number - 1] if number else []
        after = runs[number + 1] if number + 1 < len(runs) else []
        if not any(map(_calls, before)) or any(map(_thinks, before)):
            closed += run
            continue
        words = [each for each in run if each.message.may_begin]
        is_lost = bool(words) or any(each.lost for each in before)
        if is_lost and (not after or any(map(_thinks, after))):
            closed += [*(each for each in run if each not in words), _BROKEN_OFF, *(words or [_GO_ON])]
        else:
            closed += run
    return closed


def loop_without_thinking(turns: list[Message]) -> bool:
    """The conversation ends in a tool loop whose last message has no kept part."""
    if len(turns) < 2 or not any(isinstance(part, ToolResult) for part in turns[-1].parts):
        return False
    return not any(isinstance(part, Opaque) for part in turns[-2].parts)


def _calls(sent: Sent) -> bool:
    return any(isinstance(part, ToolCall) for part in sent.message.parts)


def _thinks(sent: Sent) -> bool:
    return any(isinstance(part, Opaque) for part in sent.message.parts)
