"""The same HTTP work as a job of a stock RQ worker: two calls of a model's service, one after the other."""

from __future__ import annotations

import httpx

_CLIENTS: dict[str, httpx.Client] = {}


def turn(url: str, first: str, second: str) -> None:
    """Ask twice and read what comes. One client a process, as a careful author would have it."""
    client = _CLIENTS.setdefault("one", httpx.Client(timeout=30))
    for body in (first, second):
        client.post(url, content=body.encode(), headers={"content-type": "application/json"}).raise_for_status()
