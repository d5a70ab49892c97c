"""Which tools the assistant has."""

from __future__ import annotations

from collections.abc import Iterator

from kernel.access import Rights
from kernel.builtin.calculate import CALCULATE
from kernel.builtin.clarify import ask_clarification
from kernel.builtin.clock import NOW
from kernel.builtin.files import EDIT_FILE, LIST_FILES, READ_FILE, WRITE_FILE
from kernel.builtin.remember import forget, remember
from kernel.builtin.reminders import reminder_tools
from kernel.builtin.search import search_tool
from kernel.builtin.send_message import send_message
from kernel.builtin.shell import shell
from kernel.builtin.task import task
from kernel.builtin.web import web_fetch
from kernel.ports import Children, Http
from kernel.stores.stores import Stores
from kernel.tools import Tool, ToolRegistry
from zclaw.wiring.turns import new_id


def toolbox(stores: Stores, *, rights: Rights, http: Http, children: Children) -> ToolRegistry:
    """Every built-in tool, over these stores and these ways outside."""
    return ToolRegistry(_tools(stores, rights, http, children))


def _tools(stores: Stores, rights: Rights, http: Http, children: Children) -> Iterator[Tool]:
    yield from (NOW, CALCULATE)
    yield from (READ_FILE, WRITE_FILE, EDIT_FILE, LIST_FILES, search_tool())
    yield from reminder_tools(stores.triggers, new_id)
    yield from (remember(stores.memories), forget(stores.memories))
    yield from (ask_clarification(), task())
    yield send_message(stores.chats, rights)
    yield web_fetch(http)
    yield shell(children, rights)
