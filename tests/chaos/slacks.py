"""A fake Slack in front of real bots: sends envelopes or signed requests, and repeats what was not acknowledged."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from typing import Any

import aiohttp

from tests.bots.slack import fake as slack_fake
from tests.bots.slack.fake import FakeSlack
from tests.chaos.repeating import Json, Repeating, came, place

WAITS_S = 3.0
AGAIN_AFTER_S = (0.0, 60.0, 300.0)
"""Before each of the three times that something comes again."""
LOOKUP_S = 0.2
"""How long it takes to tell who somebody is: whoever knows already is that much quicker."""


class Slack(Repeating):
    """See `Platform`."""

    def __init__(self, slack: FakeSlack, http: aiohttp.ClientSession, hurry: float) -> None:
        super().__init__(http, hurry)
        self.slack = slack
        slack.slow_s["users.info"] = LOOKUP_S
        self.changed = slack.changed
        self._numbers = count(1)

    def settings(self, address: str) -> dict[str, str]:
        return super().settings(address) | {
            "SLACK_BOT_TOKEN": slack_fake.BOT_TOKEN,
            "SLACK_API_URL": self.slack.api_url,
        }

    def give(self, update: Json) -> None:
        self.start(self._insist(update))

    async def _insist(self, event: Json) -> None:
        name, why = event["event_id"], ""
        for attempt, pause in enumerate((0.0, *AGAIN_AFTER_S)):
            if attempt:
                await asyncio.sleep(pause * self._hurry)
                self.again(name)
            why = await self.tell(event, attempt, why)
            if not why:
                return await self.acknowledge(name)
        self.given_up.add(name)
        return await self.notice()

    async def tell(self, event: Json, attempt: int, why: str) -> str:
        """Tell a bot for the `attempt`-th time (0: the first), and why the one before it failed; see `call`."""
        raise NotImplementedError

    def repeat(self, update: Json, attempt: int) -> None:
        self.start(self._once_more(update, attempt))

    async def _once_more(self, event: Json, attempt: int) -> None:
        await self.tell(event, attempt, "http_timeout")

    def is_acknowledged(self, update: Json) -> bool:
        return update["event_id"] in self.acknowledged

    def ts(self) -> str:
        """When something happens that happens now; no two things happen at once."""
        return f"{int(datetime.now(UTC).timestamp())}.{next(self._numbers):06}"

    def said(self, person: int, text: str) -> Json:
        return self.message(person, self.home(person), text)

    def message(self, person: int, channel: str, text: str, **more: Any) -> Json:
        """Somebody wrote there just now."""
        user, ts = f"U{person}", self.ts()
        self.slack.users.setdefault(user, slack_fake.person(user))
        self.slack.channels.setdefault(channel, {"id": channel, "name": "office"})
        return slack_fake.event(ts, text, user=user, channel=channel, **more)

    def malformed(self) -> Json:
        return slack_fake.event("never", "?", user=7) | {"event_id": f"Ev{self.ts()}"}

    def shown(self) -> list[tuple[str, str]]:
        return [(place(post["channel"], post.get("thread_ts")), str(post["text"])) for post in self.slack.posts]

    def home(self, person: int) -> str:
        return f"D{person}"


class SlackSocket(Slack):
    """Sends envelopes to the processes that are connected."""

    name = "slack sockets"

    def settings(self, address: str) -> dict[str, str]:
        return super().settings(address) | {"SLACK_APP_TOKEN": slack_fake.APP_TOKEN}

    async def is_connected(self, bots: int) -> bool:
        return await came(self.changed, lambda: len(self.slack.sockets) >= bots)

    async def tell(self, event: Json, attempt: int, why: str) -> str:
        if not self.slack.sockets:
            return "connection_failed"
        envelope = f"envelope-{self.slack.number()}"
        said = {"type": "events_api", "envelope_id": envelope, "payload": event, "accepts_response_payload": False}
        more = {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
        link = self.slack.sockets[next(self._turns) % len(self.slack.sockets)]
        with suppress(ConnectionError):
            await link.send_str(json.dumps(said | more))
        is_told = await came(self.changed, lambda: envelope in self.slack.acks, WAITS_S)
        return "" if is_told else "timeout"


class SlackHttp(Slack):
    """Calls with a signature, and says of what comes again why it does."""

    name = "slack http"

    def settings(self, address: str) -> dict[str, str]:
        return super().settings(address) | {"SLACK_SIGNING_SECRET": slack_fake.SIGNING_SECRET}

    async def is_connected(self, bots: int) -> bool:
        """All of them take what is signed, one after the other."""
        if not await came(self.changed, lambda: len(self.slack.called("auth.test")) >= bots):
            return False
        ready = 0
        async with asyncio.timeout(60):
            while ready < bots:
                ready = 0 if await self.tell(slack_fake.told("tokens_revoked"), 0, "") else ready + 1
        return True

    async def tell(self, event: Json, attempt: int, why: str) -> str:
        body = json.dumps(event).encode()
        headers = slack_fake.headers(body, datetime.now(UTC))
        if attempt:
            headers |= {"x-slack-retry-num": str(attempt), "x-slack-retry-reason": why}
        return await self.call("/slack/events", body, headers, WAITS_S)
