"""A frame that goes round in circles is seen; one that gets on is not."""

from __future__ import annotations

import pytest

from kernel.guards import is_circling
from kernel.messages import Message, Role, Text, ToolCall, ToolResult
from kernel.session import Frame

Round = tuple[str, str, str, bool]
"""Tool, arguments, what came of it, whether that is an error."""


def frame(*rounds: Round) -> Frame:
    messages = [Message(Role.USER, (Text("查一下"),))]
    for number, (name, arguments, text, is_error) in enumerate(rounds):
        messages.append(Message(Role.ASSISTANT, (ToolCall(f"c{number}", name, arguments),)))
        messages.append(Message(Role.USER, (ToolResult(f"c{number}", text, is_error),)))
    return Frame(tuple(messages))


def test_the_same_failure_three_times_is_a_circle_whatever_was_asked() -> None:
    failures = [("fetch", f'{{"url": "{number}"}}', "no such host", True) for number in range(3)]

    assert not is_circling(frame(*failures[:2]))
    assert is_circling(frame(*failures))


def test_the_same_answer_to_the_same_call_three_times_is_a_circle() -> None:
    same = ("look", '{"a": 1, "b": [2]}', "nothing new", False)

    assert not is_circling(frame(same, same))
    assert is_circling(frame(("other", "{}", "x", False), same, same, same))


def test_white_space_and_the_order_of_names_make_no_difference() -> None:
    assert is_circling(
        frame(
            ("look", '{"a": "x y", "b": 2}', "same", False),
            ("look", '{ "b":2,\n"a" : "x  y" }', "same", False),
            ("look", '{"a": "xy", "b": 2}', "same", False),
        )
    )
    assert is_circling(frame(*[("look", spelled, "same", False) for spelled in ("{broken", "{ broken", "{broken ")]))


@pytest.mark.parametrize(
    "last",
    [
        ("look", '{"a": 2}', "same", False),
        ("look", '{"a": 1}', "something new", False),
        ("see", '{"a": 1}', "same", False),
    ],
)
def test_another_tool_other_arguments_or_another_answer_gets_on(last: Round) -> None:
    same = ("look", '{"a": 1}', "same", False)

    assert not is_circling(frame(same, same, last))


def test_another_failure_in_between_gets_on() -> None:
    assert not is_circling(
        frame(("f", "{}", "no host", True), ("f", '{"x": 1}', "refused", True), ("f", '{"x": 2}', "no host", True))
    )


def test_an_answer_that_is_said_as_a_failure_elsewhere_is_not_the_same_failure() -> None:
    assert not is_circling(
        frame(("f", '{"x": 1}', "same", True), ("f", '{"x": 2}', "same", True), ("f", '{"x": 3}', "same", False))
    )
