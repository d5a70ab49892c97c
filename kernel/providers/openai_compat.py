"""Every service that speaks chat completions: one of the big ones, DeepSeek, GLM, Qwen, or a server at home."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

import structlog

from kernel.errors import ProviderFailed
from kernel.messages import Message, ModelReply, ModelRequest, Role, Stop
from kernel.ports import Clock
from kernel.providers.chat_manners import Manners, learn, manners_of
from kernel.providers.openai_request import request_body
from kernel.providers.openai_wire import PROVIDER, Reading
from kernel.providers.sse import EventReader
from kernel.providers.status import Refusal, Service, TooLong, message_of
from kernel.providers.tries import LAST_WORD_S, PATIENCE, Ear, Patience, Persistence, asked_pause, heartbeats
from kernel.providers.turns import Maker, is_without_list, to_bytes, without_kept

log = structlog.get_logger(__name__)

URL = "https://api.openai.com/v1"
LARGEST_ERROR_BYTES = 64 * 1024


class OpenAICompatible:
    """A `Provider` for `url`, which ends in `/v1` or what the service has for it; a server at home needs no `key`."""

    def __init__(
        self,
        model: str,
        key: str = "",
        *,
        clock: Clock,
        random: random.Random,
        url: str = URL,
        patience: Patience = PATIENCE,
    ) -> None:
        import httpx  # noqa: PLC0415

        from kernel.providers.transport import client  # noqa: PLC0415  only a worker that uses it pays for it

        self._maker = Maker(PROVIDER, model)
        self._manners = manners_of(model)
        self._url = url.rstrip("/") + "/chat/completions"
        self._service = Service(httpx.URL(url).host, model, "OPENAI_API_KEY", "OPENAI_BASE_URL", key)
        self._headers = headers(key)
        self._clock = clock
        self._random = random
        self._patience = patience
        self._persistence = Persistence(self.name, patience, clock, random)
        self._client = client(url, connect_s=patience.connect.total_seconds())

    @property
    def name(self) -> str:
        """`openai:<model>`."""
        return self._maker.name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`. A request that does not fit comes back as an empty reply with `Stop.WINDOW`."""
        ear = Ear(delta)
        while True:
            manners = self._manners
            # As bytes: its dictionaries are as big again, and would live as long as the call.
            body = to_bytes(request_body(request, self._maker, manners))
            try:
                reply = await self._persistence.keep_trying(partial(self._once, request, body, ear), ear)
            except Refusal as refusal:
                ear.broke_off()
                if self._learn(manners, refusal):
                    continue
                if isinstance(refusal, TooLong):
                    return ModelReply(Message(Role.ASSISTANT, ()), Stop.WINDOW, by=self.name)
                raise
            is_bare = is_without_list(request, takes_no_choice=manners.takes_no_choice)
            return without_kept(reply) if is_bare else reply

    def _learn(self, manners: Manners, refusal: Refusal) -> bool:
        """Whether the request will be asked differently from now on; `manners` are those it was refused under."""
        if learn(manners, refusal) is None:
            return False
        # Beside this call others learn too: what they have learned meanwhile stays.
        self._manners = learn(self._manners, refusal) or self._manners
        log.info("model service asked differently", provider=self.name, why=str(refusal))
        return True

    async def _once(self, request: ModelRequest, body: bytes, ear: Ear) -> ModelReply:
        import httpx  # noqa: PLC0415

        reading = Reading(self._service, request, ear, self._random)
        silence = self._patience.silence
        try:
            post = self._client.build_request("POST", self._url, content=body, headers=self._headers)
            async with (
                asyncio.timeout(silence.total_seconds()) as timer,
                aclosing(await self._client.send(post, stream=True)) as response,
            ):
                if response.status_code != 200:
                    raise await self._error(response)
                reader = EventReader()
                async for chunk in heartbeats(response.aiter_bytes(), timer, silence):
                    for data in reader.feed(chunk):
                        reading.hear(data)
                    if reading.is_done:
                        timer.reschedule(asyncio.get_running_loop().time() + LAST_WORD_S)
            # The two hold each other, and the request with its body, until some later garbage collection.
            del response.stream
        except TimeoutError as error:
            if not reading.is_done:
                raise self._service.silence(silence.total_seconds()) from error
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            if not reading.is_done:
                raise self._service.lost(error) from error
        return replace(reading.reply(), by=self.name)

    async def _error(self, response: Any) -> ProviderFailed | Refusal:
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > LARGEST_ERROR_BYTES:
                break
        said, kind = message_of(body)
        after = asked_pause(response.headers.get("retry-after"), self._clock.now())
        # OpenAI's 429 for an empty purse looks like a limit that passes.
        status = 402 if kind == "insufficient_quota" else response.status_code
        return self._service.error(status, said, after, kind)

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.aclose()


def headers(key: str) -> dict[str, str]:
    """What every request of this dialect carries."""
    common = {"content-type": "application/json", "accept": "text/event-stream"}
    return {**common, "authorization": f"Bearer {key}"} if key else common
