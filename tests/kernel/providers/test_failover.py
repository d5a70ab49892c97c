from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from structlog.testing import capture_logs

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import Message, ModelRequest, Opaque
from kernel.providers.failover import FIRST_REST, LONGEST_REST, OF_ALL, Failover, loop_maker
from kernel.providers.scripted import Answer, Gate, Held, Scripted
from kernel.providers.status import Service
from kernel.providers.tries import Patience
from tests.twins.conversation import HELLO, assistant, call, request, result, user
from tests.twins.hasty import HastyClock

AWAY = ProviderFailed("overloaded")
NO_KEY = Service("api.example.com", "a", "OPENAI_API_KEY", "OPENAI_BASE_URL").error(401)
MALFORMED = Service("api.example.com", "a", "OPENAI_API_KEY", "OPENAI_BASE_URL").error(400, "no such field")
SECOND = timedelta(seconds=1)


class World:
    """Two models, the first of which is wanted."""

    def __init__(self, clock: HastyClock, first: tuple[Answer, ...] = ("first",), patience: Patience = OF_ALL) -> None:
        self.clock = clock
        self.first = Scripted(*first, name="openai:a")
        self.second = Scripted(name="openai:b")
        self.first.when(".", "first")
        self.second.when(".", "second")
        self.model = Failover([self.first, self.second], clock=clock, random=random.Random(3), patience=patience)

    async def ask(self, asked: ModelRequest = HELLO) -> str:
        return (await self.model.reply(asked)).message.text


def thought(by: str) -> Opaque:
    return Opaque("openai", by, '{"reasoning_content":"…"}')


def in_loop(*parts: Opaque) -> ModelRequest:
    return request(user("查"), assistant(*parts, call("c1")), user(result("c1"), "快点"))


async def test_the_first_answers_while_it_works(clock: HastyClock) -> None:
    world = World(clock)

    assert [await world.ask() for _ in range(3)] == ["first"] * 3
    assert world.model.name == "openai:a"
    assert world.second.requests == []


async def test_the_next_answers_at_once_when_the_first_is_away(clock: HastyClock) -> None:
    world = World(clock, (AWAY,))

    assert await world.ask() == "second"
    assert clock.pauses == []


async def test_a_model_that_failed_rests_and_is_wanted_again(clock: HastyClock) -> None:
    world = World(clock, (AWAY,))
    await world.ask()

    clock.jump(FIRST_REST - SECOND)
    resting = await world.ask()
    clock.jump(2 * SECOND)
    rested = await world.ask()

    assert (resting, rested) == ("second", "first")
    assert len(world.first.requests) == 2


async def test_rests_double_up_to_a_bound(clock: HastyClock) -> None:
    world = World(clock, (AWAY,) * 9)
    asked: list[float] = []
    start = clock.now()

    for _ in range(4000):
        before = len(world.first.requests)
        await world.ask()
        if len(world.first.requests) > before:
            asked.append((clock.now() - start).total_seconds())
        clock.jump(SECOND)

    gaps = [round(later - earlier) for earlier, later in pairwise(asked[:9])]
    assert gaps == [30, 60, 120, 240, 480, 600, 600, 600]
    assert gaps[-1] == LONGEST_REST.total_seconds()


async def test_a_service_that_asks_for_a_long_pause_gets_it(clock: HastyClock) -> None:
    world = World(clock, (ProviderFailed("slow down", timedelta(seconds=300)),))
    await world.ask()

    clock.jump(timedelta(seconds=299))
    assert await world.ask() == "second"
    clock.jump(2 * SECOND)
    assert await world.ask() == "first"


async def test_one_call_finds_out_whether_it_is_back(clock: HastyClock) -> None:
    gate = Gate()
    world = World(clock, (AWAY, Held("first", gate)))
    await world.ask()
    clock.jump(FIRST_REST)

    probe = asyncio.create_task(world.ask())
    await gate.reached()
    beside = [await world.ask() for _ in range(5)]
    gate.open()

    assert beside == ["second"] * 5
    assert await probe == "first"
    assert await world.ask() == "first"


async def test_a_probe_that_is_cancelled_leaves_the_way_free(clock: HastyClock) -> None:
    gate = Gate()
    world = World(clock, (AWAY, Held("first", gate)))
    await world.ask()
    clock.jump(FIRST_REST)
    probe = asyncio.create_task(world.ask())
    await gate.reached()

    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe

    assert await world.ask() == "first"


async def test_a_loop_stays_with_the_model_that_thinks_in_it(clock: HastyClock) -> None:
    """The first has recovered, but the second is in the middle of something."""
    world = World(clock, (AWAY,))
    await world.ask()
    clock.jump(timedelta(hours=1))

    assert await world.ask(in_loop(thought("b"))) == "second"
    assert await world.ask() == "first"


async def test_a_loop_goes_over_when_its_model_is_away(clock: HastyClock) -> None:
    world = World(clock)
    world.second.then(AWAY)

    assert await world.ask(in_loop(thought("b"))) == "first"


