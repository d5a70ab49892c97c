"""Signed HTTP: requests in, answers out. Slack sends events, presses and slash commands all to one address.

    what came                                  answer
    ----------------------------------------   ----------------------------------------------------------
    too large                                  413
    not signed with our secret, or 5 min old   401, and nothing else happens
    the question whether we are here           what Slack wants to read
    an event                                   200 once it is stored; 503 when that takes long: it comes again
    a press, a slash command                   200, with the words for its person if it could not be stored
    signed but not to be understood            200: it would not be understood the next time either

Slack's headers about retries are not read: a repeated request may be the first that arrives, and what was stored
before is not stored again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl

import structlog
from slack_sdk.signature import Clock as UnixClock
from slack_sdk.signature import SignatureVerifier

from bots.adapter import HttpAnswer
from bots.slack.payloads import as_object, as_text
from bots.slack.socket import MAX_ANSWERING, Ack, Take
from kernel.ports import Clock

log = structlog.get_logger(__name__)

PATH: Final = "/slack/events"
BODY_LIMIT_BYTES: Final = 1_000_000
ANSWER_WITHIN: Final = timedelta(seconds=2.5)
"""Slack counts 3 s, the way to us and back in it."""
MANY: Final = 50
HURRIED: Final = timedelta(seconds=0.3)
"""How long an event waits behind so many: the store is away, and whoever calls has not connections without end."""
_MAX_FIELDS: Final = 100

_DONE: Final = HttpAnswer(200)
_LATER: Final = HttpAnswer(503)


class Webhook:
    """Takes requests while `run` runs; before and after, they are checked and put off."""

    def __init__(self, signing_secret: str, clock: Clock) -> None:
        self._verifier = SignatureVerifier(signing_secret, _Seconds(clock))
        self._inside: tuple[Take, asyncio.TaskGroup] | None = None
        self._answering = 0

    async def run(self, take: Take) -> None:
        """Hand every payload to `take`, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._inside = take, tasks
            try:
                await asyncio.Event().wait()
            finally:
                self._inside = None

    async def take(self, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        """See `HasWebhook.take`."""
        if len(body) > BODY_LIMIT_BYTES:
            return HttpAnswer(413)
        if not self._is_signed(headers, body):
            log.warning("request not signed by slack")
            return HttpAnswer(401)
        is_json = headers.get("content-type", "").strip().lower().startswith("application/json")
        payload = _json(body) if is_json else _form(body)
        if as_object(payload).get("type") == "url_verification":
            return HttpAnswer(200, as_text(as_object(payload).get("challenge")))
        if self._inside is None:
            return _LATER
        if self._answering >= MAX_ANSWERING:
            log.warning("too many requests in work", limit=MAX_ANSWERING)
            return _LATER
        return await self._answer(payload, *self._inside, comes_again=is_json)

    def _is_signed(self, headers: Mapping[str, str], body: bytes) -> bool:
        try:
            return self._verifier.is_valid_request(body, headers)
        except (ValueError, TypeError, OverflowError):
            # No UTF-8, a time that is no number or one without end, a signature that is no ASCII.
            return False

    async def _answer(self, payload: object, take: Take, tasks: asyncio.TaskGroup, *, comes_again: bool) -> HttpAnswer:
        """What the payload came to in time. Storing goes on behind a 503: it costs nothing and may be quicker."""
        within = HURRIED if comes_again and self._answering >= MANY else ANSWER_WITHIN
        work = tasks.create_task(self._work(take, payload, comes_again))
        await asyncio.wait([work], timeout=within.total_seconds())
        if not work.done():
            log.info("stored too late to acknowledge")
            return _LATER
        ack = None if work.cancelled() else work.result()
        if ack is None:
            return _LATER
        if ack.after is not None:
            tasks.create_task(_afterwards(ack.after))
        return _DONE if ack.payload is None else HttpAnswer(200, json.dumps(ack.payload), "application/json")

    async def _work(self, take: Take, payload: object, comes_again: bool) -> Ack | None:
        self._answering += 1
        try:
            return await take(payload, comes_again)
        except Exception:  # Boundary: one request. It is not acknowledged and comes again; the others go on.
            log.exception("request not taken")
            return None
        finally:
            self._answering -= 1


async def _afterwards(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception:  # Boundary: what follows an answer. Slack has that; the others go on.
        log.exception("nothing followed the answer")


class _Seconds(UnixClock):
    """Our clock as slack_sdk reads it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        return self._clock.now().timestamp()


def _json(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _form(body: bytes) -> object:
    """A slash command is the form itself, everything else is JSON in its field `payload`."""
    try:
        fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS))
    except ValueError:
        return None
    return _json(fields["payload"]) if "payload" in fields else fields
