"""Whether a turn has read what others wrote: a page, a file, a quoted message, a picture.

Such words are data, and a model may take them for orders all the same. What follows from them in the same turn and
would last (a reminder, a note) waits for a person (`Approval.WARY`).
"""

from __future__ import annotations

from kernel.messages import QUOTED, Image, Part, Role, Text, ToolCall
from kernel.session import Turn
from kernel.tools import ToolRegistry


def has_read_others(turn: Turn, registry: ToolRegistry) -> bool:
    """Whether words of others stand in the turn: quotes and pictures, or results of tools that are not `is_own`.

    `registry` holds all tools. Words from earlier turns do not count.
    """
    return any(
        _is_of_others(part, message.role, registry)
        for frame in turn.frames
        for message in frame.messages
        for part in message.parts
    )


def _is_of_others(part: Part, role: Role, registry: ToolRegistry) -> bool:
    match part:
        case ToolCall():
            return registry.brings_others(part)
        case Text(text):
            return role is Role.USER and text.startswith(QUOTED)
        case _:
            return isinstance(part, Image)
