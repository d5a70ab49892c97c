"""Over HTTP nobody is believed who has not signed, and Slack hears that something arrived when it is stored."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from bots.adapter import HasWebhook, HttpAnswer, WrongToken
from bots.slack import SlackAdapter
from bots.slack import adapter as adapter_module
from bots.slack import webhook as module
from kernel.chat import Address, ButtonPress, ConversationId, Reply, UserMessage
from kernel.errors import RetryLater
from tests.bots.slack.fake import (
    APP_TOKEN,
    BOT_TOKEN,
    DM,
    FORM,
    RESET_BEFORE,
    SIGNING_SECRET,
    TEAM_CHANNEL,
    FakeSlack,
    Fault,
    HurriedClock,
    Store,
    event,
    form,
    headers,
    pair,
    person,
    press,
    slash,
    told,
)

DONE = HttpAnswer(200)


class Http:
    """Slack's side: it signs and sends."""

    def __init__(self, adapter: SlackAdapter, clock: HurriedClock) -> None:
        self.adapter = adapter
        self.clock = clock

    async def sends(self, payload: Mapping[str, Any], **more: str) -> HttpAnswer:
        """An event, or a press or slash command, each in its form; `more` are headers."""
        if payload.get("type") in ("event_callback", "url_verification"):
            body, kind = json.dumps(payload).encode(), "application/json"
        else:
            body, kind = form(dict(payload)), FORM
        return await self.adapter.take(headers(body, self.clock.now(), kind) | more, body)


@pytest.fixture
def called(slack: FakeSlack, clock: HurriedClock) -> SlackAdapter:
    """An adapter that Slack calls."""
    return SlackAdapter(
        BOT_TOKEN, None, signing_secret=SIGNING_SECRET, clock=clock, random=Random(7), api_url=slack.api_url
    )


async def ready(http: Http) -> None:
    """Slack has told the adapter who it is."""
    ignored = {"type": "event_callback", "event": {"type": "team_join"}}
    async with asyncio.timeout(10):
        while await http.sends(ignored) != DONE:  # noqa: ASYNC110 — as Slack does; nothing else tells
            await asyncio.sleep(0)


@pytest.fixture
async def http(called: SlackAdapter, clock: HurriedClock, store: Store) -> AsyncIterator[Http]:
    """The running adapter as Slack reaches it."""
    task = asyncio.create_task(called.run(store.deliver))
    http = Http(called, clock)
    await ready(http)
    yield http
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_it_is_called_only_without_an_app_token(called: SlackAdapter, adapter: SlackAdapter) -> None:
    assert isinstance(called, HasWebhook)
    assert called.webhook_path == "/slack/events"
    assert adapter.webhook_path is None


async def test_in_socket_mode_nothing_is_taken_over_http(adapter: SlackAdapter, clock: HurriedClock) -> None:
    assert (await Http(adapter, clock).sends(event())).status == 404


@pytest.mark.parametrize("secret", [None, "", "  "])
def test_without_a_secret_there_is_no_open_door(slack: FakeSlack, clock: HurriedClock, secret: str | None) -> None:
    """X15."""
    with pytest.raises(ValueError, match="signing_secret"):
        SlackAdapter(BOT_TOKEN, None, signing_secret=secret, clock=clock, random=Random(7), api_url=slack.api_url)


async def test_it_answers_slacks_question_whether_it_is_there(http: Http) -> None:
    answer = await http.sends({"type": "url_verification", "challenge": "3eZbrw"})

    assert answer == HttpAnswer(200, "3eZbrw")


async def test_an_event_a_press_and_a_command_are_stored_before_they_are_answered(http: Http, store: Store) -> None:
    for payload in (event(text="hi"), pair()[1], press("t:done"), slash("status", channel_id=TEAM_CHANNEL)):
        assert await http.sends(payload) == DONE

    said, mention, pressed, command = store.all
    assert isinstance(said, UserMessage)
    assert isinstance(mention, UserMessage)
    assert isinstance(pressed, ButtonPress)
    assert isinstance(command, UserMessage)
    assert (said.text, said.sender.name) == ("hi", "Ann")
    assert (mention.address, mention.conversation.thread) == (Address.DIRECT, "1700000001.000000")
    assert (pressed.token, pressed.choice) == ("t", "done")
    assert (command.text, command.is_private, command.title) == ("/status", False, "查房")


