"""When a frame goes round in circles: the same failure, or the same answer to the same call, three times in a row."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kernel.messages import Message, ToolCall, ToolResult
from kernel.session import Frame

IN_A_ROW = 3


def is_circling(frame: Frame) -> bool:
    """Whether the last three results of the frame are one failure of one tool, or one answer to one call.

    Arguments that differ only in white space or in the order of their names are the same.
    """
    newest = list(_answers(frame.messages))[-IN_A_ROW:]
    if len(newest) < IN_A_ROW:
        return False
    if all(result.is_error for _, result in newest) and len({(call.name, result.text) for call, result in newest}) == 1:
        return True
    return len({(call.name, _same(call.arguments), result.text) for call, result in newest}) == 1


def _answers(messages: tuple[Message, ...]) -> Iterator[tuple[ToolCall, ToolResult]]:
    """Every call of the frame with its result, in order."""
    calls: dict[str, ToolCall] = {}
    for message in messages:
        calls |= {call.id: call for call in message.calls}
        for part in message.parts:
            if isinstance(part, ToolResult) and part.call in calls:
                yield calls[part.call], part


def _same(arguments: str) -> str:
    """One spelling for arguments that mean the same."""
    try:
        spelled = json.dumps(json.loads(arguments), sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        spelled = arguments
    return "".join(spelled.split())
