"""Arguments are looked up before anything is decided: what was found is shown, bound and run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from kernel.access import Standing
from kernel.errors import ModelError, RetryLater
from kernel.loop import read_reply
from kernel.messages import Concurrency, Json, Message, ModelReply, Role, Stop, ToolCall
from kernel.resolving import NOT_ALLOWED, resolved
from kernel.session import Gate, GateState
from kernel.tools import Approval, Requester, Resolve, ToolRegistry
from tests.twins.sessions import ANN, HERE, after, calling, spoken, turn_of
from tests.twins.tools import Deeds


def tokens() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"token-{next(numbers)}"


async def gates(
    resolve: Resolve | None, arguments: str = '{"text": "小李"}', standing: Standing = Standing.ALLOWED
) -> tuple[Gate, Gate, ToolRegistry]:
    """The gates of a call of `post`, which asks, for people who were let in, and of `look`, after what they stand for
    was looked up for somebody of that standing."""
    post = replace(Deeds().tool("post", approval=Approval.ASK), resolve=resolve, needs=Standing.ALLOWED)
    registry = ToolRegistry([post, Deeds().tool("look", Concurrency.READ_ONLY)])
    calls = (ToolCall("a", "post", arguments), ToolCall("b", "look", '{"text": "x"}'))
    reply, token = ModelReply(Message(Role.ASSISTANT, calls), Stop.TOOLS), tokens()
    turn = turn_of(after(spoken("发"), calling()))
    event = read_reply(turn, 1, reply, registry, token)
    done = await resolved(event, turn, HERE, registry, token, standing)
    assert done.message == event.message
    post_gate, look_gate = done.gates
    return post_gate, look_gate, registry


async def as_found(arguments: Json, *_: object) -> Json:
    return {"text": f"{arguments['text']} #1002"}


async def test_what_was_found_is_what_the_digest_binds_and_what_runs() -> None:
    post, look, registry = await gates(as_found)

    assert json.loads(post.call.arguments) == {"text": "小李 #1002"}
    assert (post.call.id, post.state, post.concurrency) == ("a", GateState.ASKED, Concurrency.EXCLUSIVE)
    assert post.digest == registry.bind(ToolCall("z", "post", '{"text": "小李 #1002"}')).digest
    assert post.token
    assert json.loads(look.call.arguments) == {"text": "x"}


async def test_the_conversation_and_the_requester_are_known_to_it() -> None:
    asked: list[object] = []

    async def remember(arguments: Json, *where: object) -> Json:
        asked.extend(where)
        return arguments

    await gates(remember)

    assert asked == [Requester(ANN, HERE, is_private=False)]


async def test_what_stands_for_nothing_asks_nobody_and_is_an_answer_for_the_model() -> None:
    async def nowhere(*_: object) -> Json:
        raise ModelError("No known chat is called so.")

    post, _, _ = await gates(nowhere)

    assert (post.state, post.token) == (GateState.ANSWERED, "")
    assert post.result is not None
    assert (post.result.call, post.result.text, post.result.is_error) == ("a", "No known chat is called so.", True)


async def test_a_look_up_that_breaks_is_an_error_result_and_one_without_a_store_is_made_again() -> None:
    async def broken(*_: object) -> Json:
        raise ZeroDivisionError

    async def away(*_: object) -> Json:
        raise RetryLater("away", timedelta(seconds=1))

    post, _, _ = await gates(broken)
    assert post.result is not None
    assert post.result.text == "Not run: the tool failed."
    with pytest.raises(RetryLater):
        await gates(away)


async def test_what_does_not_fit_the_schema_before_or_after_is_refused() -> None:
    async def unfit(*_: object) -> Json:
        return {"text": 5}

    for post in ((await gates(unfit))[0], (await gates(as_found, '{"text": 5}'))[0], (await gates(None, "{"))[0]):
        assert post.state is GateState.ANSWERED
        assert post.result is not None
        assert post.result.text.startswith("The arguments")


async def test_what_somebody_was_not_let_in_for_is_not_looked_up_and_nobody_is_asked_about_it() -> None:
    looked_up: list[Json] = []

    async def remember(arguments: Json, *_: object) -> Json:
        looked_up.append(arguments)
        return arguments

    post, look, _ = await gates(remember, standing=Standing.MEMBER)

    assert (post.state, post.token, looked_up) == (GateState.ANSWERED, "", [])
    assert post.result is not None
    assert (post.result.text, post.result.is_error) == (NOT_ALLOWED, True)
    assert look.state is not GateState.ANSWERED
