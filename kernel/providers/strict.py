"""What every model's service demands of a request, checked on our own words and without the code that writes wires."""

from __future__ import annotations

import json
from itertools import groupby

from kernel.messages import Message, ModelRequest, Opaque, Role, Text, ToolCall, ToolResult


def breaches(request: ModelRequest) -> list[str]:
    """What is wrong with the request, one line each; empty when every strict service would take it."""
    turns = [(role, list(run)) for role, run in groupby(request.messages, key=lambda message: message.role)]
    wrong = _ends(request)
    wrong += [line for role, run in turns for message in run for line in _misplaced(role, message)]
    taken: set[str] = set()
    for index, (role, run) in enumerate(turns):
        ids = [call.id for message in run for call in message.calls]
        answers = [part.call for message in run for part in message.parts if isinstance(part, ToolResult)]
        asked = [call.id for message in turns[index - 1][1] for call in message.calls] if index else []
        if role is Role.USER:
            wrong += [f"call {id_} is not answered in the next message" for id_ in asked if id_ not in answers]
            wrong += [f"a result answers {id_}, which was not called" for id_ in answers if id_ not in asked]
            wrong += [f"call {id_} is answered twice" for id_ in set(answers) if answers.count(id_) > 1]
        wrong += [f"call id {id_} is used twice" for id_ in set(ids) if ids.count(id_) > 1 or id_ in taken]
        taken.update(ids)
    return wrong + _tools(request)


def _ends(request: ModelRequest) -> list[str]:
    if not request.messages:
        return ["there is no message"]
    wrong = []
    if request.messages[0].role is not Role.USER:
        wrong.append("the first message is not a user's")
    if request.messages[-1].role is not Role.USER:
        wrong.append("the last message is not a user's")
    return wrong


def _misplaced(role: Role, message: Message) -> list[str]:
    wrong = [] if message.parts else ["a message is empty"]
    for part in message.parts:
        match part:
            case Text(text) if not text.strip():
                wrong.append("a text is blank")
            case ToolCall(id, name) if not id or not name:
                wrong.append("a call has no id or no name")
            case ToolCall() | Opaque() if role is not Role.ASSISTANT:
                wrong.append("a call or an opaque part stands in a user's message")
            case ToolResult() if role is not Role.USER:
                wrong.append("a result stands in an assistant's message")
            case _:
                pass
    return wrong


def _tools(request: ModelRequest) -> list[str]:
    names = [tool.name for tool in request.tools]
    wrong = [f"two tools are named {name}" for name in set(names) if names.count(name) > 1]
    for tool in request.tools:
        schema = json.loads(tool.schema)
        if not isinstance(schema, dict) or schema.get("type") != "object":
            wrong.append(f"the schema of {tool.name} is not an object's")
        elif {"oneOf", "anyOf", "allOf"} & schema.keys():
            wrong.append(f"the schema of {tool.name} is a union on top")
        elif not all(name.isascii() for name in schema.get("properties", {})):
            wrong.append(f"the schema of {tool.name} has a property that is not ASCII")
    return wrong
