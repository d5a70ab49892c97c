"""Commands that are asked for in the same turn of the event loop go to Redis together, over one connection.

A process that works for hundreds of conversations asks for as many scripts at once. Sent one by one, the client's own
work for each (a connection, a write, a wait) is half of what a turn costs (benchmarks/turns.py).
"""

from __future__ import annotations

import asyncio
from typing import cast

import redis.asyncio
from redis.commands.core import AsyncScript
from redis.exceptions import NoScriptError

MOST_TOGETHER = 64
"""The first answer of a batch is read when the last one is there: longer ones would make it wait."""

Argument = str | int
_Asked = list[tuple[tuple[Argument, ...], "asyncio.Future[object]"]]


class Batches:
    """Sends commands. A batch is answered within `within_s`, or everyone in it hears why not.

    A batch whose answer was lost is sent again as often as the client's retry says, so every command must bear that.
    Whoever is cancelled while it waits does not take its command back.
    """

    def __init__(self, client: redis.asyncio.Redis, *, within_s: float) -> None:
        self._client = client
        self._within_s = within_s
        self._asked: _Asked = []
        self._sending: set[asyncio.Task[None]] = set()

    async def ask(self, *command: Argument) -> object:
        """The answer to the command. Raises what the library raises for it, and TimeoutError."""
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if not self._asked or len(self._asked) >= MOST_TOGETHER:
            self._asked = []
            # The task begins when everything that is ready now has run, and has asked.
            task = asyncio.create_task(self._send(self._asked), name="batch")
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        self._asked.append((command, answer))
        return await answer

    async def run(self, script: AsyncScript, arguments: tuple[Argument, ...]) -> object:
        """What the script gives; it is loaded when Redis does not know it."""
        try:
            return await self.ask("EVALSHA", script.sha, 0, *arguments)
        except NoScriptError:
            async with asyncio.timeout(self._within_s):
                return cast(object, await script(args=arguments))

    async def close(self) -> None:
        """Return when what was asked for is answered; nobody may ask any more."""
        while self._sending:
            await asyncio.wait(self._sending)

    async def _send(self, asked: _Asked) -> None:
        if self._asked is asked:
            self._asked = []
        answers: list[object]
        try:
            async with asyncio.timeout(self._within_s):
                pipeline = self._client.pipeline(transaction=False)
                for command, _ in asked:
                    pipeline.execute_command(*command)
                answers = await pipeline.execute(raise_on_error=False)
        except asyncio.CancelledError:
            for _, future in asked:
                future.cancel()
            raise
        except Exception as error:  # The boundary of a batch: whoever asked must hear of it.
            answers = [error] * len(asked)
        for (_, future), answer in zip(asked, answers, strict=True):
            if future.done():  # Whoever asked was cancelled.
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
