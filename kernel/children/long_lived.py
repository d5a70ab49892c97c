"""A long-lived child: lines in, lines out."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from kernel.children.call import Call
from kernel.children.pipes import ERRORS, INPUT, OUTPUT, Pipes, Sink, line_reader, line_writer
from kernel.errors import ChildLost
from kernel.ports import Exit, Output

_ERROR_BYTES = 16 * 1024
_END_WITHIN_S = 5.0


class LongLived:
    """The real `Child`."""

    def __init__(
        self,
        call: Call,
        sending: asyncio.StreamWriter,
        receiving: asyncio.StreamReader,
        transport: asyncio.ReadTransport,
        errors: Sink,
    ) -> None:
        self._call = call
        self._sending = sending
        self._receiving = receiving
        self._transport = transport
        self._errors = errors
        self._exit = asyncio.create_task(self._wait())
        self._exit.add_done_callback(lambda task: task.cancelled() or task.exception())

    @classmethod
    async def over(cls, call: Call, pipes: Pipes, longest_line: int) -> LongLived:
        """The child that `call` has started, with its pipes."""
        errors = Sink(_ERROR_BYTES)
        await errors.read(pipes.take(ERRORS))
        receiving, transport = await line_reader(pipes.take(OUTPUT), longest_line)
        return cls(call, await line_writer(pipes.take(INPUT)), receiving, transport, errors)

    async def send(self, line: bytes) -> None:
        """See the port."""
        try:
            self._sending.write(line + b"\n")
            await self._sending.drain()
        except OSError as error:
            raise ChildLost("the child reads no more") from error

    async def receive(self) -> bytes | None:
        """See the port."""
        try:
            return (await self._receiving.readuntil(b"\n"))[:-1]
        except asyncio.IncompleteReadError as rest:
            return rest.partial or None
        except asyncio.LimitOverrunError as error:
            raise ChildLost("the child wrote a line without end") from error

    def errors(self) -> Output:
        """See the port."""
        return self._errors.output()

    async def ended(self) -> Exit:
        """See the port."""
        await asyncio.wait([self._exit])
        if self._exit.cancelled():
            raise ChildLost("the child was broken off")
        return self._exit.result()

    async def close(self, patience: timedelta = timedelta(seconds=2)) -> None:
        """See the port."""
        self._sending.close()
        try:
            await asyncio.wait([self._exit], timeout=patience.total_seconds())
            if not self._exit.done():
                self._call.stop()
                await asyncio.wait([self._exit], timeout=_END_WITHIN_S)
        finally:
            self._exit.cancel()  # Only one may read what the keeper says.
            await asyncio.wait([self._exit])
            await self._call.end()
            self._transport.close()
            self._errors.close()

    async def _wait(self) -> Exit:
        how, _ = await self._call.ended()
        return how
