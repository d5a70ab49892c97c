"""A model whose name only its service can tell, while that service is away: found at the first call that reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from kernel.errors import BadSettings, ProviderRefused
from kernel.messages import ModelReply, ModelRequest
from kernel.ports import Provider


class LateProvider:
    """A `Provider` over the one that `find` gives; what needs no model goes on meanwhile.

    `find` raises `ProviderFailed` while the service is away, which ends the call as any failed one.
    """

    def __init__(self, find: Callable[[], Awaitable[Provider]]) -> None:
        self._find = find
        self._found: Provider | None = None
        self._finding = asyncio.Lock()

    @property
    def name(self) -> str:
        """See `Provider.name`; `unknown` while nobody has told."""
        return self._found.name if self._found else "unknown"

    @property
    def models(self) -> tuple[str, ...]:
        """See `SeveralModels.models`."""
        return (self._found.name,) if self._found else ()

    def answering(self, wanted: str = "") -> str:  # noqa: ARG002  (the port's; it finds a single one)
        """See `SeveralModels.answering`."""
        return self.name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`."""
        provider = await self._provider()
        reply = await provider.reply(request, delta)
        return replace(reply, by=reply.by or provider.name)

    async def close(self) -> None:
        """See `Provider.close`."""
        if self._found is not None:
            await self._found.close()

    async def _provider(self) -> Provider:
        async with self._finding:
            if self._found is None:
                try:
                    self._found = await self._find()
                except BadSettings as error:
                    raise ProviderRefused(str(error)) from error
            return self._found