UNSIGNED: dict[str, dict[str, str]] = {
    "no headers": {},
    "no signature": {"x-slack-request-timestamp": "now"},
    "no time": {"x-slack-signature": "v0=00"},
    "another": {"x-slack-request-timestamp": "now", "x-slack-signature": "v0=" + "0" * 64},
    "empty": {"x-slack-request-timestamp": "now", "x-slack-signature": ""},
    "no ascii": {"x-slack-request-timestamp": "now", "x-slack-signature": "v0=签"},
    "no number": {"x-slack-request-timestamp": "yesterday", "x-slack-signature": "v0=00"},
    "a huge number": {"x-slack-request-timestamp": "9" * 5_000, "x-slack-signature": "v0=00"},
    "a large number": {"x-slack-request-timestamp": "9" * 400, "x-slack-signature": "v0=00"},
    "minus infinity": {"x-slack-request-timestamp": "-inf", "x-slack-signature": "v0=00"},
}


@pytest.mark.parametrize("forged", UNSIGNED.values(), ids=UNSIGNED)
async def test_who_did_not_sign_is_refused_and_changes_nothing(
    http: Http, slack: FakeSlack, store: Store, forged: dict[str, str]
) -> None:
    """T15, X15."""
    now = str(int(http.clock.now().timestamp()))
    sent = {name: now if value == "now" else value for name, value in forged.items()}
    calls = len(slack.calls)

    for payload in (event(), told("channel_left"), {"type": "url_verification", "challenge": "x"}):
        body = json.dumps(payload).encode()
        answer = await http.adapter.take({"content-type": "application/json"} | sent, body)
        assert (answer.status, answer.body) == (401, "")
    for payload in (press(), slash()):
        assert (await http.adapter.take({"content-type": FORM} | sent, form(payload))).status == 401

    assert store.deliveries == 0
    assert len(slack.calls) == calls


async def test_another_secret_is_refused(http: Http, store: Store) -> None:
    body = json.dumps(event()).encode()

    answer = await http.adapter.take(headers(body, http.clock.now(), secret="guessed"), body)

    assert (answer.status, store.deliveries) == (401, 0)


@pytest.mark.parametrize(("age_s", "status"), [(-301, 401), (-290, 200), (0, 200), (290, 200), (301, 401)])
async def test_a_signature_is_good_for_five_minutes(http: Http, store: Store, age_s: int, status: int) -> None:
    """T15: by our own clock, both ways."""
    http.clock.ahead += timedelta(days=1)
    body = json.dumps(event()).encode()
    sent = headers(body, http.clock.now() - timedelta(seconds=age_s))

    assert (await http.adapter.take(sent, body)).status == status
    assert store.deliveries == (status == 200)


async def test_not_a_byte_may_be_changed(http: Http, store: Store) -> None:
    """T15."""
    body = json.dumps(event(text="hi")).encode()
    sent = headers(body, http.clock.now())

    for changed in (body.replace(b'"hi"', b'"ho"'), body + b" ", body[:-1], body.replace(b"hi", b"\xff\xfe"), b""):
        assert (await http.adapter.take(sent, changed)).status == 401

    assert store.deliveries == 0


async def test_a_valid_request_that_is_sent_again_has_no_second_effect(http: Http, store: Store) -> None:
    """T15: an event, a press, a command and a change of a channel, a hundred times each."""
    bodies = [json.dumps(event()).encode(), json.dumps(told("channel_left")).encode(), form(press()), form(slash())]
    for body in bodies:
        kind = "application/json" if body.startswith(b"{") else FORM
        sent = headers(body, http.clock.now(), kind)
        for _ in range(100):
            assert await http.adapter.take(sent, body) == DONE

    assert len(store.all) == len(bodies)


async def test_a_body_over_a_megabyte_is_not_even_checked(http: Http, store: Store) -> None:
    largest = event(text="x" * (module.BODY_LIMIT_BYTES - 400))
    assert await http.sends(largest) == DONE

    answer = await http.sends(event("1700000000.000200", text="x" * module.BODY_LIMIT_BYTES))

    assert answer.status == 413
    assert len(store.all) == 1


