"""One call of Slack's Web API, its failures turned into ours; no token, ticket or text leaves in a message."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bots.adapter import AnswerLost, Undeliverable, WrongToken
from bots.flood import Pace
from bots.slack.updates import PLATFORM
from kernel.errors import RetryLater, ZclawError
from kernel.ports import Clock, Floods, Limit

CALL_TIMEOUT: Final = timedelta(seconds=8)
CONNECT_TIMEOUT: Final = timedelta(seconds=5)
PAUSE: Final = timedelta(seconds=2)
"""Before a call that never reached Slack is made again."""
LIMITED: Final = timedelta(seconds=30)
"""When Slack limits us without saying for how long."""
MAX_PAUSE: Final = timedelta(hours=1)

_MINUTE: Final = timedelta(seconds=61)
_LIMITS: Final[Mapping[str, tuple[int, timedelta, int]]] = MappingProxyType(
    {
        # A post a second in each channel, and short bursts.
        "chat.postMessage": (3, timedelta(seconds=3.1), 1),
        # Tier 3: some 50 a minute, in all channels together.
        "chat.update": (50, _MINUTE, 20),
        "chat.delete": (50, _MINUTE, 0),
        "conversations.history": (50, _MINUTE, 15),
        "conversations.replies": (50, _MINUTE, 15),
        "conversations.info": (50, _MINUTE, 0),
        # Tier 4: some 100.
        "users.info": (100, _MINUTE, 0),
    }
)
"""What we call often: so many calls in so long, and how many of them are never a draft's."""

_WRONG_TOKEN: Final = frozenset(
    [
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_revoked",
        "token_expired",
        "not_allowed_token_type",
        "missing_scope",
        "org_login_required",
        "no_permission",
    ]
)
_PERHAPS: Final = frozenset(
    ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"]
)
"""Slack's own words: some of it may have taken effect before the error."""
_NOT_SLACK: Final = (ValueError, AttributeError, LookupError)
"""What slack_sdk raises when something in between answers: no JSON, JSON but no object, an unknown charset."""


class Refused(Undeliverable):
    """Slack understood the call and will not do it; `code` is its word for why."""

    def __init__(self, method: str, code: str) -> None:
        super().__init__(f"Slack refused {method}: {code}")
        self.code = code


class Calls:
    """Slack's Web API for one token; `setting` is what the operator must change when that is wrong.

    With `floods`, all processes of the bot keep its limits together.
    """

    def __init__(self, token: str, setting: str, base_url: str, clock: Clock, floods: Floods | None = None) -> None:
        # No retry handlers: theirs repeat a post whose answer was lost, and it may be there already.
        self._client = AsyncWebClient(token, base_url=base_url, retry_handlers=[])
        self._setting = setting
        self._pace = Pace(clock, floods)
        self._session: aiohttp.ClientSession | None = None

    @property
    def proxy(self) -> str | None:
        """The proxy that slack_sdk found in the environment."""
        return self._client.proxy

    def session(self) -> aiohttp.ClientSession:
        """The connections; opened at the first use, in the running loop."""
        if self._session is None or self._session.closed:
            seconds = CALL_TIMEOUT.total_seconds()
            connect = CONNECT_TIMEOUT.total_seconds()
            timeout = aiohttp.ClientTimeout(total=seconds, connect=connect, sock_connect=connect)
            self._session = aiohttp.ClientSession(timeout=timeout)
            self._client.session = self._session
        return self._session

    async def close(self) -> None:
        """Let go of the connections."""
        if self._session is not None:
            await self._session.close()

    async def ask(
        self,
        method: str,
        arguments: Mapping[str, object],
        *,
        bucket: str = "",
        reads: bool = False,
        is_draft: bool = False,
        is_again: bool = False,
    ) -> Mapping[str, object]:
        """Slack's answer to `method`. `reads`: one of the old methods that take no JSON body.

        `bucket` tells calls apart that Slack limits apart (the channel of a post). What `is_draft` goes only while
        others leave enough room; `is_again`: the same in another form after a refusal, which waits for no second place.
        Raises `NotYet` (Slack was not asked), `RetryLater` (nothing happened), `AnswerLost` (it may have),
        `WrongToken`, `Refused`.
        """
        key = f"{PLATFORM}/{method}/{bucket}"
        if method in _LIMITS and not is_again:
            most, window, kept = _LIMITS[method]
            await self._pace.take([Limit(key, most, window, kept if is_draft else 0)])
        else:
            self._pace.check(key)
        self.session()
        body = {name: value for name, value in arguments.items() if value is not None}
        try:
            if reads:
                response = await self._client.api_call(method, http_verb="GET", params=body)
            else:
                response = await self._client.api_call(method, json=body)
        except SlackApiError as error:
            failure = self._failure(method, error)
            if isinstance(failure, RetryLater):
                await self._pace.rest(key, failure.after)
            # `from None`: the library's error holds the whole request, our token in it.
            raise failure from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise RetryLater(f"{method}: {type(error).__name__}", PAUSE) from None
        except (aiohttp.ClientError, TimeoutError, OSError, *_NOT_SLACK) as error:
            raise AnswerLost(f"{method}: {type(error).__name__}") from None
        return response.data if isinstance(response.data, dict) else {}

    def _failure(self, method: str, error: SlackApiError) -> ZclawError:
        response = error.response
        status = response.status_code if isinstance(response, AsyncSlackResponse) else 0
        data = response.data if isinstance(response, AsyncSlackResponse) else None
        code = data.get("error") if isinstance(data, dict) else None
        if status == 429 or code in ("ratelimited", "rate_limited"):
            return RetryLater(f"{method}: Slack limits us", _retry_after(response.headers))
        if not isinstance(code, str) or not code or status >= 500 or code in _PERHAPS:
            return AnswerLost(f"{method}: no clear answer (HTTP {status})")
        if code in _WRONG_TOKEN:
            needed = data.get("needed") if isinstance(data, dict) else None
            return WrongToken(_wrong_token(self._setting, code, needed))
        return Refused(method, code[:60])


def _wrong_token(setting: str, code: str, needed: object) -> str:
    if code == "missing_scope":
        scope = f" {needed}" if isinstance(needed, str) and needed else ""
        return f"{setting} lacks the scope{scope}: add it to the Slack app and install the app again"
    return f"{setting} is not accepted by Slack ({code}): copy it again from the app's settings"


def _retry_after(headers: Mapping[str, str]) -> timedelta:
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    try:
        return min(timedelta(seconds=max(float(said), 0.1)), MAX_PAUSE)
    except (ValueError, OverflowError):
        return LIMITED
