from __future__ import annotations

import asyncio

import pytest

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import Message, ModelReply, ModelRequest, Role, Stop, Text, ToolCall
from kernel.providers.scripted import Answer, Gate, Held, Scripted, call
from tests.twins.conversation import HELLO, assistant, request, result, user


async def test_it_says_what_it_saw_when_nothing_fits() -> None:
    model = Scripted()

    reply = await model.reply(HELLO)

    assert reply.message == assistant("saw 1 messages; last: 你好")
    assert (reply.stop, model.requests) == (Stop.END, [HELLO])


async def test_rules_answer_words_and_results() -> None:
    model = Scripted()
    model.when("天气", call("get_weather", city="北京"))
    model.when_result("晴", "今天晴")

    first = await model.reply(request(user("天气怎样")))
    second = await model.reply(request(user("天气怎样"), first.message, user(result("call_1", "晴 20 度"))))

    assert first.message.calls == (ToolCall("call_1", "get_weather", '{"city": "北京"}'),)
    assert first.stop is Stop.TOOLS
    assert second.message.text == "今天晴"


async def test_a_queue_comes_before_rules_and_a_rule_repeats_its_last_answer() -> None:
    model = Scripted("first")
    model.when("你好", "one", "two")

    said = [(await model.reply(HELLO)).message.text for _ in range(4)]

    assert said == ["first", "one", "two", "two"]


async def test_new_calls_never_take_an_id_of_the_history() -> None:
    model = Scripted((Text("两个"), call("a"), call("b")))
    history = request(user("x"), assistant(ToolCall("call_2", "a", "{}")), user(result("call_2")))

    reply = await model.reply(history)

    assert [one.id for one in reply.message.calls] == ["call_1", "call_3"]


async def test_it_fails_computes_and_gives_whole_replies() -> None:
    whole = ModelReply(Message(Role.ASSISTANT, ()), Stop.REFUSAL)

    async def count(asked: ModelRequest) -> Answer:
        return f"{len(asked.messages)}"

    model = Scripted(ProviderFailed("busy"), count, lambda asked: asked.system, whole)

    with pytest.raises(ProviderFailed, match="busy"):
        await model.reply(HELLO)
    assert (await model.reply(HELLO)).message.text == "1"
    assert (await model.reply(HELLO)).message.text == "你是助手"
    assert await model.reply(HELLO) is whole


async def test_a_gate_holds_the_reply_after_its_first_words() -> None:
    gate = Gate()
    model = Scripted(Held("好了", gate, said="等一下"))
    heard: list[str] = []
    running = asyncio.create_task(model.reply(HELLO, heard.append))

    await gate.reached()
    assert (heard, running.done()) == (["等一下"], False)
    gate.open()

    assert (await running).message.text == "好了"


async def test_what_a_strict_service_would_refuse_is_refused() -> None:
    model = Scripted()

    with pytest.raises(ProviderRefused, match="is not answered"):
        await model.reply(request(user("x"), assistant(ToolCall("a", "t", "{}")), user("y")))

    assert model.refusals == ["call a is not answered in the next message"]
