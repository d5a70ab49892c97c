"""Asking the model for a turn's next message: what the request shows, what is seen of the answer, and second tries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from kernel.compaction import KEPT
from kernel.context import MOST_PAST, disowned, request_messages, with_short_results
from kernel.errors import ProviderRefused
from kernel.loop import CallModel
from kernel.messages import Effort, Message, ModelReply, ModelRequest, Stop, Thinking
from kernel.narration import for_people
from kernel.patience import patiently
from kernel.ports import Blobs, Clock, Outbox, Provider
from kernel.session import Mode, Turn
from kernel.tools import ToolRegistry
from workers.drafts import DraftWriter
from workers.pictures import shown_in
from workers.place import Place

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Asking:
    """What all model calls of a process have in common."""

    system: str
    prefix: str = ""
    """Digest of the system prompt and the tools; empty: not compared."""
    thinking: Thinking = Thinking.OWN
    effort: Effort | None = None
    most_past: int = MOST_PAST
    """Messages of the past that a request shows."""


class Asker:
    """Asks for all conversations of one worker process."""

    def __init__(
        self, provider: Provider, registry: ToolRegistry, asking: Asking, *, outbox: Outbox, blobs: Blobs, clock: Clock
    ) -> None:
        self.provider = provider
        self._registry = registry
        self._asking = asking
        self._outbox = outbox
        self._blobs = blobs
        self._clock = clock
        self._writers: dict[str, DraftWriter] = {}

    def written(self, turn: str) -> str:
        """What is meant for people of the answer that the turn is writing, as far as it came; empty for none."""
        return self._writers[turn].shown if turn in self._writers else ""

    async def ask(
        self, effect: CallModel, turn: Turn, history: Sequence[Message], first: int, place: Place
    ) -> ModelReply:
        """The model's reply. `history` begins at absolute message number `first`.

        What may become the answer is shown while it is written, and taken back when it leads to calls. Raises
        `ProviderFailed` and `ProviderRefused`.
        """
        writer = DraftWriter(
            self._outbox,
            self._clock,
            place.conversation,
            turn=turn.id,
            effect=effect.effect,
            fence=place.fence,
            shown=partial(for_people, tools=self._registry.names),
        )
        self._writers[turn.id] = writer
        try:
            request = partial(self._request, turn, history, first, place)
            reply = await self._reply(request, writer.hear if _is_for_people(turn) else None, past=turn.base)
        finally:
            if self._writers.get(turn.id) is writer:
                del self._writers[turn.id]
            await writer.rest()
        if reply.message.calls:
            await writer.clear()
        return reply

    async def _reply(
        self, request: Callable[[int], ModelRequest], hear: Callable[[str], None] | None, *, past: int
    ) -> ModelReply:
        """One that does not fit is made with less of the past and of results, at last with no past at all."""
        reply = await self._shown(request(self._asking.most_past), hear)
        for most in (KEPT, 0):
            if reply.stop is Stop.WINDOW and not reply.message.parts:
                log.warning("request does not fit", provider=self.provider.name, past=past)
                reply = await self.provider.reply(request(most))
        return reply

    async def _shown(self, request: ModelRequest, hear: Callable[[str], None] | None) -> ModelReply:
        """The reply to the request with its pictures; without, when the service will not have it so."""
        pictures = await patiently(self._clock, partial(shown_in, request.messages, self._blobs))
        if not pictures:
            return await self.provider.reply(request, hear)
        try:
            return await self.provider.reply(replace(request, pictures=pictures), hear)
        except ProviderRefused as error:
            # Perhaps over one of them: it stays in the history, and must not cost every later answer.
            log.warning("refused with pictures", provider=self.provider.name, why=str(error))
            return await self.provider.reply(request, hear)

    def _request(self, turn: Turn, history: Sequence[Message], first: int, place: Place, most: int) -> ModelRequest:
        asking = self._asking
        messages = request_messages(turn, history, first=first, most=most)
        if most < asking.most_past:
            messages = with_short_results(messages)
        if most < asking.most_past or asking.prefix not in ("", turn.frames[0].prefix):
            # The turn's own thinking is bound to what is not shown any more: to the past, the tools or the prompt.
            messages = disowned(messages)
        return ModelRequest(
            asking.system,
            messages,
            self._registry.within(turn.top.reach).words,
            may_call=turn.top.mode is Mode.WORK,
            thinking=asking.thinking,
            effort=asking.effort,
            wanted=place.model,
            about=":".join((place.conversation.platform, place.conversation.chat, place.conversation.thread)),
        )


def _is_for_people(turn: Turn) -> bool:
    """Whether what the model writes now may be the answer: no plan, and no sub-task's words."""
    return len(turn.frames) == 1 and turn.top.mode is not Mode.PLAN
