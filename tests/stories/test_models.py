"""An owner chooses the model that answers in one chat; everybody sees which it is."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from kernel.access import Access
from kernel.providers.failover import Failover
from kernel.providers.scripted import Scripted
from kernel.settings import PlatformId
from tests.twins.world import LET_IN, RULES, World, world

OWNED = replace(RULES, access=Access(allow=LET_IN.allow, owners=frozenset({PlatformId("twin", "1001")})))


@asynccontextmanager
async def two_models() -> AsyncIterator[World]:
    """An installation that 1001 owns, with two models that say which they are."""
    async with world(rules=OWNED) as here:
        models = [Scripted(name=name) for name in ("openai:first", "openai:second")]
        for model in models:
            model.when(".", f"我是 {model.name}")
        here.provider = Failover(models, clock=here.clock, random=random.Random(1))
        await here.restart()
        yield here


async def test_the_chosen_model_answers_here_and_nowhere_else_also_after_a_power_cut_and_new() -> None:
    async with two_models() as here:
        here.platform.says("/model second")
        await here.platform.sees("好，这里先用 openai:second")
        here.platform.says("你好")
        await here.platform.sees("我是 openai:second")
        here.platform.says("你好", chat="2", person="1002", name="小李")
        await here.platform.sees("我是 openai:first", chat="2")
        here.platform.says("/new")
        await here.platform.sees("重新开始")
        await here.restart(after=timedelta(minutes=1))

        here.platform.says("/model")
        await here.platform.sees("2. openai:second（现在回答的）\n这里选了 openai:second")
        here.platform.says("/model auto")
        await here.platform.sees("按原来的先后")
        here.platform.says("再来")
        await here.platform.sees("我是 openai:first")


async def test_only_an_owner_chooses_and_everybody_who_was_let_in_may_look() -> None:
    async with two_models() as here:
        here.platform.says("/model second", chat="2", person="1002", name="小李")
        await here.platform.sees("这要由我的主人来决定", chat="2")
        here.platform.says("/model", chat="2", person="1002", name="小李")
        shown = await here.platform.sees("1. openai:first（现在回答的）", chat="2")

        assert shown.text == "我用的模型，按先后：\n1. openai:first（现在回答的）\n2. openai:second"


async def test_a_model_that_is_not_configured_is_refused_with_the_list() -> None:
    async with two_models() as here:
        here.platform.says("/model gpt-9")

        await here.platform.sees("没有这个模型。有这些：\n• openai:first\n• openai:second")
