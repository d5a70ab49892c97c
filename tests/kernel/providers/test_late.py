"""A model that is found only once its service answers."""

from __future__ import annotations

import pytest

from kernel.errors import BadSettings, ProviderFailed, ProviderRefused
from kernel.messages import Message, ModelRequest, Role, Text
from kernel.ports import Provider
from kernel.providers.late import LateProvider
from kernel.providers.scripted import Scripted

REQUEST = ModelRequest("", (Message(Role.USER, (Text("你好"),)),))


async def test_calls_fail_while_the_service_is_away_and_work_once_it_is_back() -> None:
    inner = Scripted("好", "好", name="openai:tiny")
    answers: list[Exception | Provider] = [ProviderFailed("away"), inner]

    async def find() -> Provider:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    late = LateProvider(find)
    await late.close()

    with pytest.raises(ProviderFailed):
        await late.reply(REQUEST)
    assert late.name == "unknown"
    replies = [await late.reply(REQUEST), await late.reply(REQUEST)]

    assert [(reply.message.text, reply.by) for reply in replies] == [("好", "openai:tiny")] * 2
    assert late.name == "openai:tiny"
    await late.close()
    assert inner.is_closed


async def test_a_service_that_turns_out_not_to_fit_is_the_operators_business() -> None:
    async def find() -> Provider:
        raise BadSettings("it lists 2 models: choose one with ZCLAW_MODEL")

    with pytest.raises(ProviderRefused, match="choose one"):
        await LateProvider(find).reply(REQUEST)
