"""The worker's end of the guard: starts it, hands it open files, notices its end."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path

import structlog

from kernel.errors import ChildLost

log = structlog.get_logger(__name__)

_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from kernel.children.guard import main; main(int(sys.argv[2]), has_users=sys.argv[3] == 'users')"
)
_READY_WITHIN_S = 10.0
_GONE_WITHIN_S = 12.0


class Link:
    """One guard and the socket to it."""

    def __init__(self, process: subprocess.Popen[bytes], end: socket.socket) -> None:
        self._process = process
        self._end = end

    @property
    def pid(self) -> int:
        """The guard's process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the guard still runs."""
        return self._process.poll() is None

    async def hand_over(self, private: str, files: tuple[int, ...]) -> None:
        """Let the guard fork a keeper for these files. Raises ChildLost."""
        line = json.dumps({"private": private}).encode() + b"\n"
        loop = asyncio.get_running_loop()
        while True:
            try:
                # Far below what a socket takes at once: it goes whole or not at all.
                socket.send_fds(self._end, [line], files)
                return
            except BlockingIOError:
                ready = loop.create_future()
                loop.add_writer(self._end, ready.set_result, None)
                try:
                    await ready
                finally:
                    loop.remove_writer(self._end)
            except OSError as error:
                raise ChildLost("the guard of our children is gone") from error

    def kill(self) -> None:
        """End the guard at once; its keepers notice."""
        self._process.kill()

    async def close(self) -> None:
        """Let the guard end everything below it and itself; returns when it has."""
        self._end.close()
        try:
            await asyncio.to_thread(self._process.wait, _GONE_WITHIN_S)
        except subprocess.TimeoutExpired:
            log.error("guard did not end", pid=self.pid)
            self.kill()
            await asyncio.to_thread(self._process.wait)


async def open_link(*, has_users: bool) -> Link:
    """Start a guard. Raises ChildLost when it does not come up."""
    link, ours = _start(has_users)
    try:
        async with asyncio.timeout(_READY_WITHIN_S):
            ready = await asyncio.get_running_loop().sock_recv(ours, 100)
    except BaseException as error:
        link.kill()
        await asyncio.shield(link.close())
        if isinstance(error, TimeoutError | OSError):
            raise ChildLost("the guard of our children does not come up") from error
        raise
    if not ready:
        await link.close()
        raise ChildLost("the guard of our children ended at once")
    log.info("guard started", pid=link.pid)
    return link


def _start(has_users: bool) -> tuple[Link, socket.socket]:
    ours, theirs = socket.socketpair()
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, root, str(theirs.fileno())]
    try:
        process = subprocess.Popen(
            [*command, "users" if has_users else "one user"],
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        ours.close()
        raise ChildLost(f"the guard of our children cannot be started ({error.strerror})") from error
    finally:
        theirs.close()
    ours.setblocking(False)
    return Link(process, ours), ours
