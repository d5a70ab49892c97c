"""The reference page says of every built-in tool what the tool says of itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kernel.access import Access
from kernel.messages import Json
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.texts import LANGUAGES
from kernel.tools import Approval, Tool
from tests.twins.children import TwinChildren
from tests.twins.clock import JumpingClock
from tests.twins.http import TwinHttp
from tests.twins.rights import rights_of
from zclaw.wiring.toolbox import toolbox

PAGE = Path(__file__).parents[3] / "docs/reference/tools.md"

ORDINARY: dict[str, Json] = {
    "now": {},
    "calculate": {"expression": "1 + 1"},
    "read_file": {"path": "a.txt"},
    "write_file": {"path": "a.txt", "text": "x"},
    "edit_file": {"path": "a.txt", "old": "x", "new": "y"},
    "list_files": {},
    "search_files": {"pattern": "x"},
    "reminder_create": {"request": "every day at 9 remind me to stretch"},
    "reminder_list": {},
    "reminder_change": {"about": "stretch", "when": "every day at 10"},
    "reminder_cancel": {"about": "stretch"},
    "remember": {"text": "x"},
    "forget": {"text": "x"},
    "ask_clarification": {"question": "which?"},
    "task": {"instruction": "look it up"},
    "send_message": {"chat": "Ann", "text": "x"},
    "web_fetch": {"url": "https://example.com"},
    "shell": {"command": "ls"},
}
"""The arguments of an ordinary call, for what depends on them."""


def built_in() -> list[tuple[Tool, Json]]:
    clock = JumpingClock()
    stores = memory_stores(clock, memory=Memory(clock))
    tools = toolbox(stores, rights=rights_of(Access()), http=TwinHttp(), children=TwinChildren())
    return [(tools.tool(name), ORDINARY[name]) for name in sorted(tools.names)]


TOOLS = built_in()

each = pytest.mark.parametrize(("tool", "arguments"), TOOLS, ids=[tool.words.name for tool, _ in TOOLS])


def rows() -> dict[str, tuple[str, str]]:
    """Of each call in the table: how it runs, and whether it asks."""
    found = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE)
    return {call: (runs, asks) for call, runs, asks in found}


def written(tool: Tool) -> str:
    """The call as the table writes it: `read_file(path, [lines])`."""
    schema = json.loads(tool.words.schema)
    required = schema.get("required", [])
    names = (name if name in required else f"[{name}]" for name in schema["properties"])
    return f"{tool.words.name}({', '.join(names)})"


def test_every_tool_is_in_the_table_and_no_other() -> None:
    assert sorted(rows()) == sorted(written(tool) for tool, _ in TOOLS)


@each
def test_the_table_says_how_the_tool_runs_and_whether_it_asks(tool: Tool, arguments: Json) -> None:
    assert rows()[written(tool)] == (tool.concurrency(arguments).value, tool.approval(arguments).value)


@each
def test_every_provider_takes_the_schema(tool: Tool, arguments: Json) -> None:
    schema = json.loads(tool.words.schema)

    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert {"oneOf", "anyOf", "allOf"} & set(schema) == set()
    assert all(re.fullmatch("[a-z_]{1,64}", name) for name in (tool.words.name, *schema["properties"]))


@each
def test_people_are_told_in_one_short_sentence_of_their_language(tool: Tool, arguments: Json) -> None:
    told = [tool.describe(arguments, language) for language in LANGUAGES]

    assert all(told)
    assert len(set(told)) == len(LANGUAGES) or tool.words.name == "ask_clarification"  # In the model's own words.
    if tool.approval(arguments) is Approval.NEVER:  # Else the card shows everything that will happen.
        assert all(len(sentence) <= 80 and "\n" not in sentence for sentence in told)
