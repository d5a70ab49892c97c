"""A worker of a chaos run: the real one, with a scripted model, a tool that counts, and a fuse at every point.

python -m tests.chaos.worker STORE_URL OUTSIDE_URL [--calm] [--no-fold] [--grace SECONDS]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from kernel.access import Access
from kernel.clock import SystemClock
from kernel.errors import LeaseLost
from kernel.logs import set_up
from kernel.messages import (
    Concurrency,
    Json,
    Message,
    ModelReply,
    ModelRequest,
    Role,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    ToolWords,
)
from kernel.ports import MAX_TRIES, Checkout, Conversations, Lease, Release, Step
from kernel.session import GateState, Session
from kernel.settings import AccessRule
from kernel.stores.redis.stores import open_stores
from kernel.stores.wakeups import JOB, hint_client, hint_queue
from kernel.tools import Approval, Run, Tool, ToolContext, ToolOutcome, ToolRegistry
from tests.chaos.outside import Fuse, Outside
from workers.effects import Effects
from workers.turnloop import Turns
from workers.worker import GRACE, run_worker
from zclaw.wiring.parts import process_name
from zclaw.wiring.turns import Rules, open_actors

MODEL_S = 0.15
QUICK_S = 0.05
"""Of an answer to counted texts, of which there are thousands."""
SLOW, SLOW_S = "slowly", 2.0
THINKING = re.compile(r"thinking (\d+) s")
POISON = "poison"
"""A message with this word kills whoever asks the model about it."""
TASK = re.compile(r"task (\d+) steps (\d)(?: lingering (\d+) s)?")
COUNTED = re.compile(r"text (\d+) of chat (\d+)")
FILE = re.compile(r"(write|read) (\S+)(?: as (\w+))?")


class Model:
    """Decides from the request alone, so that every holder decides alike.

    task N steps S      asks for one effect after the other, then says that it is done
    text N of chat C    says which text is the last it has read; what the request held is noted outside
    write F as TEXT     asks for the tool, then repeats what it answered
    read F              likewise
    """

    name = "scripted:chaos"

    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`."""
        newest = request.messages[-1]
        said = [part for each in request.messages if each.role is Role.USER for part in each.parts]
        words = [part.text for part in said if isinstance(part, Text)] or [""]
        if POISON in newest.text:
            os.kill(os.getpid(), signal.SIGKILL)
        if COUNTED.search(words[-1]):
            counted = [(found[2], int(found[1])) for text in words for found in COUNTED.finditer(text)]
            self._outside.ask(counted)
            await asyncio.sleep(QUICK_S)
            return _says(f"read {counted[-1][1]}")
        thinking = THINKING.search(newest.text)
        await asyncio.sleep(float(thinking[1]) if thinking else SLOW_S if SLOW in newest.text else MODEL_S)
        results = [part for part in newest.parts if isinstance(part, ToolResult)]
        if (file := FILE.search(words[-1])) is not None:
            asked = ToolCall(f"call-{len(request.messages)}", file[1], json.dumps({"path": file[2], "text": file[3]}))
            return _says(results[-1].text) if results else ModelReply(Message(Role.ASSISTANT, (asked,)), Stop.TOOLS)
        return self._next_step(request)

    def _next_step(self, request: ModelRequest) -> ModelReply:
        task, steps, done, seconds = "", 0, 0, 0.0
        for message in request.messages:
            for part in message.parts:
                if isinstance(part, Text) and message.role is Role.USER and (found := TASK.search(part.text)):
                    task, steps, done, seconds = found[1], int(found[2]), 0, float(found[3] or 0)
                done += isinstance(part, ToolResult)
        if done < steps:
            words = json.dumps({"text": f"{task}.{done + 1}", "seconds": seconds})
            asked = ToolCall(f"call-{task}-{done + 1}", "effect", words)
            return ModelReply(Message(Role.ASSISTANT, (asked,)), Stop.TOOLS)
        return _says(f"done {task}")

    async def close(self) -> None:
        """Nothing to let go of."""


def _says(text: str) -> ModelReply:
    return ModelReply(Message(Role.ASSISTANT, (Text(text),)), Stop.END)


