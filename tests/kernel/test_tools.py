"""Calls are bound to tools by name, their arguments checked before anything runs, their digests bind what runs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.builtin.clarify import ask_clarification
from kernel.errors import BadArguments, ModelError
from kernel.messages import Concurrency, Json, ToolCall, ToolWords
from kernel.session import Reach
from kernel.tools import MAX_RESULT_CHARS, Approval, Opening, Question, Tool, ToolRegistry, capped
from tests.twins.tools import Deeds, opener

POST = Deeds().tool("post", approval=Approval.ASK)
REGISTRY = ToolRegistry([POST, opener("task"), Deeds().tool("look", Concurrency.READ_ONLY)])


def call(arguments: str, name: str = "post") -> ToolCall:
    return ToolCall("c1", name, arguments)


def digest(arguments: str, registry: ToolRegistry = REGISTRY, name: str = "post") -> str:
    return registry.bind(call(arguments, name)).digest


def test_a_call_is_bound_to_its_tool_with_its_policy() -> None:
    bound = REGISTRY.bind(call('{"text": "你好"}'))

    assert bound.tool is POST
    assert bound.arguments == {"text": "你好"}
    assert (bound.concurrency, bound.approval) == (Concurrency.EXCLUSIVE, Approval.ASK)


def test_the_policy_looks_at_the_arguments() -> None:
    def concurrency(arguments: Json) -> Concurrency:
        return Concurrency.READ_ONLY if arguments["text"] == "read" else Concurrency.EXCLUSIVE

    registry = ToolRegistry([replace(POST, concurrency=concurrency)])

    assert registry.bind(call('{"text": "read"}')).concurrency is Concurrency.READ_ONLY
    assert registry.bind(call('{"text": "write"}')).concurrency is Concurrency.EXCLUSIVE


@pytest.mark.parametrize(
    "arguments",
    [
        '{"text": "al',
        "",
        "text",
        "null",
        '["x"]',
        '"x"',
        "{}",
        '{"text": 5}',
        '{"text": "x", "more": 1}',
        "```json\n{}\n```",
        '{"text": ' + "[" * 100_000,
        '{"text": ' + "9" * 10_000 + "}",
    ],
    ids=lambda arguments: arguments[:24],
)
def test_arguments_that_are_no_json_object_or_do_not_fit_are_an_answer_for_the_model(arguments: str) -> None:
    with pytest.raises(BadArguments) as error:
        REGISTRY.bind(call(arguments))

    assert str(error.value).startswith(("The arguments", "Not"))
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_in_json_is_refused_before_the_schema_sees_it(number: str) -> None:
    words = ToolWords("add", "adds", '{"type":"object","properties":{"n":{"type":"number"}}}')
    registry = ToolRegistry([replace(POST, words=words)])

    assert registry.bind(call('{"n": 1e3}', "add")).arguments == {"n": 1000.0}
    with pytest.raises(BadArguments):
        registry.bind(call(f'{{"n": {number}}}', "add"))


def test_no_arguments_are_an_empty_object() -> None:
    words = ToolWords("now", "the time", '{"type":"object","properties":{}}')
    registry = ToolRegistry([replace(POST, words=words)])

    assert registry.bind(call("", "now")).arguments == {}


def test_a_tool_that_does_not_exist_is_an_answer_for_the_model() -> None:
    with pytest.raises(ModelError, match="no tool named 'nothing'"):
        REGISTRY.bind(call("{}", "nothing"))


def test_the_digest_does_not_depend_on_spelling_or_order() -> None:
    pair = '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}'
    registry = ToolRegistry([replace(POST, words=ToolWords("post", "posts", pair))])

    assert digest('{"a":"1","b":"é"}', registry) == digest('{ "b": "\\u00e9",\n "a": "1" }', registry)


def test_the_digest_changes_with_the_arguments_the_tool_and_its_schema() -> None:
    other_schema = replace(POST.words, schema=POST.words.schema.replace('"text":{', '"text":{"maxLength":9,'))
    twins = ToolRegistry([POST, replace(POST, words=replace(POST.words, name="posts"))])

    digests = {
        digest('{"text": "A"}'),
        digest('{"text": "B"}'),
        digest('{"text": "A"}', ToolRegistry([replace(POST, words=other_schema)])),
        digest('{"text": "A"}', twins, "posts"),
    }

    assert len(digests) == 4


def test_half_of_a_surrogate_pair_has_a_digest() -> None:
    assert digest('{"text": "\\ud83c"}') != digest('{"text": "\\ud83d"}')


def test_the_model_is_told_of_tools_in_the_order_given_so_that_a_new_one_changes_no_beginning() -> None:
    tools = [Deeds().tool(name) for name in ("write", "look", "a-new-one")]

    before, after = ToolRegistry(tools[:2]).words, ToolRegistry(tools).words

    assert [words.name for words in after] == ["write", "look", "a-new-one"]
    assert after[:2] == before


def test_only_a_tool_that_opens_a_frame_has_opening_words() -> None:
    assert REGISTRY.opening(call('{"text": "数一数"}', "task")) == Opening("数一数", Reach.ALL)
    assert REGISTRY.opening(call('{"text": "x"}')) is None
    assert REGISTRY.opening(call("{}", "nothing")) is None


# --- a registry that may only look -------------------------------------------------------------------------------


def either(arguments: Json) -> Concurrency:
    return Concurrency.READ_ONLY if arguments["text"] == "read" else Concurrency.EXCLUSIVE


def mild(arguments: Json) -> Concurrency:
    return Concurrency.EXCLUSIVE if arguments.get("text") == "write" else Concurrency.READ_ONLY


LOOKING = ToolRegistry(
    [
        POST,
        Deeds().tool("look", Concurrency.READ_ONLY),
        Deeds().tool("spy", Concurrency.READ_ONLY, Approval.ASK),
        Deeds().tool("talk", Concurrency.INTERACTIVE),
        replace(Deeds().tool("either"), concurrency=either),
        replace(Deeds().tool("mild"), concurrency=mild),
    ]
).within(Reach.LOOK)


def test_looking_offers_only_tools_that_surely_can_change_nothing() -> None:
    assert LOOKING.names == {"look", "spy", "mild"}
    assert {words.name for words in LOOKING.words} == LOOKING.names


def test_a_call_outside_of_looking_is_an_answer_for_the_model() -> None:
    assert LOOKING.bind(call('{"text": "read"}', "mild")).concurrency is Concurrency.READ_ONLY
    for outside in (call('{"text": "write"}', "mild"), call('{"text": "read"}', "either"), call('{"text": "x"}')):
        with pytest.raises(ModelError, match=r"may only look|no tool named"):
            LOOKING.bind(outside)


def test_what_only_looks_asks_as_ever_and_has_the_same_digest() -> None:
    asking = call('{"text": "x"}', "spy")

    assert LOOKING.bind(asking).approval is Approval.ASK
    assert LOOKING.bind(asking).digest == ToolRegistry([LOOKING.bind(asking).tool]).bind(asking).digest


def test_nothing_inside_gets_more_than_what_is_around_it() -> None:
    assert REGISTRY.within(Reach.ALL) is REGISTRY
    assert LOOKING.within(Reach.ALL) is LOOKING.within(Reach.LOOK) is LOOKING


# --- no arguments ------------------------------------------------------------------------------------------------

HEARS = ToolRegistry([replace(POST, obvious="text")])


@pytest.mark.parametrize("empty", ["", "{}", "  ", "{ }", "\n{\n}\n"])
def test_a_call_without_arguments_takes_the_persons_words_where_they_are_obvious(empty: str) -> None:
    completed = HEARS.completed(call(empty), '他说 "好"\n明天')

    assert HEARS.bind(completed).arguments == {"text": '他说 "好"\n明天'}
    assert (completed.id, completed.name) == ("c1", "post")


@pytest.mark.parametrize(
    "given",
    [
        "null",
        "[]",
        '""',
        '"{}"',
        "```json\n{}\n```",
        '```json\n{"text": "x"}\n```',
        '"{\\"text\\": \\"x\\"}"',
        '{"text": "x"} and so on',
        '{"text": ""} {}',
        "{",
        "text",
    ],
    ids=lambda given: given[:20],
)
def test_all_other_arguments_that_are_none_stay_what_they_are_and_are_answers_for_the_model(given: str) -> None:
    assert HEARS.completed(call(given), "明天") == call(given)
    with pytest.raises(BadArguments) as error:
        HEARS.bind(call(given))
    assert str(error.value).startswith("The arguments")


def test_nothing_is_taken_where_nothing_is_obvious_or_nobody_said_a_word() -> None:
    assert REGISTRY.completed(call("{}"), "明天") == call("{}")
    assert REGISTRY.completed(call("{}", "nothing"), "明天") == call("{}", "nothing")
    assert HEARS.completed(call("{}"), "") == call("{}")
    assert HEARS.completed(call('{"text": "他的"}'), "明天") == call('{"text": "他的"}')


def test_a_tool_either_runs_or_opens_a_frame() -> None:
    for run, opens in ((POST.run, opener("x").opens), (None, None)):
        with pytest.raises(ValueError, match="either runs, or opens a frame, or asks"):
            Tool(
                words=POST.words,
                concurrency=POST.concurrency,
                approval=POST.approval,
                timeout=timedelta(seconds=1),
                describe=POST.describe,
                run=run,
                opens=opens,
            )


def test_a_long_result_keeps_its_two_ends_and_says_what_is_missing() -> None:
    text = "a" * MAX_RESULT_CHARS + "b" * 3_000_000

    short = capped(text)

    assert len(short) < MAX_RESULT_CHARS + 100
    assert short.startswith("a" * 10_000)
    assert short.endswith("b" * 10_000)
    assert "[… 3000000 characters left out …]" in short
    assert capped("x" * MAX_RESULT_CHARS) == "x" * MAX_RESULT_CHARS


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        (" ", []),
        ("\u200b", []),
        ("哪个？", ["3 病区", " "]),
        ("哪个？", ["\u2060"]),
        ("[Written by the program: tools are closed now.]", []),
        ("I'll use read_page now.", []),
    ],
)
def test_a_question_that_a_person_would_see_nothing_of_is_an_answer_for_the_model(
    question: str, choices: list[str]
) -> None:
    registry = ToolRegistry([ask_clarification(), Deeds().tool("read_page")])
    asked = call(json.dumps({"question": question, "choices": choices}), "ask_clarification")

    with pytest.raises(BadArguments):
        registry.bind(asked)
    assert registry.question(asked) is None


def test_a_question_is_put_without_narration_and_each_choice_once_in_one_line() -> None:
    registry = ToolRegistry([ask_clarification(), Deeds().tool("read_page")])
    arguments = {"question": "I'll use read_page.\n哪个？", "choices": ["3\n病区", "3 病区", "5 病区"]}
    asked = call(json.dumps(arguments), "ask_clarification")

    assert registry.question(asked) == Question("哪个？", ("3 病区", "5 病区"))
