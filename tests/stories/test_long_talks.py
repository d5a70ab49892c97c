"""Talks that grow longer than a model reads: nothing important is forgotten, and nobody waits for the summary."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import ModelRequest
from kernel.providers.scripted import Answer, Gate, Held
from tests.twins.world import RULES, World, world

MOST = 30


def is_summary(request: ModelRequest) -> bool:
    return request.system.startswith("You write the summary")


def answers(here: World, summary: Answer) -> None:
    """The model answers by number, and writes `summary` when it is asked for one."""
    here.model.when(".", lambda request: summary if is_summary(request) else f"答：{_newest(request)}")


def _newest(request: ModelRequest) -> str:
    return request.messages[-1].text.splitlines()[-1]


async def talks(here: World, turns: range) -> None:
    for number in turns:
        here.platform.says(f"第 {number} 句")
        await here.platform.sees(f"答：第 {number} 句", after=len(here.platform.shown))


def asked(here: World) -> list[ModelRequest]:
    return [request for request in here.model.requests if not is_summary(request)]


async def test_what_was_called_important_at_the_third_turn_is_known_at_the_two_hundredth() -> None:
    async with world(rules=replace(RULES, most_past=MOST)) as here:
        answers(here, "他们在聊天。")
        await talks(here, range(1, 3))
        here.platform.says("记住：3 床对青霉素过敏")
        await here.platform.sees("答：记住")

        await talks(here, range(4, 201))

        last = asked(here)[-1]
        assert any("记住：3 床对青霉素过敏" in message.text for message in last.messages)
        assert any("他们在聊天。" in message.text for message in last.messages)
        assert len(last.messages) <= MOST
        assert any("第 190 句" in message.text for message in last.messages)
        assert here.model.refusals == []
        assert len(here.platform.shown) == 200


async def test_who_speaks_while_a_summary_is_written_is_answered_at_once_and_it_is_written_later() -> None:
    async with world(rules=replace(RULES, most_past=MOST)) as here:
        gate = Gate()
        answers(here, Held("总结", gate))
        await talks(here, range(MOST // 2))
        await gate.reached()

        await talks(here, range(100, 101))

        assert all("总结" not in message.text for message in asked(here)[-1].messages)
        gate.open()
        await gate.reached(2)
        await talks(here, range(101, 103))
        assert any("总结" in message.text for message in asked(here)[-1].messages)


async def test_a_summary_that_fails_or_is_refused_harms_nothing() -> None:
    for error in (ProviderFailed("overloaded"), ProviderRefused("no"), ""):
        async with world(rules=replace(RULES, most_past=MOST)) as here:
            answers(here, error)

            await talks(here, range(MOST))

            assert len(here.platform.shown) == MOST
            assert len(asked(here)[-1].messages) > MOST // 2


async def test_a_power_cut_in_the_middle_of_a_summary_harms_nothing() -> None:
    async with world(rules=replace(RULES, most_past=MOST)) as here:
        gate = Gate()
        answers(here, Held("总结", gate))
        await talks(here, range(MOST // 2))
        await gate.reached()

        await here.restart(after=timedelta(seconds=16))
        gate.open()
        await talks(here, range(100, 103))

        assert any("总结" in message.text for message in asked(here)[-1].messages)
        assert len(here.platform.shown) == MOST // 2 + 3
