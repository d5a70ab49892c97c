"""What `zclaw doctor` found, one line each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

CHECK_WITHIN_S = 8.0
"""Every check has an end; all run side by side."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was to be looked at.

    `problem` says what to change, `advice` what could be better, `unseen` why it could not be looked at.
    """

    about: str
    problem: str = ""
    advice: str = ""
    unseen: str = ""

    def __str__(self) -> str:
        if self.problem:
            return f"[!!] {self.about}: {self.problem}"
        if self.advice:
            return f"[ !] {self.about}: {self.advice}"
        return f"[--] {self.about}: not looked at, {self.unseen}" if self.unseen else f"[ok] {self.about}"


async def within(about: str, look: Awaitable[Sequence[Finding]], slow: str) -> Sequence[Finding]:
    """What `look` finds; `slow` says what to do when it takes too long."""
    try:
        async with asyncio.timeout(CHECK_WITHIN_S):
            return await look
    except TimeoutError:
        return [Finding(about, f"no answer within {CHECK_WITHIN_S:.0f} s: {slow}")]
