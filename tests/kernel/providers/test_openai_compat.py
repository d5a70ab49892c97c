from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import Message, ModelReply, Opaque, Role, Stop, Text, Usage
from kernel.providers.openai_compat import OpenAICompatible
from kernel.providers.tries import Patience
from tests.twins.conversation import HELLO, assistant, call, request, result, user
from tests.twins.hasty import HastyClock
from tests.twins.model_service import ModelService, Page, Stream, chat_pieces, chat_stream

KEY = "sk-canary-0123456789"
GOOD = chat_stream(chat_pieces({"content": "你好"}, {"content": "呀"}))


def provider(service: ModelService, clock: HastyClock, model: str = "glm-9", key: str = KEY) -> OpenAICompatible:
    patience = Patience(silence=timedelta(seconds=1))
    url = f"{service.url}/v1/"
    return OpenAICompatible(model, key, clock=clock, random=random.Random(1), url=url, patience=patience)


@pytest.fixture
async def model(service: ModelService, clock: HastyClock) -> AsyncIterator[OpenAICompatible]:
    made = provider(service, clock)
    yield made
    await made.close()


def pieces_of(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    """One delta for each piece of a call."""
    return [{"tool_calls": [one]} for one in calls]


def piece(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """A piece of a call; `name` belongs to its function."""
    function = {"name": fields.pop("name")} if "name" in fields else {}
    return {**fields, "function": function if arguments is None else {**function, "arguments": arguments}}


def calls_of(reply: ModelReply) -> list[tuple[str, str, str]]:
    return [(one.id, one.name, one.arguments) for one in reply.message.calls]


@pytest.mark.parametrize(
    "told",
    [
        "unknown",
        [1],
        {"prompt_tokens": "12", "completion_tokens": None, "prompt_tokens_details": [1]},
        {"prompt_tokens": -1_000_000, "completion_tokens": float("nan"), "prompt_cache_hit_tokens": True},
    ],
)
async def test_a_service_that_tells_nonsense_of_its_tokens_is_heard_all_the_same(
    service: ModelService, model: OpenAICompatible, told: object
) -> None:
    pieces = [each for each in chat_pieces({"content": "好"}) if not each.get("usage")]
    service.answers(chat_stream([*pieces, {"choices": [], "usage": told}]))

    reply = await model.reply(HELLO)

    assert (reply.message.text, reply.usage) == ("好", Usage())


async def test_a_text_reply_comes_whole_and_in_pieces(service: ModelService, model: OpenAICompatible) -> None:
    service.answers(GOOD)
    heard: list[str] = []

    reply = await model.reply(HELLO, heard.append)

    assert reply.message == Message(Role.ASSISTANT, (Text("你好呀"),))
    assert (reply.stop, heard) == (Stop.END, ["你好", "呀"])
    assert reply.usage == Usage(input=1000, output=42, cached=900)
    assert model.name == "openai:glm-9"


async def test_the_request_is_what_the_dialect_asks_for(service: ModelService, model: OpenAICompatible) -> None:
    service.answers(GOOD)
    history = [user("一"), user("二"), assistant("查", call("a")), user("三", result("a", "", is_error=True))]

    await model.reply(request(*history, tools=()))

    [sent] = service.requests
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    function = {"name": "weather__get", "arguments": '{"city": "北京"}'}
    assert sent.body == {
        "model": "glm-9",
        "max_tokens": 16_000,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [
            {"role": "system", "content": "你是助手"},
            {"role": "user", "content": "一\n二"},
            {
                "role": "assistant",
                "content": "查",
                "tool_calls": [{"id": "a", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "Error: (empty)"},
            {"role": "user", "content": "三"},
        ],
    }


async def test_a_server_at_home_needs_no_key(service: ModelService, clock: HastyClock) -> None:
    service.answers(GOOD)
    made = provider(service, clock, key="")

    await made.reply(HELLO)
    await made.close()

    assert "authorization" not in service.requests[0].headers


async def test_tools_are_offered_under_names_that_pass(service: ModelService, model: OpenAICompatible) -> None:
    service.answers(GOOD)

    await model.reply(HELLO)

    names = [tool["function"]["name"] for tool in service.requests[0].body["tools"]]
    assert names == ["weather__get", "weather_get"]


CALLS = {
    "as documented": pieces_of(
        piece("", index=0, id="a", name="weather__get"), piece('{"ci', index=0), piece('ty": 1}', index=0)
    ),
    "id and name blank later (Qwen)": pieces_of(
        piece('{"ci', index=0, id="a", name="weather__get"), piece('ty": 1}', index=0, id="", name="")
    ),
    "id and name null later": pieces_of(
        piece('{"ci', index=0, id="a", name="weather__get"), piece('ty": 1}', index=0, id=None, name=None)
    ),
    "without index": pieces_of(piece('{"ci', id="a", name="weather__get"), piece('ty": 1}')),
    "without index, id again": pieces_of(piece('{"ci', id="a", name="weather__get"), piece('ty": 1}', id="a")),
    "name again in each": pieces_of(
        piece('{"ci', index=0, id="a", name="weather__get"), piece('ty": 1}', index=0, id="a", name="weather__get")
    ),
    "arguments null first": pieces_of(
        piece(None, index=0, id="a", name="weather__get"), piece('{"city": 1}', index=0, name=None)
    ),
    "arguments as an object": pieces_of(piece({"city": 1}, index=0, id="a", name="weather__get")),
    "empty deltas between (GLM)": [
        {},
        *pieces_of(piece('{"ci', index=0, id="a", name="weather__get")),
        {"content": None, "tool_calls": None},
        *pieces_of(piece('ty": 1}', index=0)),
        {},
    ],
}


@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
@pytest.mark.parametrize("deltas", CALLS.values(), ids=CALLS.keys())
async def test_a_call_is_read_in_every_habit(
    service: ModelService, model: OpenAICompatible, deltas: list[dict[str, Any]], finish: str
) -> None:
    """`finish_reason` does not tell whether there are calls."""
    service.answers(chat_stream(chat_pieces(*deltas, finish=finish)))

    reply = await model.reply(HELLO)

    assert reply.stop is Stop.TOOLS
    assert calls_of(reply) == [("a", "weather.get", '{"city": 1}')]
    assert not reply.message.calls[0].is_cut


TWO_CALLS = {
    "interleaved": pieces_of(
        piece("{", index=0, id="a", name="weather_get"),
        piece("[", index=1, id="b", name="weather__get"),
        piece("}", index=0),
        piece("]", index=1),
    ),
    "all with index 0": pieces_of(
        piece("{}", index=0, id="a", name="weather_get"), piece("[]", index=0, id="b", name="weather__get")
    ),
    "without index": pieces_of(
        piece("{}", id="a", name="weather_get"), piece("[", id="b", name="weather__get"), piece("]", id="b")
    ),
    "both in one piece": [
        {
            "tool_calls": [
                piece("{}", index=0, id="a", name="weather_get"),
                piece("[]", index=1, id="b", name="weather__get"),
            ]
        }
    ],
}


@pytest.mark.parametrize("deltas", TWO_CALLS.values(), ids=TWO_CALLS.keys())
async def test_two_calls_stay_two(service: ModelService, model: OpenAICompatible, deltas: list[dict[str, Any]]) -> None:
    service.answers(chat_stream(chat_pieces(*deltas)))

    assert calls_of(await model.reply(HELLO)) == [("a", "weather_get", "{}"), ("b", "weather.get", "[]")]


@pytest.mark.parametrize("ids", [("", ""), (None, None), ("a", "a"), ("old", "old")])
async def test_missing_and_repeated_ids_are_made_unique(
    service: ModelService, model: OpenAICompatible, ids: tuple[Any, Any]
) -> None:
    """Within the reply, and against every id the conversation has."""
    first, second = (piece("{}", index=n, id=id_, name="weather_get") for n, id_ in enumerate(ids))
    service.answers(chat_stream(chat_pieces(*pieces_of(first, second))), GOOD)
    history = [user("你好"), assistant(call("old")), user(result("old"))]

    reply = await model.reply(request(*history))
    made = [one.id for one in reply.message.calls]
    await model.reply(request(*history, reply.message, user(*(result(id_) for id_ in made))))

    assert len({*made, "old"}) == 3
    assert all(made)


async def test_broken_arguments_are_kept_as_written(service: ModelService, model: OpenAICompatible) -> None:
    """They are an answer for the model, found when the call is checked."""
    written = ["", '```json\n{"city": 1}\n```', '{"city": 1} and more', r'"{\"city\": 1}"', "null"]
    deltas = pieces_of(*(piece(text, index=n, id=f"c{n}", name="weather_get") for n, text in enumerate(written)))
    service.answers(chat_stream(chat_pieces(*deltas)), GOOD)

    reply = await model.reply(HELLO)

    assert [one.arguments for one in reply.message.calls] == written


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_is_not_text_and_goes_back_where_it_stood(
    service: ModelService, model: OpenAICompatible, field: str
) -> None:
    deltas: list[dict[str, Any]] = [{field: "先想", "content": None}, {field: "再说", "content": ""}, {"content": "好"}]
    service.answers(chat_stream(chat_pieces(*deltas)), GOOD)
    heard: list[str] = []

    reply = await model.reply(HELLO, heard.append)
    await model.reply(request(*HELLO.messages, reply.message, user("继续")))

    assert heard == ["好"]
    payload = f'{{"{field}":"先想再说"}}'
    assert reply.message.parts == (Opaque("openai", "glm-9", payload), Text("好"))
    assert service.requests[1].body["messages"][2] == {"role": "assistant", "content": "好", field: "先想再说"}


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("deepseek-reasoner", {"reasoning_content": "想"}),
        ("deepseek-v4", {"reasoning_content": "想"}),
        ("deepseek-ai/DeepSeek-R1", {}),
        ("deepseek-r1:32b", {}),
        ("qwen-max", {"reasoning_content": "想"}),
    ],
)
async def test_each_model_gets_its_reasoning_back_as_it_wants(
    service: ModelService, clock: HastyClock, name: str, sent: dict[str, str]
) -> None:
    service.answers(GOOD)
    made = provider(service, clock, name)
    kept = Opaque("openai", name, '{"reasoning_content":"想"}')

    await made.reply(request(user("你好"), assistant(kept, call("a")), user(result("a"))))
    await made.close()

    message = service.requests[0].body["messages"][2]
    assert {key: message[key] for key in message if key.startswith("reasoning")} == sent


async def test_deepseek_gets_the_field_on_every_reply_also_where_it_was_dropped_or_another_model_spoke(
    service: ModelService, clock: HastyClock
) -> None:
    """It refuses words without calls, too, that come back bare in a conversation in which it thought."""
    service.answers(GOOD)
    made = provider(service, clock, "deepseek-reasoner")
    foreign = Opaque("anthropic", "claude-sonnet-5-5", '{"type":"thinking","thinking":"x","signature":"y"}')

    await made.reply(
        request(user("你好"), assistant(foreign, call("a")), user(result("a")), assistant("好"), user("?"))
    )
    await made.close()

    replies = [each for each in service.requests[0].body["messages"] if each["role"] == "assistant"]
    assert [each["reasoning_content"] for each in replies] == ["", ""]


async def test_thinking_in_tags_is_not_heard(service: ModelService, model: OpenAICompatible) -> None:
    service.answers(chat_stream(chat_pieces({"content": "<thi"}, {"content": "nk>想</think>\n\n"}, {"content": "好"})))
    heard: list[str] = []

    reply = await model.reply(HELLO, heard.append)

    assert (reply.message.text, heard) == ("好", ["好"])


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", Stop.END),
        ("length", Stop.CUT),
        ("content_filter", Stop.REFUSAL),
        ("sensitive", Stop.REFUSAL),
        ("model_context_window_exceeded", Stop.WINDOW),
        ("a_reason_of_next_year", Stop.END),
        ("tool_calls", Stop.END),
    ],
)
async def test_every_finish_reason_has_its_meaning(
    service: ModelService, model: OpenAICompatible, finish: str, stop: Stop
) -> None:
    service.answers(chat_stream(chat_pieces({"content": "好"}, finish=finish)))

    assert (await model.reply(HELLO)).stop is stop