@pytest.mark.parametrize(
    ("messages", "maker"),
    [
        ((user("一"),), ""),
        ((user("一"), assistant(thought("b"), "二"), user("三")), ""),
        ((user("一"), assistant(thought("b"), call("c")), user(result("c"))), "openai:b"),
        ((user("一"), assistant(thought("b"), call("c")), user(result("c"), "词")), "openai:b"),
        ((user("一"), assistant(thought("b"), call("c")), user(result("c")), user("新")), ""),
        (
            (
                user("一"),
                assistant(thought("b"), call("c")),
                user(result("c")),
                assistant(call("d")),
                user(result("d")),
            ),
            "openai:b",
        ),
        ((user("一"), assistant(call("c")), user(result("c"))), ""),
    ],
)
def test_a_loop_belongs_to_who_thinks_in_it(messages: tuple[Message, ...], maker: str) -> None:
    assert loop_maker(request(*messages)) == maker


async def test_who_rests_is_asked_after_all_when_the_others_fail(clock: HastyClock) -> None:
    world = World(clock, (AWAY,))
    await world.ask()
    world.second.then(AWAY)

    assert await world.ask() == "first"
    assert clock.pauses == []


async def test_a_reply_says_whose_it_is(clock: HastyClock) -> None:
    world = World(clock, (AWAY,))

    assert [(await world.model.reply(HELLO)).by for _ in range(2)] == ["openai:b"] * 2


async def test_after_words_were_heard_another_model_goes_on_and_is_not_heard(clock: HastyClock) -> None:
    world = World(clock, (Held(AWAY, open_gate(), said="half a sen"),))
    heard: list[str] = []

    reply = await world.model.reply(HELLO, heard.append)

    assert "".join(heard) == "half a sen"
    assert reply.by == "openai:b"


async def test_without_a_listener_the_next_answers_after_half_a_reply(clock: HastyClock) -> None:
    world = World(clock, (Held(AWAY, open_gate(), said="half a sen"),))

    assert await world.ask() == "second"


async def test_a_key_that_is_refused_fails_over_and_is_not_tried_again_soon(clock: HastyClock) -> None:
    world = World(clock, (NO_KEY, NO_KEY))

    for _ in range(5):
        assert await world.ask() == "second"
        clock.jump(timedelta(minutes=1))

    assert len(world.first.requests) == 1


async def test_a_request_that_is_refused_rests_nobody(clock: HastyClock) -> None:
    world = World(clock, (MALFORMED,))

    assert await world.ask() == "second"
    assert await world.ask() == "first"


async def test_when_all_refuse_the_operator_reads_the_first(clock: HastyClock) -> None:
    world = World(clock, (NO_KEY,))
    world.second.then(MALFORMED)

    with pytest.raises(ProviderRefused, match="OPENAI_API_KEY"):
        await world.ask()

    assert clock.pauses == []


async def test_when_all_are_away_they_are_asked_again_and_nobody_twice_who_refused(clock: HastyClock) -> None:
    world = World(clock, (MALFORMED,))
    world.second.then(AWAY, AWAY)

    assert await world.ask() == "second"
    assert (len(world.first.requests), len(world.second.requests)) == (1, 3)
    assert sum(clock.pauses, timedelta()) >= timedelta(seconds=120)


async def test_when_all_stay_away_that_is_said(clock: HastyClock) -> None:
    world = World(clock, (AWAY,) * 9)
    world.second.then(*(AWAY,) * 9)

    with pytest.raises(ProviderFailed, match="overloaded"):
        await world.ask()

    assert (len(world.first.requests), len(world.second.requests)) == (3, 3)


async def test_the_operator_reads_who_rests_who_answers_and_who_is_back(clock: HastyClock) -> None:
    world = World(clock, (AWAY,))

    with capture_logs() as logs:
        await world.ask()
        await world.ask()
        clock.jump(FIRST_REST)
        await world.ask()

    assert [(line["event"], line["provider"]) for line in logs] == [
        ("model rests", "openai:a"),
        ("another model answers", "openai:b"),
        ("model is back", "openai:a"),
        ("another model answers", "openai:a"),
    ]


async def test_all_are_closed(clock: HastyClock) -> None:
    world = World(clock)

    await world.model.close()

    assert world.first.is_closed
    assert world.second.is_closed


def open_gate() -> Gate:
    gate = Gate()
    gate.open()
    return gate


async def test_the_model_that_a_conversation_wants_is_asked_first_and_the_others_stand_in(clock: HastyClock) -> None:
    world = World(clock)
    wants = replace(HELLO, wanted="openai:b")

    assert await world.ask(wants) == "second"
    assert await world.ask() == "first"
    world.second.then(AWAY)
    assert await world.ask(wants) == "first"


async def test_a_wanted_model_that_is_none_of_them_changes_nothing(clock: HastyClock) -> None:
    assert await World(clock).ask(replace(HELLO, wanted="openai:z")) == "first"


async def test_an_open_loop_stays_with_its_thinker_whatever_is_wanted(clock: HastyClock) -> None:
    world = World(clock)

    assert await world.ask(replace(in_loop(thought("b")), wanted="openai:a")) == "second"


async def test_it_tells_its_models_and_which_one_would_be_asked(clock: HastyClock) -> None:
    world = World(clock, (AWAY,))
    assert world.model.models == ("openai:a", "openai:b")
    assert (world.model.answering(), world.model.answering("openai:b")) == ("openai:a", "openai:b")

    await world.ask()

    assert world.model.answering() == "openai:b"
