"""A network of our own: names that lead where a test says, and public addresses that end at a local server."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import httpcore


@dataclass
class Names:
    """Name -> what it leads to at each look-up, the last answer for ever after. Unknown names do not exist."""

    known: dict[str, list[list[str]]] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)

    def lead(self, name: str, *answers: Sequence[str]) -> None:
        self.known[name] = [list(answer) for answer in answers]

    async def __call__(self, host: str) -> Sequence[str]:
        self.looked_up.append(host)
        if host not in self.known:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        answers = self.known[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


@dataclass
class Redial(httpcore.AsyncNetworkBackend):
    """Connects to a server on this machine whatever address is dialled, and remembers what was; `dead` refuse."""

    port: int
    dialled: list[tuple[str, int]] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.dialled.append((host, port))
        if host in self.dead:
            raise httpcore.ConnectError("refused")
        return await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", self.port, timeout)