async def test_a_refusal_has_words_and_runs_nothing(service: ModelService, model: OpenAICompatible) -> None:
    deltas = [{"refusal": "不行"}, *pieces_of(piece("{}", index=0, id="a", name="weather_get"))]
    service.answers(chat_stream(chat_pieces(*deltas)))

    reply = await model.reply(HELLO)

    assert (reply.message.text, reply.stop) == ("不行", Stop.REFUSAL)
    assert [one.is_cut for one in reply.message.calls] == [True]


async def test_a_call_that_the_limit_cut_never_runs(service: ModelService, model: OpenAICompatible) -> None:
    deltas = pieces_of(
        piece("{}", index=0, id="a", name="weather_get"), piece('{"ci', index=1, id="b", name="weather_get")
    )
    service.answers(chat_stream(chat_pieces(*deltas, finish="length")))

    reply = await model.reply(HELLO)

    assert reply.stop is Stop.CUT
    assert [one.is_cut for one in reply.message.calls] == [False, True]


TEXT = chat_pieces({"content": "一"}, {"content": "二"})
CUTS = {
    "no [DONE]": chat_stream(TEXT, is_done=False),
    "no finish reason": chat_stream(chat_pieces({"content": "一"}, finish=None)),
    "cut inside arguments": chat_stream(
        chat_pieces(*pieces_of(piece('{"ci', index=0, id="a", name="weather_get")))[:2], is_done=False
    ),
    "nothing at all": chat_stream([], is_done=False),
    "reset in the middle": chat_stream(TEXT[:2], is_done=False, end="reset"),
    "silence in the middle": chat_stream(TEXT[:2], is_done=False, end="open"),
    "error in the stream": chat_stream([TEXT[0], {"error": {"message": "overloaded", "type": "server_error"}}]),
    "error in words": chat_stream([{"error": "overloaded"}]),
    "no room (DeepSeek)": chat_stream(chat_pieces({"content": "一"}, finish="insufficient_system_resource")),
    "garbage": Stream((b'data: {"choices": [{"del\n\n',)),
    "not UTF-8": Stream((b"data: \xff\xfe\n\n",)),
    "no object": Stream((b"data: 7\n\n", b"data: [DONE]\n\n")),
    "a page": Page(200, "<html>captive portal</html>"),
    "other JSON": Page(200, '{"ok": true}'),
}


