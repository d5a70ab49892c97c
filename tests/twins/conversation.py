"""Messages in few words, for the tests of this folder."""

from __future__ import annotations

import json

from kernel.messages import Message, ModelRequest, Part, Role, Text, ToolCall, ToolResult, ToolWords

SCHEMA = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}})
TOOLS = (ToolWords("weather.get", "天气", SCHEMA), ToolWords("weather_get", "another", SCHEMA))


def _parts(parts: tuple[Part | str, ...]) -> tuple[Part, ...]:
    return tuple(Text(part) if isinstance(part, str) else part for part in parts)


def user(*parts: Part | str) -> Message:
    return Message(Role.USER, _parts(parts))


def assistant(*parts: Part | str) -> Message:
    return Message(Role.ASSISTANT, _parts(parts))


def call(id_: str, name: str = "weather.get", arguments: str = '{"city": "北京"}') -> ToolCall:
    return ToolCall(id_, name, arguments)


def result(id_: str, text: str = "晴", *, is_error: bool = False) -> ToolResult:
    return ToolResult(id_, text, is_error)


def request(*messages: Message, system: str = "你是助手", tools: tuple[ToolWords, ...] = TOOLS) -> ModelRequest:
    return ModelRequest(system, messages, tools)


HELLO = request(user("你好"))
