"""Promise 9: a canary in every secret slot of a real installation is found nowhere else, whatever goes wrong."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import redis

from tests.bots.telegram.fake_api import TOKEN, FakeApi, refuses, says, serving
from tests.twins.model_service import ModelService, Page, claude_call, claude_events, claude_stream, claude_text
from tests.twins.model_service import model_service as service_of_models
from zclaw.folder import DataFolder
from zclaw.store import store_url

ROOT = Path(__file__).parents[2]
WITHIN_S = 60
CANARIES = {
    "TELEGRAM_BOT_TOKEN": TOKEN,
    "TELEGRAM_WEBHOOK_SECRET": "canary-webhook-7c1d",
    "SLACK_SIGNING_SECRET": "canary-signing-52aa",
    "ANTHROPIC_API_KEY": "sk-ant-canary-9b3e-0d",
    "OPENAI_API_KEY": "canary-openai-41f7",
}
ALICE = {"id": 1001, "is_bot": False, "first_name": "Alice"}
CHAT = {"id": 1001, "type": "private", "first_name": "Alice"}


@dataclass
class Installation:
    """A running `zclaw up` between a Telegram and a model's service of our own."""

    process: subprocess.Popen[bytes]
    api: FakeApi
    models: ModelService
    folder: DataFolder
    updates: int = 0

    async def says(self, text: str) -> None:
        self.updates += 1
        message = {"message_id": self.updates, "date": 1796000400, "chat": CHAT, "from": ALICE, "text": text}
        await self.api.adds({"update_id": self.updates, "message": message})

    async def presses(self, label: str) -> None:
        shown = next(call for call in reversed(self.sent()) if "reply_markup" in call)
        markup = shown["reply_markup"]
        assert isinstance(markup, dict)
        button = next(each for row in markup["inline_keyboard"] for each in row if label in each["text"])
        self.updates += 1
        place = {"message_id": self.updates, "date": 1796000400, "chat": CHAT, "text": "card"}
        press = {"id": f"q{self.updates}", "from": ALICE, "chat_instance": "c", "data": button["callback_data"]}
        await self.api.adds({"update_id": self.updates, "callback_query": press | {"message": place}})

    def sent(self) -> list[dict[str, object]]:
        return self.api.of("sendMessage")

    async def sees(self, words: str) -> None:
        async with asyncio.timeout(WITHIN_S):
            while not any(words in str(call["text"]) for call in self.sent()):
                async with self.api.changed:
                    await self.api.changed.wait()


def started(folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """`zclaw up`; what it says goes to `up.out`."""
    with (folder / "up.out").open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "zclaw", "up"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


@asynccontextmanager
async def installation(folder: Path) -> AsyncIterator[Installation]:
    async with serving() as api, service_of_models() as models:
        known = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(folder), "ZCLAW_LANG": "zh"}
        more = {
            "ZCLAW_DATA_DIR": str(folder / "data"),
            "ZCLAW_ALLOW": "telegram:1001",
            "ZCLAW_OWNERS": "telegram:1001",
            "ZCLAW_MODEL": "anthropic:claude-opus-4-6",
            "ZCLAW_LOG": "debug",
            "TELEGRAM_API_URL": api.url,
            "ANTHROPIC_BASE_URL": models.url,
        }
        process = started(folder, known | more | CANARIES)
        try:
            yield Installation(process, api, models, DataFolder(folder / "data"))
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, WITHIN_S)


def found_in(places: Iterator[tuple[str, bytes]]) -> list[str]:
    """Where a canary stands, and whose; how many places were looked at."""
    looked, hits = 0, []
    for place, content in places:
        looked += 1
        hits += [f"{slot} in {place}" for slot, canary in CANARIES.items() if canary.encode() in content]
    print(f"{len(CANARIES)} canaries, {looked} places, {len(hits)} hits")
    return hits


def places(here: Installation, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Everything that was written down, said, or can be read of our processes."""
    for file in folder.rglob("*"):
        if file.is_file():
            yield str(file.relative_to(folder)), file.read_bytes()
    with redis.Redis.from_url(store_url(here.folder)) as client:
        for key in client.scan_iter(count=1000):
            yield f"key {key!r}", key + (client.dump(key) or b"") + repr(_content(client, key)).encode()
    for process in [psutil.Process(here.process.pid), *psutil.Process(here.process.pid).children(recursive=True)]:
        for what in ("environ", "cmdline") if sys.platform == "linux" else ():
            yield f"{what} of {process.name()}", Path(f"/proc/{process.pid}/{what}").read_bytes()
    for call in here.api.calls:
        yield f"call of {call.method}", repr(call.params).encode()
    for request in here.models.requests:
        yield "request to the model", request.raw


def _content(client: redis.Redis, key: bytes) -> object:
    match client.type(key):
        case b"hash":
            return client.hgetall(key)
        case b"list":
            return client.lrange(key, 0, -1)
        case b"zset":
            return client.zrange(key, 0, -1)
        case b"set":
            return client.smembers(key)
        case b"stream":
            return client.xrange(key)
        case _:
            return client.get(key)


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="needs the embedded store")
async def test_no_secret_is_found_anywhere_whatever_goes_wrong(tmp_path: Path) -> None:
    keys = " ".join(CANARIES.values())
    look = '{"command": "env; cat /proc/*/environ /proc/*/cmdline; ls -R /proc/self/fd; cat ../*"}'
    async with installation(tmp_path) as here:
        here.models.answers(
            Page(401, f'{{"error": {{"type": "authentication_error", "message": "bad keys: {keys}"}}}}'),
            claude_stream(claude_events(claude_call("c1", "shell", look), stop="tool_use")),
            claude_stream(claude_events(claude_text("看完了。"))),
        )
        here.api.faults["sendMessage"] = [
            says(f"<html>gateway saw {keys}</html>", 502),
            refuses(500, f"broke on {keys}"),
        ]

        await here.says("你好")
        await here.sees("模型拒绝了这次请求")
        await here.says("用工具打印环境变量 ZCLAW_TEST_TOKEN")
        await here.sees("需要你同意")
        await here.presses("允许")
        await here.sees("看完了。")

        looked = list(places(here, tmp_path))
        hits = found_in(iter(looked))
        assert len(looked) > 20
        assert "PATH=" in here.models.requests[-1].raw.decode()

    assert hits == []
    assert not [slot for slot, canary in CANARIES.items() if canary in (tmp_path / "up.out").read_text()]


def test_a_canary_that_is_there_is_found() -> None:
    written = iter([("a.log", b"calm"), ("b.log", b"{'key': 'sk-ant-canary-9b3e-0d'}")])

    assert found_in(written) == ["ANTHROPIC_API_KEY in b.log"]