@pytest.mark.parametrize("answer", CUTS.values(), ids=CUTS.keys())
async def test_what_is_no_whole_answer_is_tried_again(
    service: ModelService, model: OpenAICompatible, clock: HastyClock, answer: Page | Stream
) -> None:
    service.answers(answer, GOOD)

    reply = await model.reply(HELLO)

    assert reply.message.text == "你好呀"
    assert clock.pauses  # Once, or again when a busy machine was silent for a second.


async def test_text_that_was_heard_is_never_doubled(service: ModelService, model: OpenAICompatible) -> None:
    service.answers(chat_stream(TEXT, is_done=False), GOOD)
    heard: list[str] = []

    reply = await model.reply(HELLO, heard.append)

    assert (reply.message.text, heard) == ("你好呀", ["一", "二"])
    assert len(service.requests) == 2


async def test_a_half_character_is_held_back_until_it_is_whole(service: ModelService, model: OpenAICompatible) -> None:
    service.answers(chat_stream(chat_pieces({"content": "帽\ud83c"}, {"content": "\udfa9"})))
    heard: list[str] = []

    reply = await model.reply(HELLO, heard.append)

    assert reply.message.text == "".join(heard) == "帽🎩"


async def test_a_stream_that_stays_open_after_its_end_is_not_waited_for(
    service: ModelService, clock: HastyClock
) -> None:
    """Silence would be borne for two minutes."""
    model = OpenAICompatible("m", clock=clock, random=random.Random(1), url=service.url)
    service.answers(chat_stream(TEXT, end="open"))

    async with asyncio.timeout(10):
        assert (await model.reply(HELLO)).message.text == "一二"

    await model.close()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_service_is_tried_six_times(
    service: ModelService, model: OpenAICompatible, clock: HastyClock, status: int
) -> None:
    service.answers(Page(status, "busy", {"retry-after": "2"}))

    with pytest.raises(ProviderFailed) as failed:
        await model.reply(HELLO)

    assert len(service.requests) == 6
    assert failed.value.after == timedelta(seconds=2)
    assert all(pause >= timedelta(seconds=2) for pause in clock.pauses)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 307])
