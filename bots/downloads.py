"""One file over HTTP: at most so many bytes, in bounded time, from nowhere but the address that was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import aiohttp

from bots.adapter import AnswerLost, FileGone, FileTooLarge
from kernel.chat import MAX_FILE_BYTES
from kernel.errors import RetryLater, ZclawError

WITHIN_S: Final = 25.0
"""All of it; a server that sends drop by drop gets no more."""
SILENCE_S: Final = 8.0
CONNECT_S: Final = 5.0
_PIECE_BYTES: Final = 64 * 1024
_PAUSE: Final = timedelta(seconds=1)
_LIMITED: Final = timedelta(seconds=5)
"""When we are told to slow down and not for how long."""
_PASSES: Final = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A whole file, and what its server calls it (lower case, without parameters)."""

    content: bytes
    mime: str


async def download(
    http: aiohttp.ClientSession,
    address: str,
    *,
    headers: Mapping[str, str] | None = None,
    proxy: str | None = None,
    most_bytes: int = MAX_FILE_BYTES,
) -> Downloaded:
    """The file at `address`; redirects are refused, so that no token goes where it was not meant to.

    Raises `FileGone`, `FileTooLarge`, `RetryLater`, `AnswerLost`; no message holds the address.
    """
    timeout = aiohttp.ClientTimeout(total=WITHIN_S, connect=CONNECT_S, sock_connect=CONNECT_S, sock_read=SILENCE_S)
    plain = {"Accept-Encoding": "identity", **(headers or {})}
    failure: ZclawError
    try:
        async with http.get(
            address, headers=plain, proxy=proxy, allow_redirects=False, timeout=timeout, auto_decompress=False
        ) as response:
            refused = _refused(response)
            if refused is not None:
                failure = refused
            elif (response.content_length or 0) > most_bytes:
                failure = FileTooLarge(f"a file of {response.content_length} bytes")
            else:
                content = await _read(response, most_bytes)
                if content is not None:
                    return Downloaded(content, response.content_type.lower())
                failure = FileTooLarge(f"a file of more than {most_bytes} bytes")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        failure = AnswerLost(f"file: {type(error).__name__}")
    # Outside the handler: the library's error holds the address, which may be a token.
    raise failure


async def _read(response: aiohttp.ClientResponse, most_bytes: int) -> bytes | None:
    """The body; None when it is too long, and the rest of it stays where it is."""
    content = bytearray()
    async for piece in response.content.iter_chunked(_PIECE_BYTES):
        content += piece
        if len(content) > most_bytes:
            response.close()
            return None
    return bytes(content)


def _refused(response: aiohttp.ClientResponse) -> ZclawError | None:
    status = response.status
    if status == 200 and response.headers.get("Content-Encoding", "identity").lower() == "identity":
        return None
    if status in _PASSES or status >= 500:
        return RetryLater(f"file: HTTP {status}", _pause(response) if status == 429 else _PAUSE)
    return FileGone(f"file: HTTP {status}" if status != 200 else "file: packed although we asked for it plain")


def _pause(response: aiohttp.ClientResponse) -> timedelta:
    try:
        return timedelta(seconds=min(max(float(response.headers.get("Retry-After", "")), 0.1), 60.0))
    except ValueError:
        return _LIMITED
