"""Calls of a tool as a model makes them: JSON in, words out, arguments checked on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

from kernel.chat import ConversationId
from kernel.messages import JsonValue, ToolCall
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.state import Memory
from kernel.tools import Tool, ToolContext, ToolRegistry
from kernel.workspace import Workspace
from tests.twins.clock import START, JumpingClock


async def workspace(files: Mapping[str, bytes | str] | None = None) -> Workspace:
    """A conversation's files, already committed: `changes` begins empty."""
    blobs = MemoryBlobs(Memory(JumpingClock()))
    manifest = {
        path: await blobs.put(content.encode() if isinstance(content, str) else content)
        for path, content in (files or {}).items()
    }
    return Workspace(manifest, blobs)


def context(files: Workspace, zone: str = "Asia/Shanghai", now: datetime = START) -> ToolContext:
    """What the tool knows of the conversation it is called in."""
    return ToolContext(
        conversation=ConversationId("test", "chat", ""),
        requester="u1",
        language="zh",
        zone=zone,
        now=now,
        deadline=now + timedelta(minutes=5),
        call="call-1",
        workspace=files,
    )


async def ask(tool: Tool, within: ToolContext, **arguments: JsonValue) -> str:
    """The words of the result. Raises `ModelError` as the tool or the check of its arguments does."""
    bound = ToolRegistry([tool]).bind(ToolCall("c1", tool.words.name, json.dumps(arguments)))
    assert bound.tool.run is not None
    outcome = await bound.tool.run(bound.arguments, within)
    assert not outcome.is_error
    return outcome.text
