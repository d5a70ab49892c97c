"""Claude over the official SDK: its signing, headers and aiohttp connections, with our own body, events and tries.

The SDK's accumulator is not used: it gives `input={}` for a call that was cut, raises AssertionError for garbage, and
sees neither a missing `message_stop` nor an overload inside a 200 stream as something to try again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from kernel.errors import ProviderFailed
from kernel.messages import Message, ModelReply, ModelRequest, Role, Stop
from kernel.ports import Clock
from kernel.providers.anthropic_request import most_tokens, request_body
from kernel.providers.anthropic_wire import PROVIDER, Reading
from kernel.providers.claude_manners import Manners, learn, manners_of
from kernel.providers.sse import EventReader
from kernel.providers.status import Refusal, Service, TooLong, message_of
from kernel.providers.tries import LAST_WORD_S, PATIENCE, Ear, Patience, Persistence, asked_pause, heartbeats
from kernel.providers.turns import Maker, is_without_list, to_bytes, without_kept
from kernel.providers.unwanted import Unwanted

if TYPE_CHECKING:
    from anthropic import APIStatusError

log = structlog.get_logger(__name__)

URL = "https://api.anthropic.com"
MOST_CONNECTIONS = 1000
CONNECTION_REST_S = 30.0


class Anthropic:
    """A `Provider`. Imports the SDK when it is made (2 s, 60 MB): make one per process and close it there."""

    def __init__(
        self,
        model: str,
        key: str,
        *,
        clock: Clock,
        random: random.Random,
        url: str = URL,
        patience: Patience = PATIENCE,
    ) -> None:
        import httpx2  # noqa: PLC0415  heavy: only a worker that talks to Claude pays for it
        from anthropic import AsyncAnthropic, DefaultAioHttpClient  # noqa: PLC0415

        self._maker = Maker(PROVIDER, model)
        self._manners = manners_of(httpx2.URL(url).host, model)
        self._unwanted = Unwanted(self._maker)
        self._service = Service(httpx2.URL(url).host, model, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", key)
        self._clock = clock
        self._patience = patience
        self._persistence = Persistence(self.name, patience, clock, random)
        self._client = AsyncAnthropic(
            api_key=key,
            base_url=url,
            max_retries=0,
            # Silence is timed here (heartbeats), in one place for every phase but the connection.
            timeout=httpx2.Timeout(None, connect=patience.connect.total_seconds()),
            http_client=DefaultAioHttpClient(
                limits=httpx2.Limits(max_connections=MOST_CONNECTIONS, keepalive_expiry=CONNECTION_REST_S),
                follow_redirects=False,  # The key would go along to wherever a redirect points.
            ),
        )

    @property
    def name(self) -> str:
        """`anthropic:<model>`."""
        return self._maker.name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`. A request that does not fit comes back as an empty reply with `Stop.WINDOW`."""
        ear = Ear(delta)
        while True:
            manners = self._manners
            body = to_bytes(request_body(request, self._maker, manners, self._unwanted.keeps))
            try:
                reply = await self._persistence.keep_trying(partial(self._once, request, body, ear), ear)
            except TooLong:
                return ModelReply(Message(Role.ASSISTANT, ()), Stop.WINDOW, by=self.name)
            except Refusal as refusal:
                ear.broke_off()
                if not self._learn(request, manners, refusal):
                    raise
            else:
                is_bare = is_without_list(request, takes_no_choice=manners.takes_no_choice)
                return without_kept(reply) if is_bare else reply

    def _learn(self, request: ModelRequest, manners: Manners, refusal: Refusal) -> bool:
        """Whether the request will be asked differently from now on; `manners` are those it was refused under."""
        asked_for = most_tokens(request, self._maker.model, manners)
        if learn(manners, refusal, asked_for) is not None:
            # Beside this call others learn too: what they have learned meanwhile stays.
            self._manners = learn(self._manners, refusal, asked_for) or self._manners
            log.info("model service asked differently", provider=self.name, why=str(refusal))
            return True
        if self._unwanted.learn(request.messages, refusal):
            log.warning("model refuses its own thinking", provider=self.name, why=str(refusal))
            return True
        return False

    async def _once(self, request: ModelRequest, body: bytes, ear: Ear) -> ModelReply:
        import anthropic  # noqa: PLC0415
        import httpx2  # noqa: PLC0415

        reading = Reading(self._service, request.tools, ear)
        silence = self._patience.silence
        try:
            async with asyncio.timeout(silence.total_seconds()) as timer:
                stream = await self._client.post(
                    "/v1/messages",
                    content=body,
                    cast_to=object,
                    stream=True,
                    stream_cls=anthropic.AsyncStream[Any],
                )
                async with stream:
                    reader = EventReader()
                    async for chunk in heartbeats(stream.response.aiter_bytes(), timer, silence):
                        for data in reader.feed(chunk):
                            reading.hear(data)
                        if reading.is_done:
                            timer.reschedule(asyncio.get_running_loop().time() + LAST_WORD_S)
        except anthropic.APIStatusError as error:
            raise self._error(error) from error
        except TimeoutError as error:
            if not reading.is_done:
                raise self._service.silence(silence.total_seconds()) from error
        # What the SDK wraps, what it does not (a drop inside the stream), and a closed loop or socket below both.
        except (anthropic.APIConnectionError, httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            if not reading.is_done:
                raise self._service.lost(error.__cause__ or error) from error
        return replace(reading.reply(), by=self.name)

    def _error(self, error: APIStatusError) -> ProviderFailed | Refusal:
        said, kind = message_of(error.response.text)
        after = asked_pause(error.response.headers.get("retry-after"), self._clock.now())
        return self._service.error(error.status_code, said, after, kind)

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()
