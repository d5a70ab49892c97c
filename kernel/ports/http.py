"""One question to the web and its answer, through a guard that only lets public addresses pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What is asked. `timeout` is for the whole of it, redirects included; the answer is cut at `cap_bytes`.

    The address, headers and body may hold secrets: they are not in its repr.
    """

    url: str = field(repr=False)
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    cap_bytes: int = 2_000_000
    timeout: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class HttpReply:
    """What came back, of whatever status: `url` is where it came from in the end; `content` is decompressed.

    The names of `headers` are in lower case, values of the same name joined by a comma; cookies are not among them.
    `is_cut`: there was more than `cap_bytes`, or the compressed content ended too early.
    """

    status: int
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)
    is_cut: bool = False


class Http(Protocol):
    """The web, as far as it is public."""

    async def send(self, request: HttpRequest) -> HttpReply:
        """Ask once, follow up to five redirects, and give the answer; nothing is repeated.

        A redirect to another origin takes no header of the caller along but `accept`, `accept-language` and
        `user-agent`, and never a body.
        Raises `AddressRefused` and `AnswerRefused` (words for the model) and `NoAnswer`; none holds more of the
        address than its host.
        """
