from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from kernel.errors import BadSettings, ProviderFailed, ProviderRefused
from kernel.ports import Provider
from kernel.providers.choose import ModelSettings, provider_for
from tests.twins.conversation import HELLO
from tests.twins.hasty import HastyClock
from tests.twins.model_service import ModelService, Page, claude_events, claude_stream, claude_text

KEY = "sk-canary-0123456789"


async def chosen(settings: ModelSettings) -> Provider | None:
    provider = await provider_for(settings, clock=HastyClock(), random=random.Random(1))
    if provider:
        await provider.close()
    return provider


def listing(*names: str) -> Page:
    return Page(200, json.dumps({"data": [{"id": name} for name in names]}))


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (ModelSettings(model="anthropic:claude-opus-5-5", anthropic_key=KEY), "anthropic:claude-opus-5-5"),
        (ModelSettings(anthropic_key=KEY, openai_key=KEY), "anthropic:claude-sonnet-5-5"),
        (ModelSettings(model="openai:gpt-9", openai_key=KEY, anthropic_key=KEY), "openai:gpt-9"),
        (ModelSettings(model=" openai:org/model:7b ", openai_url="http://127.0.0.1:1/v1"), "openai:org/model:7b"),
    ],
)
async def test_settings_name_a_model(settings: ModelSettings, name: str) -> None:
    provider = await chosen(settings)

    assert provider
    assert provider.name == name


@pytest.mark.parametrize(
    "written", ["openai:a,anthropic:b", " openai:a , anthropic:b ,", "openai:a,openai:a,anthropic:b"]
)
async def test_of_a_list_the_first_is_wanted_and_the_next_answers_for_it(service: ModelService, written: str) -> None:
    service.own_rules = lambda body: Page(503, "down") if body["model"] == "a" else None
    service.answers(claude_stream(claude_events(claude_text("好"))))
    settings = ModelSettings(written, KEY, service.url, KEY, service.url)

    provider = await provider_for(settings, clock=HastyClock(), random=random.Random(1))
    assert provider
    reply = await provider.reply(HELLO)
    await provider.close()

    assert (provider.name, reply.by, reply.message.text) == ("openai:a", "anthropic:b", "好")
    assert [one.body["model"] for one in service.requests] == ["a", "a", "b"]


async def test_nothing_set_is_no_model() -> None:
    assert await chosen(ModelSettings()) is None


async def test_the_only_model_of_a_server_is_taken(service: ModelService) -> None:
    service.models = listing("qwen3:8b")

    provider = await chosen(ModelSettings(openai_url=f"{service.url}/v1/"))

    assert provider
    assert provider.name == "openai:qwen3:8b"
    assert service.requests[0].path == "/v1/models"


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ([], "lists no model: set ZCLAW_MODEL=openai:<model>"),
        (["a", "b"], r"lists 2 models \(a, b\): choose one with ZCLAW_MODEL=openai:<model>"),
        (list("abcdefg"), r"lists 7 models \(a, b, c, d, e, …\)"),
    ],
)
async def test_none_or_several_models_ask_for_a_choice(service: ModelService, names: list[str], line: str) -> None:
    service.models = listing(*names)

    with pytest.raises(BadSettings, match=line):
        await chosen(ModelSettings(openai_url=service.url))


@pytest.mark.parametrize(
    ("answer", "error", "why"),
    [
        (Page(401, "{}"), ProviderRefused, "check OPENAI_API_KEY"),
        (Page(404, "no"), ProviderRefused, "lists no models"),
        (Page(503, "no"), ProviderFailed, "503"),
        (Page(200, "<html>"), ProviderFailed, "no list of models"),
        (Page(200, '{"data": [7]}'), ProviderFailed, "no list of models"),
    ],
)
async def test_a_list_that_cannot_be_had_says_why(
    service: ModelService, answer: Page, error: type[Exception], why: str
) -> None:
    service.models = answer

    with pytest.raises(error, match=rf"127\.0\.0\.1 .*{why}"):
        await chosen(ModelSettings(openai_url=service.url, openai_key=KEY))


async def test_a_server_that_is_off_is_a_failure_that_passes() -> None:
    with pytest.raises(ProviderFailed, match=r"127\.0\.0\.1"):
        await chosen(ModelSettings(openai_url="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (ModelSettings(model="claude"), "must be anthropic:<model> or openai:<model>"),
        (ModelSettings(model="openai:"), "must be anthropic:<model> or openai:<model>"),
        (ModelSettings(model="google:gemini"), "must be anthropic:<model> or openai:<model>"),
        (ModelSettings(model=" , ", openai_key=KEY), "must be anthropic:<model> or openai:<model>"),
        (ModelSettings(model="openai:a,openai:", openai_key=KEY), "must be anthropic:<model> or openai:<model>"),
        (ModelSettings(model="openai:a,anthropic:b", openai_key=KEY), "ANTHROPIC_API_KEY is not set"),
        (ModelSettings(model="anthropic:claude"), "ANTHROPIC_API_KEY is not set"),
        (ModelSettings(model="openai:gpt"), "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"),
        (ModelSettings(openai_key=KEY), "no model: set ZCLAW_MODEL=openai:<model>"),
        (ModelSettings(model=KEY), "must be anthropic:<model> or openai:<model>"),
        (ModelSettings(anthropic_key=f"{KEY}\n"), "ANTHROPIC_API_KEY holds a character that no key has"),
        (ModelSettings(model="openai:a", openai_key=f"密钥{KEY}"), "OPENAI_API_KEY holds a character"),
        (ModelSettings(openai_url="http://127.0.0.1:9", openai_key=f"{KEY} {KEY}"), "OPENAI_API_KEY holds"),
        (ModelSettings(openai_url="localhost:11434"), "OPENAI_BASE_URL must begin with http"),
        (ModelSettings(anthropic_key=KEY, anthropic_url="api"), "ANTHROPIC_BASE_URL must begin with http"),
    ],
)
async def test_a_wrong_setting_is_one_line_that_says_what_to_change(settings: ModelSettings, line: str) -> None:
    with pytest.raises(BadSettings, match=line) as wrong:
        await chosen(settings)

    assert KEY not in str(wrong.value)


def test_settings_do_not_show_their_keys() -> None:
    assert KEY not in repr(ModelSettings("openai:m", anthropic_key=KEY, openai_key=KEY))


def test_choosing_loads_nothing_heavy_before_it_is_needed() -> None:
    code = (
        "import sys, kernel.providers.choose, kernel.providers.scripted, kernel.providers.anthropic,"
        " kernel.providers.openai_compat, kernel.providers.openai_models\n"
        "print(sorted({'anthropic', 'httpx', 'httpx2', 'aiohttp', 'pydantic'} & sys.modules.keys()))"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert printed.stdout == "[]\n"
