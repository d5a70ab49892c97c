"""What a process needs around it: time, a model, hints and signs of life."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol, runtime_checkable

from kernel.chat import Heard
from kernel.messages import ModelReply, ModelRequest


class Clock(Protocol):
    """Time. The twin jumps."""

    def now(self) -> datetime:
        """This instant, aware UTC."""

    def boottime(self) -> float:
        """Seconds on a clock that never jumps and counts sleep (CLOCK_BOOTTIME where there is one)."""

    async def sleep_until(self, at: datetime) -> None:
        """Return at `at` or soon after; at once when it has passed."""


class Provider(Protocol):
    """One model behind one service, or several that stand in for one another."""

    @property
    def name(self) -> str:
        """`anthropic:<model>` or `openai:<model>`; what `Opaque` parts are bound to.

        Of several models behind one provider it is the first; a reply says which one it is `by`.
        """

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """The model's whole reply; `delta` hears pieces of its text as they come.

        `delta` hears one try only: when that breaks off after some text, the rest is made up for in silence, and the
        reply may say something else. Raises `ProviderFailed` (after own bounded retries) and `ProviderRefused`.
        """

    async def close(self) -> None:
        """Let go of connections."""


@runtime_checkable
class SeveralModels(Protocol):
    """What a `Provider` can tell besides when there may be several models behind it."""

    @property
    def models(self) -> tuple[str, ...]:
        """Their names, in the order in which they are wanted."""

    def answering(self, wanted: str = "") -> str:
        """The name of the one that would be asked now, when `wanted` is asked first; empty: the usual order."""


class Wakeups(Protocol):
    """Hints to workers that something is ready. Losing one costs seconds, doubling one nothing."""

    async def hint(self) -> None:
        """Push one."""

    async def unflag(self) -> None:
        """A worker has read a hint: the next put may push another."""


class Beats(Protocol):
    """Which processes live."""

    async def beat(self, role: str, process: str, *, now: datetime) -> None:
        """Say that this process lives; forgotten after 60 s."""

    async def end(self, role: str, process: str) -> None:
        """This process has ended as it should: forgotten at once."""

    async def seen(self) -> tuple[tuple[str, str, datetime], ...]:
        """(role, process, last beat) of every process not yet forgotten."""


Deliver = Callable[[Heard], Awaitable[None]]
"""Returns only when what was heard is stored (or dropped by a rule); waits while Redis is away."""