async def test_a_refusal_is_not_tried_again_and_holds_no_key(
    service: ModelService, model: OpenAICompatible, status: int
) -> None:
    body = json.dumps({"error": {"message": f"bad {KEY}\nline", "type": "invalid_request_error"}})
    service.answers(Page(status, body, {"location": f"{service.url}/elsewhere"}))

    with pytest.raises(ProviderRefused) as refused:
        await model.reply(HELLO)

    assert len(service.requests) == 1
    assert KEY not in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("kind", "error"), [("invalid_request_error", ProviderRefused), ("server_error", ProviderFailed)]
)
async def test_an_error_inside_the_stream_is_quoted(
    service: ModelService, model: OpenAICompatible, kind: str, error: type[Exception]
) -> None:
    """Even when the stream then ends as if all were well."""
    event = {"error": {"message": "no such field", "type": kind}}
    service.answers(chat_stream([*TEXT[:2], event, *TEXT[2:]]))

    with pytest.raises(error, match="no such field"):
        await model.reply(HELLO)


async def test_an_empty_purse_is_no_limit_that_passes(service: ModelService, model: OpenAICompatible) -> None:
    service.answers(Page(429, json.dumps({"error": {"message": "quota", "code": "insufficient_quota"}})))

    with pytest.raises(ProviderRefused, match="no credit"):
        await model.reply(HELLO)


async def test_a_model_that_allows_fewer_tokens_answers_within_its_own_limit(
    service: ModelService, model: OpenAICompatible
) -> None:
    refusal = Page(400, json.dumps({"error": {"message": "Invalid max_tokens value, the valid range is [1, 8192]"}}))
    service.answers(refusal, GOOD)

    first = await model.reply(HELLO)
    await model.reply(HELLO)

    assert first.message.text == "你好呀"
    assert ["max_tokens" in one.body for one in service.requests] == [True, False, False]


async def test_a_cancelled_call_lets_go_of_its_stream(service: ModelService, clock: HastyClock) -> None:
    made = OpenAICompatible("m", clock=clock, random=random.Random(1), url=service.url)
    service.answers(chat_stream(TEXT[:2], is_done=False, end="open"))
    running = asyncio.create_task(made.reply(HELLO))
    await service.in_stream.wait()

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(service.left.wait(), 5)
    await made.close()
