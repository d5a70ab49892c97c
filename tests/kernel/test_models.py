"""Which models are shown, and what chooses one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.access import Standing
from kernel.models import Models, choose, known, shown
from kernel.providers.late import LateProvider
from kernel.providers.scripted import Scripted
from kernel.session_events import Chosen
from tests.kernel.reminders.words import desk, said
from tests.twins.sessions import EMPTY

BOTH = Models(("anthropic:claude-sonnet-5-5", "openai:deepseek-chat"), "anthropic:claude-sonnet-5-5")
OWNER = replace(desk(), standing=Standing.OWNER)


def test_they_are_shown_in_order_with_the_one_that_answers() -> None:
    assert said(shown(BOTH, EMPTY, desk())) == (
        "我用的模型，按先后：\n1. anthropic:claude-sonnet-5-5（现在回答的）\n2. openai:deepseek-chat"
    )


def test_an_owner_is_told_how_to_choose_where_there_is_a_choice() -> None:
    one = Models(("openai:a",), "openai:a")

    assert "/model 加上名字" in said(shown(BOTH, EMPTY, OWNER))
    assert "/model 加上名字" not in said(shown(one, EMPTY, OWNER))


def test_a_choice_is_shown_for_as_long_as_the_model_is_there() -> None:
    assert "这里选了 openai:deepseek-chat" in said(shown(BOTH, replace(EMPTY, model="openai:deepseek-chat"), desk()))
    assert "这里选了" not in said(shown(BOTH, replace(EMPTY, model="openai:gone"), desk()))


@pytest.mark.parametrize("words", ["openai:deepseek-chat", "deepseek-chat", "DeepSeek-Chat"])
def test_a_model_is_chosen_by_its_name(words: str) -> None:
    event, changes = choose(words, BOTH, OWNER)

    assert event == Chosen("openai:deepseek-chat")
    assert said(changes).startswith("好，这里先用 openai:deepseek-chat")


@pytest.mark.parametrize("words", ["gpt-9", "openai:", "claude", ":", "*"])
def test_what_is_not_configured_is_refused_with_the_list(words: str) -> None:
    event, changes = choose(words, BOTH, OWNER)

    assert event is None
    assert said(changes) == "没有这个模型。有这些：\n• anthropic:claude-sonnet-5-5\n• openai:deepseek-chat"


def test_a_name_that_two_services_have_needs_whose_it_is() -> None:
    twice = Models(("anthropic:m", "openai:m"), "anthropic:m")

    assert choose("m", twice, OWNER)[0] is None
    assert choose("openai:m", twice, OWNER)[0] == Chosen("openai:m")


def test_auto_goes_back_to_the_usual_order() -> None:
    assert choose("auto", BOTH, OWNER)[0] == Chosen("")


def test_without_a_model_or_its_name_that_is_said() -> None:
    async def find() -> Scripted:
        raise AssertionError

    assert "还没有连上模型" in said(shown(known(None, ""), EMPTY, desk()))
    assert "名字还不知道" in said(shown(known(LateProvider(find), ""), EMPTY, desk()))
    assert known(Scripted(name="openai:a"), "") == Models(("openai:a",), "openai:a")
