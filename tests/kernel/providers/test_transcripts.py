from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kernel.errors import ProviderFailed
from kernel.logs import Mask
from kernel.messages import Opaque, Text
from kernel.providers.scripted import Gate, Held, Scripted, call
from kernel.providers.transcripts import Bounds, Transcribed
from tests.twins.conversation import HELLO, request, result, user
from tests.twins.hasty import HastyClock

SECRET = 'sk-"quoted"\\canary-0123456789'
ASKED = replace(HELLO, about="telegram:-100:7")


def lines(folder: Path) -> list[dict[str, Any]]:
    [file] = folder.iterdir()
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def written(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


def over(model: Scripted, folder: Path, clock: HastyClock, bounds: Bounds = Bounds()) -> Transcribed:  # noqa: B008
    return Transcribed(model, folder, clock=clock, mask=Mask([SECRET]), bounds=bounds)


async def test_request_tools_and_reply_are_written_down(tmp_path: Path, clock: HastyClock) -> None:
    model = over(
        Scripted((Opaque("scripted", "test", '{"x":1}'), Text("好"), call("weather.get", city="北京"))), tmp_path, clock
    )

    await model.reply(ASKED)
    await model.close()

    asked, came = lines(tmp_path)
    assert (asked["kind"], asked["system"], asked["messages"]) == (
        "request",
        "你是助手",
        [{"role": "user", "parts": [{"text": "你好"}]}],
    )
    assert [tool["name"] for tool in asked["tools"]] == ["weather.get", "weather_get"]
    assert (came["kind"], came["stop"], came["call"]) == ("reply", "tools", asked["call"])
    assert came["message"]["parts"][1:] == [
        {"text": "好"},
        {"call": "call_1", "tool": "weather.get", "arguments": '{"city": "北京"}', "is_cut": False},
    ]


async def test_what_the_last_request_had_is_not_written_again(tmp_path: Path, clock: HastyClock) -> None:
    model = over(Scripted(call("weather.get", city="北京"), "晴"), tmp_path, clock)

    reply = await model.reply(ASKED)
    await model.reply(replace(ASKED, messages=(*HELLO.messages, reply.message, user(result("call_1")))))
    await model.close()

    again = lines(tmp_path)[2]
    assert (again["after"], len(again["messages"]), "tools" in again) == (1, 2, False)


async def test_secrets_are_masked_by_value_also_where_a_text_is_cut(tmp_path: Path, clock: HastyClock) -> None:
    model = over(Scripted(f"the key is {SECRET}"), tmp_path, clock, Bounds(text_chars=12))

    await model.reply(request(user(f"12345678{SECRET}")))
    await model.close()

    [text] = written(tmp_path).values()
    assert "canary" not in text
    assert "sk-" not in text


def modes(folder: Path) -> list[int]:
    return [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())]


async def test_files_are_their_owners_and_their_names_safe(tmp_path: Path, clock: HastyClock) -> None:
    model = over(Scripted("好"), tmp_path / "new", clock)

    for about in ("../../etc/passwd", "slack:C1:100.1", "slack:C1/100.1"):
        await model.reply(replace(HELLO, about=about))
    await model.close()

    assert modes(tmp_path / "new") == [0o700, 0o600, 0o600, 0o600]


async def test_each_day_has_its_file(tmp_path: Path, clock: HastyClock) -> None:
    model = over(Scripted("好"), tmp_path, clock)

    await model.reply(ASKED)
    clock.jump(timedelta(days=1))
    await model.reply(ASKED)
    await model.close()

    assert sorted(name[:10] for name in written(tmp_path)) == ["2026-11-30", "2026-12-01"]


async def test_files_and_folder_are_bounded(tmp_path: Path, clock: HastyClock) -> None:
    model = over(Scripted("好" * 300), tmp_path, clock, Bounds(file_bytes=4000, folder_bytes=12_000))

    for number in range(40):
        clock.jump(timedelta(days=number % 4 == 0))
        await model.reply(ASKED)
    await model.close()

    sizes = [len(text.encode()) for text in written(tmp_path).values()]
    assert max(sizes) <= 4000
    assert sum(sizes) <= 12_000
    assert len(sizes) > 1


@pytest.mark.parametrize("error", [ProviderFailed(f"busy {SECRET}"), ValueError("?")])
async def test_errors_are_written_down_and_go_on(tmp_path: Path, clock: HastyClock, error: Exception) -> None:
    model = over(Scripted(error), tmp_path, clock)

    with pytest.raises(type(error)):
        await model.reply(ASKED)
    await model.close()

    assert lines(tmp_path)[1]["error"] == type(error).__name__
    assert "canary" not in json.dumps(lines(tmp_path))


async def test_a_cancelled_call_is_written_down(tmp_path: Path, clock: HastyClock) -> None:
    gate = Gate()
    model = over(Scripted(Held("late", gate)), tmp_path, clock)
    running = asyncio.create_task(model.reply(ASKED))
    await gate.reached()

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await model.close()

    assert lines(tmp_path)[1]["error"] == "CancelledError"


async def test_a_folder_that_cannot_be_written_fails_no_call(tmp_path: Path, clock: HastyClock) -> None:
    (tmp_path / "file").write_text("")
    model = over(Scripted("好"), tmp_path / "file", clock)

    assert (await model.reply(ASKED)).message.text == "好"

    await model.close()
