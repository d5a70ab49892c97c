"""Tools for tests: one of each kind, that remember what they did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from kernel.changes import Changes
from kernel.messages import Concurrency, Json, ToolWords
from kernel.tools import Approval, Tool, ToolContext, ToolOutcome

SCHEMA = '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}'


@dataclass
class Deeds:
    """What the tools did, in order: `begin name text` and `end name text`; `contexts` in the same order as begins."""

    done: list[str] = field(default_factory=list)
    contexts: list[ToolContext] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    begun: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    def tool(
        self,
        name: str,
        concurrency: Concurrency = Concurrency.EXCLUSIVE,
        approval: Approval = Approval.NEVER,
        *,
        timeout: timedelta = timedelta(seconds=30),
        held: bool = False,
        changes: Callable[[str], Changes] = lambda _: Changes(),
    ) -> Tool:
        """A tool that says `did <text>`; with `held` it goes on when `gates[name]` is set."""
        if held:
            self.gates[name] = asyncio.Event()

        async def run(arguments: Json, context: ToolContext) -> ToolOutcome:
            text = str(arguments["text"])
            self.done.append(f"begin {name} {text}")
            self.contexts.append(context)
            self.begun.put_nowait(name)
            if held:
                await self.gates[name].wait()
            self.done.append(f"end {name} {text}")
            return ToolOutcome(f"did {text}", changes=changes(text))

        return Tool(
            words=ToolWords(name, f"does {name}", SCHEMA),
            concurrency=lambda _: concurrency,
            approval=lambda _: approval,
            timeout=timeout,
            describe=lambda arguments, _: f"{name}：{arguments['text']}",
            run=run,
        )

    def file_tool(self, name: str) -> Tool:
        """A tool that writes its text into `notes/a.txt`."""

        async def run(arguments: Json, context: ToolContext) -> ToolOutcome:
            await context.workspace.write("notes/a.txt", str(arguments["text"]).encode())
            return ToolOutcome("written")

        return Tool(
            words=ToolWords(name, f"does {name}", SCHEMA),
            concurrency=lambda _: Concurrency.EXCLUSIVE,
            approval=lambda _: Approval.NEVER,
            timeout=timedelta(seconds=30),
            describe=lambda arguments, _: f"{name}：{arguments['text']}",
            run=run,
        )


def opener(name: str) -> Tool:
    """A tool that starts a frame with the words it is given."""
    return Tool(
        words=ToolWords(name, f"does {name}", SCHEMA),
        concurrency=lambda _: Concurrency.EXCLUSIVE,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=30),
        describe=lambda arguments, _: f"{name}：{arguments['text']}",
        opens=lambda arguments: str(arguments["text"]),
    )
