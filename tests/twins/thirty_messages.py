"""A talk of thirty messages with a plan before each answer, a tool that comes midway, a model that is away for a while.

A minute lies between messages. It goes through the whole loop with all built-in tools; the models' services are strict
and count their caches.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count

from kernel.access import Access
from kernel.messages import Concurrency, ModelRequest, ToolCall, ToolResult
from kernel.providers.failover import Failover
from tests.twins.bound_thinking import BoundThinking
from tests.twins.children import TwinChildren
from tests.twins.http import TwinHttp
from tests.twins.metered_models import MeteredModel, Said
from tests.twins.prompt_cache import Counted
from tests.twins.rights import rights_of
from tests.twins.tools import Deeds
from tests.twins.world import RULES, World, world
from zclaw.wiring.toolbox import toolbox

MESSAGES = 30
LATE_FROM = 13
"""The first message that finds the late tool on offer, after a restart."""
AWAY = range(20, 24)
"""The messages during which the first of several models is away."""
LATE_TOOL = "ward_list"
_APART = timedelta(minutes=1)
_PLAN = "1. 看清楚他们要什么。2. 数字用工具算，文件先列出来看。3. 用两三句话回答，先说结论，再说还要谁去做什么。"
_ANSWER = "答{n}：查好了。下午两点照常查房，晚上由小李值班，{n} 床的复查改到明天上午，结果出来以后再告诉家属。"


@dataclass(frozen=True, slots=True)
class Talk:
    """What became of it."""

    answered: int
    refusals: tuple[str, ...]
    counted: tuple[tuple[str, Counted], ...]
    """Every model call: by whom, and its tokens; model by model."""
    late_calls: int

    @property
    def share(self) -> float:
        """Of all tokens sent, those that were read from a cache."""
        return sum(each.read for _, each in self.counted) / sum(each.sent for _, each in self.counted)


async def talk(models: Sequence[str], *, is_busy: bool = False) -> Talk:
    """Have it with `models` in the order in which they are wanted; one alone is never away.

    `is_busy`: every message takes four rounds of three calls, more blocks than a service looks back over.
    """
    bound, deeds, rule = BoundThinking(), Deeds(), _Answers(is_busy)
    async with world(rules=replace(RULES, plans=True)) as here:
        metered = [MeteredModel(model, rule.answer, bound, here.clock) for model in models]
        failover = Failover(metered, clock=here.clock, random=random.Random(1))
        here.model.when(".", failover.reply)
        here.model.when_result(".", failover.reply)
        box = toolbox(here.stores, rights=rights_of(Access()), http=TwinHttp(), children=TwinChildren())
        here.tools = tuple(box.tool(words.name) for words in box.words)
        await here.restart()
        for number in range(1, MESSAGES + 1):
            if number == LATE_FROM:
                here.tools = (*here.tools, deeds.tool(LATE_TOOL, Concurrency.READ_ONLY))
                await here.restart(after=timedelta(seconds=16))
            metered[0].is_away = len(metered) > 1 and number in AWAY
            await _say(here, number)
        refusals = [*here.model.refusals, *(refusal for model in metered for refusal in model.refusals)]
        counted = tuple((model.name, each) for model in metered for each in model.counted)
        return Talk(len(here.platform.shown), tuple(refusals), counted, len(deeds.contexts))


async def _say(here: World, number: int) -> None:
    here.platform.says(f"第 {number} 句：帮我看看今天 {number} 床的安排，要不要改一改，然后告诉大家。")
    await here.platform.sees(f"答{number}：", after=len(here.platform.shown))
    await here.passes(_APART)


class _Answers:
    """A plan when one is asked for, a summary likewise; else the calls of the message's rounds, then words."""

    def __init__(self, is_busy: bool) -> None:
        self._is_busy = is_busy
        self._ids = count(1)

    def answer(self, request: ModelRequest) -> Said:
        if not request.tools:
            return Said("他们在安排各床的查房。")
        if not request.may_call:
            return Said(_PLAN)
        number, done = _newest(request), _rounds(request)
        rounds = self._rounds_of(number, any(tool.name == LATE_TOOL for tool in request.tools))
        if done < len(rounds):
            return Said("", tuple(self._call(name, **arguments) for name, arguments in rounds[done]))
        return Said(_ANSWER.format(n=number))

    def _rounds_of(self, number: int, has_late: bool) -> list[list[tuple[str, dict[str, str]]]]:
        if has_late and number % 5 == 0:
            return [[(LATE_TOOL, {"text": "今天"})]]
        if self._is_busy:
            look: list[tuple[str, dict[str, str]]] = [("list_files", {}), ("now", {})]
            return [[*look, ("calculate", {"expression": f"{number}*{step}"})] for step in range(1, 5)]
        match number % 3:
            case 0:
                return []
            case 1:
                return [[("calculate", {"expression": f"{number}*3+4"})]]
            case _:
                return [[("list_files", {}), ("now", {})], [("calculate", {"expression": f"{number}/7"})]]

    def _call(self, name: str, **arguments: str) -> ToolCall:
        return ToolCall(f"toolu_{next(self._ids)}", name, json.dumps(arguments, ensure_ascii=False))


def _newest(request: ModelRequest) -> int:
    """The number of the person's newest message."""
    found = (re.search(r"第 (\d+) 句", message.text) for message in reversed(request.messages))
    return int(next(match for match in found if match).group(1))


def _rounds(request: ModelRequest) -> int:
    """Rounds of results since somebody has spoken."""
    rounds = 0
    for message in reversed(request.messages):
        if message.may_begin:
            break
        rounds += any(isinstance(part, ToolResult) for part in message.parts)
    return rounds
