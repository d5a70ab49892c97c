"""Promise 9: a canary in every secret slot of a real installation is found nowhere else, whatever goes wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import redis

from tests.bots.telegram.fake_api import TOKEN, refuses, says
from tests.chaos.whole import Installation, installation
from tests.twins.model_service import Page, claude_call, claude_events, claude_stream, claude_text
from zclaw.store import store_url

CANARIES = {
    "TELEGRAM_BOT_TOKEN": TOKEN,
    "TELEGRAM_WEBHOOK_SECRET": "canary-webhook-7c1d",
    "SLACK_SIGNING_SECRET": "canary-signing-52aa",
    "ANTHROPIC_API_KEY": "sk-ant-canary-9b3e-0d",
    "OPENAI_API_KEY": "canary-openai-41f7",
}


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
    async with installation(tmp_path, CANARIES) as here:
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
