from __future__ import annotations

import pytest

from kernel.messages import Message, ModelRequest, Opaque, Role, ToolWords
from kernel.providers.strict import breaches
from tests.twins.conversation import HELLO, TOOLS, assistant, call, request, result, user

THOUGHT = Opaque("anthropic", "m", "{}")


@pytest.mark.parametrize(
    "clean",
    [
        HELLO,
        request(user("一"), user("二"), assistant(THOUGHT, "好"), user("三")),
        request(user("x"), assistant(call("a"), call("b")), user(result("b"), result("a"), "还有")),
        request(user("x"), assistant(call("a")), user(result("a")), user("还有"), assistant("好"), user("y")),
        request(
            user("x"), assistant("查", call("a")), user("等等", result("a")), assistant(call("b")), user(result("b"))
        ),
    ],
)
def test_clean_requests_pass(clean: ModelRequest) -> None:
    assert breaches(clean) == []


@pytest.mark.parametrize(
    ("dirty", "breach"),
    [
        (request(), "there is no message"),
        (request(assistant("好"), user("x")), "the first message is not a user's"),
        (request(user("x"), assistant("好")), "the last message is not a user's"),
        (request(user(" ")), "a text is blank"),
        (request(Message(Role.USER, ())), "a message is empty"),
        (request(user("x"), assistant(call("a")), user("y")), "call a is not answered in the next message"),
        (
            request(user("x"), assistant(call("a")), user("y"), assistant("z"), user(result("a"))),
            "a result answers a, which was not called",
        ),
        (request(user("x", result("a"))), "a result answers a, which was not called"),
        (request(user("x"), assistant(call("a")), user(result("a"), result("a"))), "call a is answered twice"),
        (
            request(user("x"), assistant(call("a"), call("a")), user(result("a"))),
            "call id a is used twice",
        ),
        (
            request(user("x"), assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))),
            "call id a is used twice",
        ),
        (request(user("x"), assistant(call("")), user(result(""))), "a call has no id or no name"),
        (request(user(call("a"))), "a call or an opaque part stands in a user's message"),
        (request(user("x", THOUGHT)), "a call or an opaque part stands in a user's message"),
        (request(user("x"), assistant(result("a")), user("y")), "a result stands in an assistant's message"),
        (request(user("x"), tools=(ToolWords("a", "", "[]"),)), "the schema of a is not an object's"),
        (
            request(user("x"), tools=(ToolWords("a", "", '{"type":"object","oneOf":[]}'),)),
            "the schema of a is a union on top",
        ),
        (
            request(user("x"), tools=(ToolWords("a", "", '{"type":"object","properties":{"城":{}}}'),)),
            "the schema of a has a property that is not ASCII",
        ),
        (
            request(user("x"), tools=(*TOOLS, TOOLS[0])),
            "two tools are named weather.get",
        ),
    ],
)
def test_each_breach_is_named(dirty: ModelRequest, breach: str) -> None:
    assert breach in breaches(dirty)
