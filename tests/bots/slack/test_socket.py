"""One connection is always wanted: it comes back, waits between tries, and leaves no other behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from bots.adapter import WrongToken
from bots.slack import socket as module
from bots.slack.calls import Calls
from bots.slack.socket import Ack, Socket, jittered_pause
from tests.bots.slack.fake import APP_TOKEN, RESET_BEFORE, FakeSlack, Fault, HurriedClock


class Taker:
    """What the socket hands envelopes to."""

    def __init__(self) -> None:
        self.taken: list[tuple[object, bool]] = []
        self.arrivals: asyncio.Queue[None] = asyncio.Queue()
        self.ack = Ack()
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.breaks = False

    async def take(self, payload: object, comes_again: bool) -> Ack:
        self.taken.append((payload, comes_again))
        self.arrivals.put_nowait(None)
        await self.goes_on.wait()
        if self.breaks:
            raise RuntimeError("a bug of ours")
        return self.ack


@pytest.fixture
def taker() -> Taker:
    return Taker()


@asynccontextmanager
async def connecting(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> AsyncIterator[asyncio.Task[None]]:
    calls = Calls(APP_TOKEN, "SLACK_APP_TOKEN", slack.api_url, clock)
    task = asyncio.create_task(Socket(calls, taker.take, clock, Random(3)).run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await calls.close()


@pytest.fixture
async def connected(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> AsyncIterator[None]:
    async with connecting(slack, clock, taker):
        await slack.until(lambda: slack.sockets)
        yield


@pytest.mark.usefixtures("connected")
async def test_an_envelope_is_acknowledged_after_it_was_taken(slack: FakeSlack, taker: Taker) -> None:
    taker.goes_on.clear()

    envelope = await slack.send("events_api", {"n": 1})
    sentinel = await slack.send("unheard_of", {"n": 2})
    for _ in range(2):
        await taker.arrivals.get()
    assert not slack.acks
    taker.goes_on.set()

    assert await slack.acked(envelope) == {"envelope_id": envelope}
    assert await slack.acked(sentinel) == {"envelope_id": sentinel}
    assert taker.taken == [({"n": 1}, True), ({"n": 2}, False)]


@pytest.mark.usefixtures("connected")
async def test_an_answer_at_once_rides_on_the_acknowledgement(slack: FakeSlack, taker: Taker) -> None:
    taker.ack = Ack(payload={"text": "later"})

    envelope = await slack.send("slash_commands", {})

    assert (await slack.acked(envelope))["payload"] == {"text": "later"}


@pytest.mark.usefixtures("connected")
async def test_what_follows_an_acknowledgement_follows_it(slack: FakeSlack, taker: Taker) -> None:
    followed = asyncio.Event()

    async def follow() -> None:
        followed.set()

    taker.ack = Ack(after=follow)
    envelope = await slack.send("interactive", {})

    await slack.acked(envelope)
    async with asyncio.timeout(5):
        await followed.wait()


@pytest.mark.usefixtures("connected")
async def test_what_comes_too_late_is_left_for_slack_to_send_again(
    slack: FakeSlack, taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ACK_WITHIN", -module.ACK_WITHIN)
    late = await slack.send("events_api", {"n": 1})
    await taker.arrivals.get()
    monkeypatch.undo()

    again = await slack.send("events_api", {"n": 1}, retry_attempt=1)

    await slack.acked(again)
    assert late not in slack.acks


@pytest.mark.usefixtures("connected")
async def test_a_bug_with_one_envelope_stops_no_other(slack: FakeSlack, taker: Taker) -> None:
    taker.breaks = True
    with capture_logs() as logs:
        broken = await slack.send("events_api", {})
        await taker.arrivals.get()
        taker.breaks = False
        await slack.acked(await slack.send("events_api", {}))

    assert broken not in slack.acks
    assert [line["event"] for line in logs] == ["envelope not taken"]


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize(
    "frame",
    [
        *("not json", "[]", "7", '"x"', "{}", "\x00", json.dumps({"type": "events_api"})),
        json.dumps({"type": "events_api", "envelope_id": "", "payload": {}}),
    ],
)
async def test_frames_that_make_no_sense_stop_nothing(slack: FakeSlack, frame: str) -> None:
    await slack.sockets[-1].send_str(frame)
    await slack.sockets[-1].send_bytes(b"\xff")

    await slack.acked(await slack.send("events_api", {}))


async def leave(slack: FakeSlack, reason: str) -> None:
    await slack.sockets[-1].send_str(json.dumps({"type": "disconnect", "reason": reason}))


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_successor_is_there_before_the_old_connection_goes(
    slack: FakeSlack, clock: HurriedClock, reason: str
) -> None:
    old = slack.sockets[0]

    await leave(slack, reason)
    await slack.until(lambda: len(slack.sockets) == 2)
    await old.send_str(json.dumps({"type": "events_api", "envelope_id": "on the old one", "payload": {}}))
    await slack.acked("on the old one")
    await old.close()
    await slack.until(lambda: len(slack.sockets) == 1)

    await slack.acked(await slack.send("events_api", {}))
    assert clock.pauses == []


@pytest.mark.usefixtures("connected")
async def test_an_old_connection_that_slack_forgets_is_closed(
    slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINGER", module.LINGER / 100)

    await leave(slack, "refresh_requested")
    await slack.until(lambda: slack.opened == 2)

    await slack.until(lambda: len(slack.sockets) == 1)


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize("how", ["abort", "close"])
async def test_a_dropped_connection_comes_back(slack: FakeSlack, clock: HurriedClock, how: str) -> None:
    socket = slack.sockets[0]
    if how == "abort":
        assert socket._req is not None
        assert socket._req.transport is not None
        socket._req.transport.abort()
    else:
        await socket.close()

    await slack.until(lambda: slack.opened == 2)

    await slack.acked(await slack.send("events_api", {}))
    assert sum(clock.pauses) <= 30


async def test_a_failed_reconnect_leaves_no_dead_client(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> None:
    """Q12."""
    async with connecting(slack, clock, taker):
        await slack.until(lambda: slack.sockets)
        slack.faults["apps.connections.open"] = [Fault(status=500), RESET_BEFORE]

        await leave(slack, "refresh_requested")
        await slack.until(lambda: slack.opened == 2)

        await slack.acked(await slack.send("events_api", {}))
        assert 0 < sum(clock.pauses) <= 30


async def test_a_connection_that_never_says_hello_is_given_up(
    slack: FakeSlack, clock: HurriedClock, taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HELLO_WITHIN", module.HELLO_WITHIN / 50)
    slack.says_hello = False
    async with connecting(slack, clock, taker):
        await slack.until(lambda: slack.opened == 1)
        slack.says_hello = True

        await slack.until(lambda: slack.opened >= 2 and len(slack.sockets) == 1)

        await slack.acked(await slack.send("events_api", {}))


async def test_a_connection_that_said_hello_is_kept(
    slack: FakeSlack, clock: HurriedClock, taker: Taker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HELLO_WITHIN", module.HELLO_WITHIN / 50)
    async with connecting(slack, clock, taker):
        await slack.until(lambda: slack.sockets)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(slack.until(lambda: slack.opened == 2), 2 * module.HELLO_WITHIN.total_seconds())

        await slack.acked(await slack.send("events_api", {}))


async def test_tries_are_further_and_further_apart(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> None:
    slack.faults["apps.connections.open"] = [Fault(status=500)] * 6
    async with connecting(slack, clock, taker):
        await slack.until(lambda: slack.sockets)

    for failures, pause in enumerate(clock.pauses, start=1):
        assert 0.5 * min(2 ** (failures - 1), 15) <= pause <= min(2 ** (failures - 1), 15)
    assert len(clock.pauses) == 6


async def test_slack_may_ask_for_a_longer_pause(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> None:
    slack.faults["apps.connections.open"] = [Fault(status=429, error="ratelimited", retry_after="25")]
    async with connecting(slack, clock, taker):
        await slack.until(lambda: slack.sockets)

    assert 24 < clock.pauses[0] <= 25


async def test_a_wrong_token_ends_it(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> None:
    slack.faults["apps.connections.open"] = [Fault(error="invalid_auth")]

    async with connecting(slack, clock, taker) as task:
        with pytest.raises(ExceptionGroup) as group:
            await task

    assert group.group_contains(WrongToken, match="SLACK_APP_TOKEN")


async def test_when_it_ends_no_connection_stays(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> None:
    taker.goes_on.clear()
    async with connecting(slack, clock, taker):
        await slack.until(lambda: slack.sockets)
        await slack.send("events_api", {})
        await leave(slack, "warning")
        await slack.until(lambda: len(slack.sockets) == 2)

    await slack.until(lambda: not slack.sockets)


async def test_neither_token_nor_ticket_is_logged(slack: FakeSlack, clock: HurriedClock, taker: Taker) -> None:
    slack.faults["apps.connections.open"] = [RESET_BEFORE, Fault(body="x")]
    with capture_logs() as logs:
        async with connecting(slack, clock, taker):
            await slack.until(lambda: slack.sockets)
            await leave(slack, "link_disabled")
            await slack.until(lambda: slack.opened == 2)

    assert "canary" not in json.dumps(logs, default=repr)
    assert any(line["log_level"] == "error" for line in logs)


def test_pauses_differ_by_chance_and_never_exceed_their_bound() -> None:
    random = Random(5)
    pauses: list[Any] = [jittered_pause(20, random).total_seconds() for _ in range(50)]

    assert len(set(pauses)) == 50
    assert 7.5 <= min(pauses) <= max(pauses) <= 15
