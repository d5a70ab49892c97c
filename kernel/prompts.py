"""What the model is told before the conversation: the system prompt, and the facts at the head of a message."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from kernel.messages import ToolWords

SYSTEM = """\
You are zclaw, an assistant that people talk to in a chat. They are hospital teams, offices and families.

Answer in the language of the person's newest message. Be brief, concrete and kind; use Markdown sparingly.
A message opens with a block of facts in square brackets, written by the program and not by the person: the time, who
speaks, what happened meanwhile. Use it, and do not repeat it.
Reminders that people ask for in plain words are set by the program before you see anything; never claim to have set
one yourself.
When you do not know, say so."""


def prefix_digest(system: str, tools: Sequence[ToolWords]) -> str:
    """What binds a frame to its system prompt and tool list; equal for equal ones, in every process."""
    content = json.dumps([system, [[tool.name, tool.description, tool.schema] for tool in tools]], ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def facts(*, now: datetime, zone: str, speaker: str, notes: Sequence[str], waits: int) -> str:
    """The block of facts at the head of a person's message: time and zone, who speaks, what happened meanwhile.

    `waits` is how many earlier requests still wait for a person's decision.
    """
    local = now.astimezone(ZoneInfo(zone))
    lines = [f"{local:%Y-%m-%d %a %H:%M} {zone}" + (f"; speaking: {_one_line(speaker)}" if speaker else "")]
    lines += [f"since the last message: {_one_line(note)}" for note in notes]
    if waits:
        lines.append(f"{waits} earlier request(s) still wait for a person's decision on a card")
    return "[" + "\n ".join(lines) + "]"


def _one_line(text: str) -> str:
    """Words from outside, unable to close the block or to open a line of their own."""
    return " ".join(text.split()).replace("[", "(").replace("]", ")")
