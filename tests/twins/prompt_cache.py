"""What services read of a request from their prompt caches, as their makers describe them; in tokens of four bytes.

    Anthropic    keeps what ends at a mark, and looks back from each mark over 20 blocks for something kept. Tools, then
                 the prompt, then the messages; these are kept apart for each `tool_choice` and each way to think
                 (people have measured that `none` reads what `auto` wrote: the page is taken at its word here)
    the others   the longest beginning that any request had before, in steps, from 1024 tokens on

Both for five minutes after the last use.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from kernel.ports import Clock

KEPT_FOR = timedelta(minutes=5)
LEAST = 1024
"""Tokens; a shorter beginning is not kept."""
LOOK_BACK = 20
"""Blocks, the marked one among them."""
STEP = 128
"""Tokens; caches without marks know beginnings of so many, twice as many and so on."""
_TOKEN_BYTES = 4


@dataclass(frozen=True, slots=True)
class Counted:
    """One request, in tokens: all of it, and what was read from the cache."""

    sent: int
    read: int


class _Kept:
    """Beginnings by digest, each until five minutes after its last use."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, datetime] = {}

    def knows(self, digest: str) -> bool:
        return self._clock.now() < self._until.get(digest, self._clock.now())

    def keep(self, digests: Iterable[str]) -> None:
        self._until.update(dict.fromkeys(digests, self._clock.now() + KEPT_FOR))


class MarkedCache:
    """Anthropic's. `take` counts a body of `POST /v1/messages`."""

    def __init__(self, clock: Clock) -> None:
        self._kept = _Kept(clock)

    def take(self, body: dict[str, Any]) -> Counted:
        blocks = [*body.get("tools", []), *body.get("system", [])]
        apart = len(blocks)
        blocks += [block for message in body["messages"] for block in message["content"]]
        digest, size = sha256(body["model"].encode()), 0
        begins: list[tuple[str, int]] = []
        for number, block in enumerate(blocks):
            if number == apart:
                digest.update(_wire([body.get("tool_choice"), body.get("thinking")]))
            wire = _wire({key: value for key, value in block.items() if key != "cache_control"})
            digest.update(wire)
            size += len(wire)
            begins.append((digest.hexdigest(), size // _TOKEN_BYTES))
        marked = [number for number, block in enumerate(blocks) if "cache_control" in block]
        near = {number - back for number in marked for back in range(LOOK_BACK) if number >= back}
        read = max((number for number in near if self._kept.knows(begins[number][0])), default=None)
        self._kept.keep(begins[number][0] for number in marked if begins[number][1] >= LEAST)
        if read is None:
            return Counted(begins[-1][1], 0)
        self._kept.keep([begins[read][0]])
        return Counted(begins[-1][1], begins[read][1])


class SteppedCache:
    """Of services without marks. `take` counts a body of `POST /chat/completions`."""

    def __init__(self, clock: Clock) -> None:
        self._kept = _Kept(clock)

    def take(self, body: dict[str, Any]) -> Counted:
        wire = _wire([body["model"], body.get("tools"), *body["messages"]])
        digest = sha256()
        begins: list[str] = []
        for start in range(0, len(wire) - STEP * _TOKEN_BYTES, STEP * _TOKEN_BYTES):
            digest.update(wire[start : start + STEP * _TOKEN_BYTES])
            begins.append(digest.hexdigest())
        known = next((number for number, begin in enumerate(begins) if not self._kept.knows(begin)), len(begins))
        self._kept.keep(begins)
        read = known * STEP
        return Counted(len(wire) // _TOKEN_BYTES, read if read >= LEAST else 0)


def _wire(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
