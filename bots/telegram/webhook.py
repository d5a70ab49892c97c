"""The webhook: Telegram calls us, proves itself by a secret header, and repeats what was not answered with 200."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

import structlog
from aiogram.methods import SetWebhook

from bots.adapter import HttpAnswer, Undeliverable
from bots.telegram.calls import Calls
from bots.telegram.polling import LONGEST_PAUSE
from bots.telegram.updates import WANTED
from kernel.errors import BadSettings, RetryError, StoreRefuses
from kernel.patience import pause_after
from kernel.ports import Clock

log = structlog.get_logger(__name__)

BODY_LIMIT_BYTES = 1_000_000
STORE_WITHIN_S = 20.0
"""How long a call waits for a store that is away; then Telegram is told to come again."""
_HEADER = "x-telegram-bot-api-secret-token"
_CONNECTIONS = 40
_PATH_ENDS = "/telegram"
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
"""What Telegram takes as a secret."""

_OK = HttpAnswer(HTTPStatus.OK)
_UNPROVEN = HttpAnswer(HTTPStatus.UNAUTHORIZED)
_TOO_LARGE = HttpAnswer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
_COME_AGAIN = HttpAnswer(HTTPStatus.SERVICE_UNAVAILABLE)


class Webhook:
    """One bot's webhook at `url`. Raises `BadSettings` when nobody could prove themselves, or nobody would listen."""

    def __init__(self, url: str, secret: str | None, calls: Calls, clock: Clock) -> None:
        if not secret or not _SECRET.fullmatch(secret):
            raise BadSettings("TELEGRAM_WEBHOOK_SECRET must be 1 to 256 letters, digits, _ or -.")
        try:
            self.path = urlsplit(url).path
        except ValueError:
            self.path = ""
        if not self.path.endswith(_PATH_ENDS):
            raise BadSettings(f"TELEGRAM_WEBHOOK_URL must be a whole address that ends in {_PATH_ENDS}.")
        self._url = url
        self._secret = secret
        self._calls = calls
        self._clock = clock

    async def set(self) -> None:
        """Tell Telegram where to call, with back-off until it has understood. Raises `WrongToken`."""
        method = SetWebhook(
            url=self._url, secret_token=self._secret, allowed_updates=list(WANTED), max_connections=_CONNECTIONS
        )
        failures = 0
        while True:
            try:
                await self._calls.ask(method)
            except (RetryError, Undeliverable) as error:
                failures += 1
                log.warning("webhook not set", why=str(error))
            else:
                log.info("webhook set")
                return
            await self._clock.sleep_until(self._clock.now() + pause_after(failures + 2, LONGEST_PAUSE))

    async def take(
        self, headers: Mapping[str, str], body: bytes, take_in: Callable[[object], Awaitable[None]]
    ) -> HttpAnswer:
        """See `HasWebhook.take`. `take_in` returns when the update is stored or means nothing to us."""
        proof = headers.get(_HEADER, "").encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(proof, self._secret.encode()):
            log.info("webhook call without proof")
            return _UNPROVEN
        if len(body) > BODY_LIMIT_BYTES:
            log.warning("update too large", size_bytes=len(body))
            return _TOO_LARGE
        try:
            raw = json.loads(body)
        except (ValueError, RecursionError) as error:
            # Not understood now is not understood later: refused it would come for ever.
            log.warning("update unreadable", why=type(error).__name__, size_bytes=len(body))
            return _OK
        try:
            async with asyncio.timeout(STORE_WITHIN_S):
                await take_in(raw)
        except (RetryError, StoreRefuses, TimeoutError) as error:
            log.warning("update not stored, it comes again", why=str(error) or type(error).__name__)
            return _COME_AGAIN
        except Exception:  # The request's boundary: Telegram gets an answer, whatever went wrong.
            log.exception("update failed")
            return _COME_AGAIN
        return _OK
