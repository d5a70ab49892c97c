"""Promise 8: whatever comes through the door, nothing breaks, and the update behind it is answered.

Real `zclaw bots` behind a fake platform, real workers behind the store. Between batches of nonsense somebody whom the
bot does not know yet says something.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from aiohttp import web

from bots.slack.updates import Workspace, translate
from bots.telegram.addressing import Me
from bots.telegram.updates import read_update
from kernel.chat import ButtonPress, UserMessage
from kernel.codec import decode, encode
from tests.bots.slack import fake as slack_fake
from tests.chaos.fuzzing import Mutator, raw_request, slack_seeds, telegram_seeds, to_bytes
from tests.chaos.platforms import slack, telegram
from tests.chaos.processes import processes
from tests.chaos.repeating import Platform, came, free_address
from tests.chaos.slacks import Slack, SlackHttp, SlackSocket
from tests.chaos.telegrams import PROOF, SECRET, Telegram, TelegramPolling, TelegramWebhook

BATCH = 50
AT_ONCE = 20
RAW_EVERY = 4
"""Of the calls over HTTP one in so many is no proper request."""
RAW_WITHIN_S = 1.0
"""Who does not finish their request is left to wait for its time-out."""
ANSWERED_WITHIN_S = 60.0
ACKED_WITHIN_S = 1.5
SENT_TIMES = 3
TOO_LARGE_CHARS = 4_000_000
"""A frame that is longer ends its connection."""


@dataclass
class Fuzz:
    """Nonsense on its way in, and what became of it."""

    bots: str
    """Where the process listens that is called."""
    mutator: Mutator
    outcomes: Counter[str] = field(default_factory=Counter)
    numbers: count[int] = field(default_factory=lambda: count(1))
    calls: count[int] = field(default_factory=lambda: count(1))

    async def post(self, path: str, headers: dict[str, str], body: bytes) -> None:
        """One call; now and then one that is hardly HTTP any more. Notes how it was answered."""
        if next(self.calls) % RAW_EVERY == 0:
            self.outcomes[f"raw {await self._answer(raw_request(self.mutator.dice, path, headers, body))}"] += 1
            return
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        start = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        self.outcomes[await self._answer(start.encode() + body, ANSWERED_WITHIN_S)] += 1

    async def _answer(self, request: bytes, within_s: float = RAW_WITHIN_S) -> str:
        host, _, port = self.bots.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        status = "none"
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(within_s):
                writer.write(request)
                line = (await reader.read(64)).split(b" ")
                status = line[1].decode("ascii", "replace") if len(line) > 1 else "closed"
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        return status


Feed = Callable[[list[Any]], Awaitable[None]]


def polling(platform: Telegram, fuzz: Fuzz) -> Feed:
    """As the answers of `getUpdates`; the one after it must be asked for behind the batch."""

    async def feed(batch: list[Any]) -> None:
        told = asyncio.Event()

        async def answer(_: web.Request) -> web.StreamResponse:
            told.set()
            last = {"update_id": platform.number()}
            return web.Response(body=to_bytes({"ok": True, "result": [*batch, last]}), content_type="application/json")

        platform.api.faults.setdefault("getUpdates", []).append(answer)
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            await told.wait()
        fuzz.outcomes["told"] += len(batch)

    return feed


def webhook(_: Telegram, fuzz: Fuzz) -> Feed:
    """As calls that know the secret, most of them."""

    async def feed(batch: list[Any]) -> None:
        dice = fuzz.mutator.dice
        secrets = [SECRET] * 20 + ["", SECRET.upper(), "é", "x" * 5_000]
        for start in range(0, len(batch), AT_ONCE):
            calls = [
                fuzz.post(
                    "/telegram", {"Content-Type": "application/json", PROOF: dice.choice(secrets)}, to_bytes(each)
                )
                for each in batch[start : start + AT_ONCE]
            ]
            await asyncio.gather(*calls)

    return feed


def sockets(platform: Slack, fuzz: Fuzz) -> Feed:
    """As envelopes, some of them no proper ones either."""

    async def feed(batch: list[Any]) -> None:
        sent: dict[str, str] = {}
        for kind, payload in batch:
            envelope = f"fuzzed-{next(fuzz.numbers)}"
            frame: Any = {"type": kind, "envelope_id": envelope, "payload": payload, "retry_attempt": 0}
            is_whole = fuzz.mutator.dice.random() < 0.8
            words = to_bytes(frame if is_whole else fuzz.mutator.of(frame)).decode()
            await send(words)
            if is_whole and len(words) < TOO_LARGE_CHARS:
                sent[envelope] = words
        for _ in range(SENT_TIMES):
            if await came(platform.changed, lambda: sent.keys() <= platform.slack.acks.keys(), ACKED_WITHIN_S):
                break
            # A frame that was too large had ended the connection, and what else was on it.
            for envelope in sent.keys() - platform.slack.acks.keys():
                await send(sent[envelope])
        acked = len(sent.keys() & platform.slack.acks.keys())
        fuzz.outcomes["acknowledged"] += acked
        fuzz.outcomes["not acknowledged"] += len(sent) - acked
        fuzz.outcomes["no proper envelope"] += len(batch) - len(sent)

    async def send(words: str) -> None:
        assert await came(platform.changed, lambda: bool(platform.slack.sockets))
        with suppress(ConnectionError):
            await platform.slack.sockets[-1].send_str(words)

    return feed


def signed(_: Slack, fuzz: Fuzz) -> Feed:
    """As calls, most of them signed."""

    async def feed(batch: list[Any]) -> None:
        for start in range(0, len(batch), AT_ONCE):
            await asyncio.gather(*(_call(fuzz, *each) for each in batch[start : start + AT_ONCE]))

    return feed


async def _call(fuzz: Fuzz, kind: str, payload: Any) -> None:
    dice = fuzz.mutator.dice
    body, type_ = to_bytes(payload), "application/json"
    if kind != "events_api":
        is_form = kind == "slash_commands" and isinstance(payload, dict)
        fields = payload if is_form else {"payload": json.dumps(payload)}
        body, type_ = urlencode(fields, errors="replace").encode(), slack_fake.FORM
    headers = slack_fake.headers(body, datetime.now(UTC), dice.choice([type_] * 10 + ["", "text/html", "a/b; c=\x7f"]))
    if dice.random() < 0.1:
        name = dice.choice(list(headers))
        headers[name] = dice.choice(
            ["", "0", "-1", "v0=", "v0=" + "é" * 64, "9" * 400, "nan", "1e9", headers[name] * 2]
        )
    await fuzz.post("/slack/events", headers, body)


def errors(folder: Path, name: str) -> list[str]:
    """What a process says that somebody must look at: errors, tracebacks, what is no line of a log."""
    found = []
    for line in (folder / f"{name}.log").read_text(errors="replace").splitlines():
        try:
            is_error = json.loads(line).get("level") in ("error", "critical")
        except ValueError:
            is_error = True
        if is_error:
            found.append(line[:600])
    return found


async def metrics(address: str) -> dict[str, int]:
    """What the bots say that became of all they heard."""
    async with aiohttp.ClientSession() as http, http.get(f"http://{address}/metrics") as answer:
        found = re.findall(r'^\w*inbound\w*\{.*outcome="(\w+)".*\} (\d+)', await answer.text(), re.MULTILINE)
    return {outcome: int(number) for outcome, number in found}


def memory_mb(pid: int, which: str) -> float:
    """What the process holds in memory: `VmRSS` now, `VmHWM` at most until now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(which):
            return int(line.split()[1]) / 1024
    return 0.0


