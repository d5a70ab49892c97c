from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.messages import Image, Message, ModelRequest, Opaque, Part
from kernel.providers.anthropic_request import request_body as claude_body
from kernel.providers.chat_manners import Manners as ChatManners
from kernel.providers.chat_manners import learn as learn_chat
from kernel.providers.chat_manners import manners_of as chat_manners_of
from kernel.providers.claude_manners import Manners as ClaudeManners
from kernel.providers.claude_manners import learn as learn_claude
from kernel.providers.openai_request import request_body as chat_body
from kernel.providers.status import Refusal
from kernel.providers.turns import Maker, arguments_object, to_bytes, wire_turns
from tests.twins.conversation import TOOLS, assistant, call, request, result, user
from tests.twins.strict_requests import anthropic_breach, openai_breach

CLAUDE = Maker("anthropic", "claude-sonnet-5-5")
OTHER = Maker("openai", "deepseek-reasoner")
THOUGHT = Opaque("anthropic", "claude-sonnet-5-5", '{"type":"thinking","thinking":"","signature":"c2ln"}')


def test_neighbours_of_one_role_become_one_message() -> None:
    turns = wire_turns([user("一"), user("二"), assistant("三"), assistant("四"), user("五")], CLAUDE)

    assert turns == [user("一", "二"), assistant("三", "四"), user("五")]


def test_results_stand_first_and_keep_their_order() -> None:
    turns = wire_turns([user("等等"), user(result("b"), "还有", result("a"))], CLAUDE)

    assert turns == [user(result("b"), result("a"), "等等", "还有")]


def test_blank_words_never_go_out() -> None:
    turns = wire_turns([user("", " \n\t"), user("你好"), assistant(" "), user("在吗"), user(result("a", " "))], CLAUDE)

    assert turns == [user(result("a", "(empty)"), "你好", "在吗")]


def test_opaque_parts_go_only_to_the_model_that_made_them() -> None:
    history = [user("一"), assistant(THOUGHT, "二"), user("三"), assistant(THOUGHT), user("四")]

    assert wire_turns(history, CLAUDE) == [user("一"), assistant(THOUGHT, "二"), user("三", "四")]
    for other in (OTHER, Maker("anthropic", "claude-opus-5-5"), Maker("openai", "claude-sonnet-5-5")):
        assert wire_turns(history, other) == [user("一"), assistant("二"), user("三", "四")]


ANOTHERS = Opaque("anthropic", "claude-opus-5-5", '{"type":"thinking","thinking":"","signature":"c2ln"}')
CLOSED = assistant("(I was interrupted here.)")


def closed(*messages: Message) -> list[Message]:
    return wire_turns(messages, CLAUDE, closes_loops=True)


def test_a_loop_that_another_model_thought_in_is_closed() -> None:
    loop = [user("一"), assistant(ANOTHERS, call("a")), user(result("a"))]

    assert closed(*loop) == [user("一"), assistant(call("a")), user(result("a")), CLOSED, user("Go on.")]


def test_a_closed_loop_stays_closed_before_thinking_that_is_bound_to_it() -> None:
    loop = [user("一"), assistant(ANOTHERS, call("a")), user(result("a"))]

    assert closed(*loop, assistant(THOUGHT, "好"), user("二"))[:5] == closed(*loop)
    assert CLOSED not in closed(*loop, assistant("好"), user("二"))


def test_a_loop_with_its_own_thinking_goes_on_as_it_is() -> None:
    loop = [user("一"), assistant(THOUGHT, call("a")), user(result("a")), user("新的话")]

    assert closed(*loop) == [*loop[:2], user(result("a"), "新的话")]


def test_words_behind_a_loop_that_was_broken_off_begin_anew() -> None:
    """The thinking went with the tool list it was bound to."""
    broken = [user("一"), assistant(call("a")), user(result("a")), user("新的话")]

    assert closed(*broken) == [*broken[:3], CLOSED, user("新的话")]


def test_words_that_came_with_the_results_close_nothing() -> None:
    loop = [user("一"), assistant(call("a")), user(result("a"), "快点")]

    assert closed(*loop) == loop


def test_ids_that_services_use_again_are_told_apart() -> None:
    """A turn that waited for a person comes to stand behind one that began later."""
    history = [user("一"), assistant(call("f:0")), user(result("f:0")), user("二"), assistant(call("f:0"), call("x"))]
    history += [user(result("f:0", "雨"), result("x")), assistant(call("f:0")), user(result("f:0"))]

    turns = wire_turns(history, OTHER)

    assert [[one.id for one in turn.calls] for turn in turns if turn.calls] == [["f:0"], ["f:0-2", "x"], ["f:0-3"]]
    assert turns[4] == user(result("f:0-2", "雨"), result("x"))


def test_a_picture_is_a_marker() -> None:
    assert wire_turns([user(Image("b1", "image/png"))], CLAUDE) == [user("[a picture that cannot be shown here]")]


PICTURE = Image("b1", "image/png")
SHOWN = ModelRequest("Be kind.", (user(PICTURE, Image("b2", "image/png"), "这是什么"),), pictures={"b1": b"png"})
MARKER = {"type": "text", "text": "[a picture that cannot be shown here]"}


def test_claude_sees_the_pictures_whose_bytes_are_there() -> None:
    (message,) = claude_body(SHOWN, CLAUDE)["messages"]

    assert message["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
        MARKER,
        {"type": "text", "text": "这是什么", "cache_control": {"type": "ephemeral"}},
    ]


