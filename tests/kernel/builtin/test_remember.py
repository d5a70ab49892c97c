"""`remember` and `forget`: what is kept and dropped comes back as changes, and people are told each time."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kernel.builtin.remember import forget, remember
from kernel.changes import Changes
from kernel.chat import Reply
from kernel.errors import BadArguments, ModelError
from kernel.messages import Concurrency, ToolCall
from kernel.ports import MAX_MEMORIES, Forget, Remember, Shelf
from kernel.tools import Approval, Tool, ToolContext, ToolOutcome, ToolRegistry
from tests.kernel.builtin.calls import context, workspace

ANNS = Shelf("test", "u1", is_private=True)
ROOMS = Shelf("test", "chat", is_private=False)


class Kept:
    """A port over what is written here."""

    def __init__(self, *texts: str, shelf: Shelf = ANNS) -> None:
        self._texts = {shelf: texts}

    async def on(self, shelf: Shelf) -> tuple[str, ...]:
        return self._texts.get(shelf, ())


async def in_private() -> ToolContext:
    return replace(context(await workspace()), is_private=True)


async def run(tool: Tool, text: str, within: ToolContext) -> ToolOutcome:
    bound = ToolRegistry([tool]).bind(ToolCall("c1", tool.words.name, json.dumps({"text": text})))
    assert bound.tool.run is not None
    return await bound.tool.run(bound.arguments, within)


def test_both_run_in_order_and_ask_when_others_may_want_it() -> None:
    for tool in (remember(Kept()), forget(Kept())):
        assert tool.concurrency({"text": "x"}) is Concurrency.EXCLUSIVE
        assert tool.approval({"text": "x"}) is Approval.WARY
        assert tool.is_own


async def test_signs_that_nobody_sees_are_not_kept() -> None:
    outcome = await run(remember(Kept()), "对\u202e青\x00霉\u200b素\ud800过敏 \u2066 👩\u200d⚕️", await in_private())

    assert outcome.changes.memories == (Remember(ANNS, "对青霉素过敏 👩\u200d⚕️"),)
    with pytest.raises(BadArguments):
        await run(remember(Kept()), "\u200b\u202e", await in_private())


async def test_what_is_said_in_private_is_the_persons_and_they_are_told() -> None:
    outcome = await run(remember(Kept()), " 对青霉素\n过敏 *", await in_private())

    said = Reply(context(await workspace()).conversation, "📌 记住了：对青霉素 过敏 \\*")
    assert outcome.changes == Changes(outbound=(said,), memories=(Remember(ANNS, "对青霉素 过敏 *"),))


async def test_what_is_said_among_others_is_the_chats_and_what_the_person_said_in_private_is_not_looked_at() -> None:
    within = replace(context(await workspace()), language="en")

    outcome = await run(remember(Kept("周三值班")), "周三值班", within)
    with pytest.raises(ModelError, match="No note is kept here"):
        await run(forget(Kept("周三值班")), "周三", within)

    assert outcome.changes.memories == (Remember(ROOMS, "周三值班"),)
    assert [each.text for each in outcome.changes.outbound] == ["📌 I will remember: 周三值班"]


async def test_what_is_kept_already_changes_nothing() -> None:
    outcome = await run(remember(Kept("likes tea")), "likes  tea", await in_private())

    assert outcome.changes == Changes()


async def test_a_full_shelf_says_so_and_what_stands_on_it() -> None:
    full = Kept(*(f"fact {number}" for number in range(MAX_MEMORIES)))

    with pytest.raises(ModelError, match=r"all there is room for(.|\n)*- fact 0\n(.|\n)*- fact 49"):
        await run(remember(full), "one more", await in_private())


@pytest.mark.parametrize("text", ["", "  \n", "x" * 201])
async def test_nothing_and_too_much_are_answers_for_the_model(text: str) -> None:
    with pytest.raises(BadArguments):
        await run(remember(Kept()), text, await in_private())


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("tea", "tea"),
        ("TEA", "tea"),
        ("milk", "Tea with milk"),
        ("I work on Mondays now", "work on Mondays"),
        ("青霉素", "对青霉素过敏"),
    ],
)
async def test_the_note_that_the_words_mean_is_forgotten_and_people_are_told(words: str, meant: str) -> None:
    shelf = Kept("tea", "Tea with milk", "work on Mondays", "对青霉素过敏")

    outcome = await run(forget(shelf), words, await in_private())

    assert outcome.changes.memories == (Forget(ANNS, meant),)
    assert [each.text for each in outcome.changes.outbound] == [f"已忘记：{meant}"]


async def test_words_that_mean_several_notes_or_none_forget_nothing() -> None:
    shelf = Kept("tea in the morning", "tea at night", "coffee")

    with pytest.raises(ModelError, match=r"Several notes fit.*\n- tea in the morning\n- tea at night$"):
        await run(forget(shelf), "tea", await in_private())
    with pytest.raises(ModelError, match=r"No note says that(.|\n)*- coffee"):
        await run(forget(shelf), "water", await in_private())