async def survive(
    platform: Platform, feed: Callable[[Fuzz], Feed], seed: Callable[[int], Any], folder: Path, updates: int
) -> None:
    """So many fuzzed updates, and after each batch one that must be answered."""
    address, dice = free_address(), random.Random(8)
    fuzz = Fuzz(address, Mutator(dice))
    with processes(folder, workers=1, bots=0, calm=True) as here:
        settings = platform.settings(address) | {"ZCLAW_REDIS_URL": here.store_url, "ZCLAW_ACCESS": "open"}
        here.add("bots", "-m", "zclaw", "bots", **settings)
        assert await platform.is_connected(1)
        pid, tell, answered = here.pid("bots"), feed(fuzz), 0
        started_mb = memory_mb(pid, "VmRSS")
        persons = range(1, updates // BATCH + 1)
        for person in persons:
            await tell([seed(next(fuzz.numbers)) for _ in range(BATCH)])
            # A frame that ended the connection: it is awaited, as Slack would.
            assert await platform.is_connected(1)
            good = platform.said(person, f"text 1 of chat {person}")
            platform.give(good)
            assert await came(platform.changed, lambda g=good: platform.is_acknowledged(g)), "stuck"  # type: ignore[misc]
        wanted = {(platform.home(person), "read 1") for person in persons}
        await came(platform.changed, lambda: wanted <= set(platform.shown()), ANSWERED_WITHIN_S)
        answered, found = len(wanted & set(platform.shown())), errors(folder, "bots")
        heard = await metrics(address)
        now_mb, most_mb = memory_mb(pid, "VmRSS"), memory_mb(pid, "VmHWM")
        here.tend()
    print(
        f"{platform.name}: {updates} fuzzed updates ({dict(fuzz.outcomes)}; heard {heard}), behind them {answered} of "
        f"{len(wanted)} answered; died {here.restarts}; errors {len(found)}; memory {started_mb:.0f} MB, then "
        f"{now_mb:.0f} MB, at most {most_mb:.0f} MB"
    )
    for line in found[:5]:
        print(line)
    assert here.restarts == []
    assert answered == len(wanted)
    assert found == []
    assert [each for each in fuzz.outcomes if each.removeprefix("raw ").startswith("5")] == []
    assert heard["stored"] > len(wanted) + updates / 20
    assert fuzz.outcomes["not acknowledged"] == 0
    assert most_mb - started_mb < 200


async def telegram_survives(kind: type[TelegramPolling | TelegramWebhook], folder: Path, updates: int) -> None:
    """By polling or by webhook."""
    async with telegram(kind, 1 / 30) as platform:
        mutator = Mutator(random.Random(8))

        def seed(number: int) -> Any:
            return mutator.of(mutator.dice.choice(telegram_seeds(10_000 + number)))

        feed = polling if kind is TelegramPolling else webhook
        await survive(platform, lambda fuzz: feed(platform, fuzz), seed, folder, updates)


async def slack_survives(kind: type[SlackSocket | SlackHttp], folder: Path, updates: int) -> None:
    """By envelopes or by signed requests."""
    async with slack(kind, 1 / 30) as platform:
        mutator = Mutator(random.Random(8))
        for number in range(40):
            platform.slack.users[f"UZ{number}"] = slack_fake.person(f"UZ{number}")
            platform.slack.channels[f"CZ{number}"] = {"id": f"CZ{number}", "name": "office"}

        def seed(number: int) -> Any:
            envelope, payload = mutator.dice.choice(slack_seeds(number, f"{platform.slack.url}/files/a.pdf"))
            return envelope, mutator.of(payload)

        feed = sockets if kind is SlackSocket else signed
        await survive(platform, lambda fuzz: feed(platform, fuzz), seed, folder, updates)


def test_what_is_heard_of_6000_fuzzed_updates_is_read_back_as_it_was() -> None:
    mutator, heard = Mutator(random.Random(8)), 0
    now, workspace, me = datetime.now(UTC), Workspace(slack_fake.TEAM, slack_fake.BOT_USER), Me("4242", "zclawbot")
    for number in range(3_000):
        _, payload = mutator.dice.choice(slack_seeds(number, "http://127.0.0.1/a.pdf"))
        update = mutator.dice.choice(telegram_seeds(number))
        for found in (translate(mutator.of(payload), workspace, now), read_update(mutator.of(update), me, now)):
            if isinstance(found, UserMessage | ButtonPress):
                heard += 1
                assert decode(type(found), encode(found)) == found

    assert heard > 600


async def test_400_fuzzed_updates_stop_no_polling(tmp_path: Path) -> None:
    await telegram_survives(TelegramPolling, tmp_path, 400)


async def test_400_fuzzed_calls_stop_no_webhook(tmp_path: Path) -> None:
    await telegram_survives(TelegramWebhook, tmp_path, 400)


async def test_400_fuzzed_envelopes_stop_no_socket(tmp_path: Path) -> None:
    await slack_survives(SlackSocket, tmp_path, 400)


async def test_400_fuzzed_requests_stop_no_signed_http(tmp_path: Path) -> None:
    await slack_survives(SlackHttp, tmp_path, 400)


@pytest.mark.chaos
@pytest.mark.parametrize("kind", [TelegramPolling, TelegramWebhook], ids=lambda kind: str(kind.name))
async def test_10000_fuzzed_updates_stop_nothing_on_telegram(
    kind: type[TelegramPolling | TelegramWebhook], tmp_path: Path
) -> None:
    await telegram_survives(kind, tmp_path, 10_000)


@pytest.mark.chaos
@pytest.mark.parametrize("kind", [SlackSocket, SlackHttp], ids=lambda kind: str(kind.name))
async def test_10000_fuzzed_updates_stop_nothing_on_slack(kind: type[SlackSocket | SlackHttp], tmp_path: Path) -> None:
    await slack_survives(kind, tmp_path, 10_000)