async def test_a_retry_that_is_the_only_delivery_counts(http: Http, store: Store) -> None:
    retry = {"x-slack-retry-num": "3", "x-slack-retry-reason": "http_timeout"}

    assert await http.sends(event(), **retry) == DONE

    assert len(store.all) == 1


async def test_an_event_that_cannot_be_stored_in_time_is_put_off_and_comes_once(
    http: Http, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M3 while the store is away: Slack sends it again, and the first one may get there by itself."""
    monkeypatch.setattr(module, "ANSWER_WITHIN", module.ANSWER_WITHIN / 100)
    store.go_away()
    assert [(await http.sends(event())).status for _ in range(3)] == [503] * 3

    store.come_back()
    monkeypatch.undo()

    assert await http.sends(event()) == DONE
    assert len(store.all) == 1


async def test_while_the_store_is_away_no_event_waits_behind_many_others(
    http: Http, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But a command is sent once, and its person must hear of it."""
    monkeypatch.setattr(adapter_module, "PRESS_PATIENCE", module.HURRIED + timedelta(seconds=0.1))
    store.go_away()
    waiting = [asyncio.create_task(http.sends(event(f"1700000000.{number:06}"))) for number in range(module.MANY)]
    for _ in waiting:
        await store.arrivals.get()

    async with asyncio.timeout(module.ANSWER_WITHIN.total_seconds() / 2):
        assert (await http.sends(event("1700000001.000000"))).status == 503
    assert "没能记下这条命令" in json.loads((await http.sends(slash())).body)["text"]

    store.come_back()
    assert [answer.status for answer in await asyncio.gather(*waiting)] == [200] * module.MANY
    assert len(store.all) == module.MANY + 1


async def test_a_command_that_cannot_be_stored_is_answered_at_once(
    http: Http, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter_module, "PRESS_PATIENCE", adapter_module.PRESS_PATIENCE / 100)
    store.go_away()

    answer = await http.sends(slash())

    assert (answer.status, answer.content_type) == (200, "application/json")
    assert json.loads(answer.body) == {"response_type": "ephemeral", "text": "没能记下这条命令，请再发一次。"}


async def test_a_press_that_cannot_be_stored_is_to_be_repeated(
    http: Http, slack: FakeSlack, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter_module, "PRESS_PATIENCE", adapter_module.PRESS_PATIENCE / 100)
    store.go_away()

    assert await http.sends(press(channel={"id": TEAM_CHANNEL})) == DONE
    await slack.until(lambda: slack.called("chat.postEphemeral"))

    assert slack.called("chat.postEphemeral")[0]["channel"] == TEAM_CHANNEL


SENSELESS = [
    *(b"", b"not json", b"[]", b"7", b"null", b'"x"', b"{}", b'{"type": 7}', b"[" * 100_000, b"\xff", b"{"),
    b'{"type": "event_callback", "event": {"type": "message", "ts": "never", "user": "U2", "channel": "D1"}}',
    b'{"type": "url_verification", "challenge": ["x"]}',
    *(b"payload=", b"payload=%7B", b"payload=%ff", b"a=b", b"ssl_check=1&token=x", b"&" * 1_000, b"a=1&" * 1_000),
]


@pytest.mark.parametrize("kind", ["application/json", FORM, "text/html", ""])
async def test_what_makes_no_sense_is_acknowledged_and_breaks_nothing(http: Http, store: Store, kind: str) -> None:
    for body in SENSELESS:
        answer = await http.adapter.take(headers(body, http.clock.now(), kind), body)
        # What is no UTF-8 cannot be signed by Slack.
        assert answer.status == (401 if b"\xff" in body else 200), body[:40]

    assert store.deliveries == 0


def signed(body: bytes, at: str) -> str:
    return "v0=" + hmac.new(SIGNING_SECRET.encode(), f"v0:{at}:".encode() + body, hashlib.sha256).hexdigest()


async def test_thousands_of_random_bodies_break_nothing(http: Http) -> None:
    random = Random(20261201)
    at = str(int(http.clock.now().timestamp()))
    seeds = [json.dumps(event()).encode(), form(press()), form(slash())]
    for number in range(2_000):
        body = bytearray(seeds[number % 3])
        for _ in range(random.randint(1, 6)):
            body[random.randrange(len(body))] = random.randrange(256)
        whole = bytes(body)
        kind = "application/json" if number % 3 == 0 else FORM
        answer = await http.adapter.take(
            {"content-type": kind, "x-slack-request-timestamp": at, "x-slack-signature": signed(whole, at)}, whole
        )
        assert answer.status in (200, 401)


async def test_a_bug_with_one_request_stops_no_other(called: SlackAdapter, clock: HurriedClock, store: Store) -> None:
    async def breaks(inbound: object) -> None:
        if store.deliveries == 0:
            store.deliveries += 1
            raise RuntimeError("a bug of ours")
        await store.deliver(inbound)  # type: ignore[arg-type]  # what an adapter delivers

    task = asyncio.create_task(called.run(breaks))
    http = Http(called, clock)
    await ready(http)
    with capture_logs() as logs:
        assert (await http.sends(event())).status == 503
        assert await http.sends(event()) == DONE

    assert "request not taken" in [line["event"] for line in logs]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_before_it_knows_who_it_is_it_refuses_forgeries_and_puts_off_the_rest(
    called: SlackAdapter, slack: FakeSlack, clock: HurriedClock, store: Store
) -> None:
    http = Http(called, clock)
    body = json.dumps(event()).encode()

    assert (await http.sends(event())).status == 503
    assert (await called.take(headers(body, clock.now(), secret="guessed"), body)).status == 401
    assert (await http.sends({"type": "url_verification", "challenge": "x"})).body == "x"

    slack.faults["auth.test"] = [RESET_BEFORE]
    task = asyncio.create_task(called.run(store.deliver))
    await ready(http)
    assert await http.sends(event()) == DONE
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (await http.sends(event())).status == 503


async def test_who_waits_for_the_store_when_it_ends_is_put_off(
    called: SlackAdapter, clock: HurriedClock, store: Store
) -> None:
    task = asyncio.create_task(called.run(store.deliver))
    http = Http(called, clock)
    await ready(http)
    store.go_away()
    request = asyncio.create_task(http.sends(event()))
    await store.arrivals.get()

    task.cancel()

    assert (await request).status == 503
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("when", ["at the start", "later"])
async def test_a_wrong_token_ends_it(called: SlackAdapter, slack: FakeSlack, store: Store, when: str) -> None:
    chat = ConversationId("slack", DM)
    if when == "at the start":
        slack.faults["auth.test"] = [Fault(error="invalid_auth")]
    task = asyncio.create_task(called.run(store.deliver))
    if when == "later":
        await ready(Http(called, HurriedClock()))
        slack.faults["chat.postMessage"] = [Fault(error="token_revoked")]
        with pytest.raises(RetryLater):
            await called.send(Reply(chat, "hello"), "hello", key="k", is_doubtful=False, is_last=True)

    with pytest.raises(WrongToken, match="SLACK_BOT_TOKEN"):
        await task

    assert slack.called("apps.connections.open") == []


async def test_more_than_it_can_hold_is_put_off(http: Http, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ANSWERING", 3)
    store.go_away()
    waiting = [asyncio.create_task(http.sends(event(f"1700000000.{number:06}"))) for number in range(3)]
    for _ in waiting:
        await store.arrivals.get()

    assert (await http.sends(event("1700000000.000099"))).status == 503

    store.come_back()
    assert [answer.status for answer in await asyncio.gather(*waiting)] == [200] * 3


async def test_neither_secret_nor_words_are_logged(http: Http, slack: FakeSlack, store: Store) -> None:
    slack.users["UANN"] = person(is_restricted=True)
    with capture_logs() as logs:
        await http.sends(event(text="between us"))
        await http.sends(event(ts="never", text="between us"))
        await http.adapter.take({}, b"between us")

    assert logs
    assert "between us" not in json.dumps(logs, default=repr)
    assert "canary" not in json.dumps(logs, default=repr) + repr(http.adapter)


async def test_with_an_app_token_the_secret_is_not_needed(slack: FakeSlack, clock: HurriedClock) -> None:
    both = SlackAdapter(
        BOT_TOKEN, APP_TOKEN, signing_secret=SIGNING_SECRET, clock=clock, random=Random(7), api_url=slack.api_url
    )

    assert both.webhook_path is None