def test_a_chat_model_that_looks_sees_them_and_another_reads_markers() -> None:
    seeing = chat_body(SHOWN, Maker("openai", "gpt-5"))["messages"][-1]
    blind = chat_body(SHOWN, OTHER)["messages"][-1]

    assert seeing["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        MARKER,
        {"type": "text", "text": "这是什么"},
    ]
    assert blind["content"] == f"{MARKER['text']}\n{MARKER['text']}\n这是什么"


def test_a_prompt_for_want_of_a_system_role_stands_before_a_picture() -> None:
    manners = ChatManners(has_system=False, shows_pictures=True)

    (message,) = chat_body(SHOWN, OTHER, manners)["messages"]

    assert message["content"][0] == {"type": "text", "text": "Be kind."}
    assert message["content"][1]["type"] == "image_url"


def test_a_service_of_others_that_takes_no_pictures_reads_markers() -> None:
    (message,) = claude_body(SHOWN, CLAUDE, ClaudeManners(shows_pictures=False))["messages"]

    assert [block["type"] for block in message["content"]] == ["text"] * 3


@pytest.mark.parametrize(
    ("model", "looks"),
    [
        *(
            ("gpt-4o-mini", True),
            ("gpt-5", True),
            ("o3", True),
            ("o4-mini", True),
            ("qwen3-vl-plus", True),
            ("qwen2.5-vl:7b", True),
        ),
        *(("glm-4.5v", True), ("gemini-2.5-pro", True), ("pixtral-12b", True), ("anthropic/claude-opus-5-5", True)),
        *(
            ("deepseek-chat", False),
            ("glm-4.6", False),
            ("qwen3-max", False),
            ("kimi-k2", False),
            ("llama3", False),
            ("o3-mini", False),
        ),
    ],
)
def test_which_models_look_at_pictures(model: str, looks: bool) -> None:
    assert chat_manners_of(model).shows_pictures is looks


def test_services_that_refuse_pictures_are_not_sent_any_again() -> None:
    unsupported = Refusal("x", 400, "messages[1]: unknown variant `image_url`, expected `text`")
    damaged = Refusal("x", 400, "messages.0.content.0.image.source.base64: Could not process image")

    assert learn_chat(ChatManners(shows_pictures=True), unsupported) == ChatManners(shows_pictures=False)
    assert learn_claude(ClaudeManners(), Refusal("x", 400, "image blocks are not supported"), 9) == ClaudeManners(
        shows_pictures=False
    )
    assert learn_claude(ClaudeManners(), damaged, 9) is None


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "{",
        "null",
        "[1]",
        '"x"',
        "```json\n{}\n```",
        "{} x",
        '{"a": NaN}',
        '{"a": 1e999}',
        "[" * 100_000,
        "9" * 5000,
    ],
)
def test_arguments_that_are_no_object_are_an_empty_one(broken: str) -> None:
    assert arguments_object(broken) == {}


def test_half_a_character_in_arguments_does_not_stop_the_request() -> None:
    body = to_bytes({"text": json.loads(r'"\ud83d"'), "pair": "\ud83c\udfa9"})

    assert json.loads(body.decode()) == {"text": "\ufffd", "pair": "🎩"}


HEARD: st.SearchStrategy[Part | str] = st.sampled_from(["你好", " ", "", "再说"])
SAID: st.SearchStrategy[Part | str] = st.sampled_from(
    ["好", "", "  ", THOUGHT, Opaque("openai", "x", '{"reasoning":"r"}')]
)


@st.composite
def histories(draw: st.DrawFn) -> ModelRequest:
    """Pair-clean in our sense, otherwise anything: blanks, splits, results after words, odd names and ids."""
    messages: list[Message] = [user("开始")]
    for number in range(draw(st.integers(0, 5))):
        names = draw(st.lists(st.sampled_from(["a.b", "a_b", "a__b", "查", "", "x" * 70]), max_size=3))
        ids = [f"{draw(st.sampled_from(['toolu_', 'functions.f:', 'id ']))}{number}{k}" for k in range(len(names))]
        said: list[Part | str] = draw(st.lists(SAID, max_size=3))
        arguments = draw(st.sampled_from(['{"a": 1}', "", "{", "[]"]))
        calls = [call(id_, name, arguments) for id_, name in zip(ids, names, strict=True)]
        said.sort(key=lambda part: not isinstance(part, Opaque))  # No service begins with words and thinks then.
        messages.append(assistant(*said, *calls))
        heard: list[Part | str] = [*draw(st.lists(HEARD, max_size=3)), "嗯"]
        answers = [result(id_, draw(st.sampled_from(["晴", ""])), is_error=draw(st.booleans())) for id_ in ids]
        messages.extend(draw(st.permutations([user(*heard), user(*answers)])) if answers else [user(*heard)])
    return request(*messages, system=draw(st.sampled_from(["s", " "])), tools=draw(st.sampled_from([TOOLS, ()])))


@given(histories())
def test_no_history_is_refused_in_either_dialect(asked: ModelRequest) -> None:
    for maker in (CLAUDE, Maker("anthropic", "other")):
        assert anthropic_breach(claude_body(asked, maker)) is None
    for model in ("deepseek-reasoner", "deepseek-r1", "x"):
        assert openai_breach(chat_body(asked, Maker("openai", model))) is None


@given(histories())
def test_equal_requests_are_equal_bytes(asked: ModelRequest) -> None:
    again = ModelRequest(
        asked.system, tuple(Message(one.role, tuple(one.parts)) for one in asked.messages), asked.tools
    )

    assert to_bytes(claude_body(asked, CLAUDE)) == to_bytes(claude_body(again, CLAUDE))
    assert to_bytes(chat_body(asked, OTHER)) == to_bytes(chat_body(again, OTHER))