class Fused:
    """The real conversations, with a fuse after each of their moments."""

    def __init__(self, inner: Conversations, fuse: Fuse) -> None:
        self._inner = inner
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def checkout(self, worker: str, *, now: datetime, last_try: bool) -> Checkout | None:
        """As the real one; spares the process on a last try."""
        asking = object()
        if last_try:
            self._fuse.hold(asking)  # The store counts the try before we hear of it.
        try:
            found = await self._inner.checkout(worker, now=now, last_try=last_try)
            if found is not None and found.lease.tries >= MAX_TRIES:
                self._fuse.hold(found.lease.conversation)
        finally:
            self._fuse.let_go(asking)
        if found is not None:
            self._fuse.at("checkout")
        return found

    async def commit(self, lease: Lease, step: Step, *, now: datetime) -> Session:
        """As the real one."""
        self._fuse.at("before commit")
        try:
            session = await self._inner.commit(lease, step, now=now)
        except LeaseLost:
            self._fuse.let_go(lease.conversation)
            raise
        if step.clears_tries:
            self._fuse.let_go(lease.conversation)
        self._fuse.at(f"commit {_moment(step)}")
        return session

    async def release(self, lease: Lease, *, now: datetime, keep: bool) -> Release:
        """As the real one."""
        try:
            return await self._inner.release(lease, now=now, keep=keep)
        finally:
            self._fuse.let_go(lease.conversation)


def _moment(step: Step) -> str:
    """Which commit of its turn this is: `calling 2`, `claimed 2`, or `done`."""
    for turn in step.session.turns:
        if any(gate.state is GateState.CLAIMED for gate in turn.gates):
            return f"claimed {turn.model_calls}"
        if turn.is_calling:
            return f"calling {turn.model_calls}"
    return "done"


def fuse_effects(fuse: Fuse) -> None:
    """Put fuses around the run of a claimed call."""
    real = Effects.run_call

    async def run_call(self: Effects, *arguments: Any) -> Any:
        fuse.at("between claim and call")
        done = await real(self, *arguments)
        fuse.at("between call and commit")
        return done

    Effects.run_call = run_call  # type: ignore[method-assign, assignment]  # the only way to stand between the two


def effect_tool(outside: Outside, fuse: Fuse) -> Tool:
    """A tool with an effect that must never happen twice; then it lingers for `seconds`."""

    async def run(arguments: Json, _context: ToolContext) -> ToolOutcome:
        outside.effect(str(arguments["text"]))
        fuse.at("in the call")
        await asyncio.sleep(float(str(arguments["seconds"])))
        return ToolOutcome("done")

    return _tool("effect", run, Concurrency.EXCLUSIVE)


def file_tools(outside: Outside) -> list[Tool]:
    """Tools that write and read the conversation's files, and note outside which process did it."""

    async def write(arguments: Json, context: ToolContext) -> ToolOutcome:
        await context.workspace.write(str(arguments["path"]), str(arguments["text"]).encode())
        outside.effect(f"write {os.getpid()}")
        return ToolOutcome("written")

    async def read(arguments: Json, context: ToolContext) -> ToolOutcome:
        content = await context.workspace.read(str(arguments["path"]))
        outside.effect(f"read {os.getpid()}")
        return ToolOutcome(content.decode())

    return [_tool("write", write, Concurrency.EXCLUSIVE), _tool("read", read, Concurrency.READ_ONLY)]


def _tool(name: str, run: Run, concurrency: Concurrency) -> Tool:
    return Tool(
        words=ToolWords(name, "for these runs", '{"type":"object"}'),
        concurrency=lambda _: concurrency,
        approval=lambda _: Approval.NEVER,
        timeout=timedelta(seconds=30),
        describe=lambda _arguments, _language: name,
        run=run,
    )


def main() -> int:
    """Work until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("store_url")
    parser.add_argument("outside_url")
    parser.add_argument("--calm", action="store_true")
    parser.add_argument("--no-fold", action="store_true")
    parser.add_argument("--grace", type=float, default=GRACE.total_seconds())
    given = parser.parse_args()
    store_url, outside_url = str(given.store_url), str(given.outside_url)
    set_up("warning")
    outside = Outside(outside_url)
    fuse = Fuse(outside, is_live=not given.calm)
    fuse.watch(outside_url)
    fuse_effects(fuse)

    @asynccontextmanager
    async def open_turns() -> AsyncIterator[Turns]:
        clock = SystemClock()
        stores = await open_stores(store_url, clock)
        actors = open_actors(
            replace(stores, conversations=Fused(stores.conversations, fuse)),
            provider=Model(outside),
            registry=ToolRegistry([effect_tool(outside, fuse), *file_tools(outside)]),
            clock=clock,
            worker=process_name(),
            rules=Rules("UTC", fold=not given.no_fold, access=Access(rule=AccessRule.OPEN)),
            slots=200,
        )
        serving = asyncio.create_task(actors.serve())
        try:
            yield actors
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            await stores.close()

    queue = hint_queue(hint_client(store_url))
    return run_worker(queue, open_turns, job=JOB, name=process_name(), grace=timedelta(seconds=given.grace))


if __name__ == "__main__":
    sys.exit(main())
