"""What the doctor finds at the address of our own server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import aiohttp

from kernel.settings import ListenAddress
from zclaw.findings import Finding

_ANSWER_WITHIN_S = 3.0
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 — what a person may have set


async def listen_findings(address: ListenAddress) -> Sequence[Finding]:
    """Whether our server answers there or could be opened, and whether others than us can reach it."""
    about = f"HTTP at {address.host}:{address.port}"
    host = _EVERY_ADDRESS.get(address.host, address.host)
    url = f"http://{f'[{host}]' if ':' in host else host}:{address.port}/healthz"
    timeout = aiohttp.ClientTimeout(total=_ANSWER_WITHIN_S)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as http, http.get(url, allow_redirects=False) as answer:
            is_ours = "ok" in await answer.json()
            status = answer.status
    except (aiohttp.ClientConnectorError, TimeoutError):
        return [await _could_be_opened(about, address)]
    except (aiohttp.ClientError, ValueError, TypeError):
        is_ours, status = False, 0
    if not is_ours:
        return [Finding(about, "another program is there: name another address in ZCLAW_LISTEN")]
    if status != 200:
        return [Finding(f"{about}: answers", "it is not well: its /healthz says which part")]
    if address.host in _EVERY_ADDRESS:
        advice = "everybody who reaches this machine reaches it: behind a proxy on this machine 127.0.0.1 is enough"
        return [Finding(f"{about}: answers", advice=advice)]
    return [Finding(f"{about}: answers")]


async def _could_be_opened(about: str, address: ListenAddress) -> Finding:
    try:
        server = await asyncio.get_running_loop().create_server(asyncio.Protocol, address.host, address.port)
    except OSError as error:
        return Finding(about, f"it cannot be opened ({error.strerror}): name another address in ZCLAW_LISTEN")
    server.close()
    return Finding(f"{about}: free")
