"""The terminal: lines in, readable text out, numbers for buttons."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.formatted_text import to_plain_text
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.plain_text import PlainTextOutput

from bots.adapter import HasDrafts
from bots.console import ConsoleAdapter, folded, place, plain
from kernel.chat import (
    ButtonPress,
    Choice,
    ConversationId,
    Draft,
    Heard,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
    Sender,
    UserMessage,
)
from kernel.ports import Clock
from kernel.texts import say
from tests.twins.clock import JumpingClock

ME = Sender("me")
CONVERSATION = place(1)
CARD = Prompt(CONVERSATION, "⏰ **查房**", "tok", (Choice("done", "完成"), Choice("snooze", "稍后 10 分钟")))
PLACE = MessageRef(CONVERSATION, "1")


def console(
    clock: Clock, session: PromptSession[str] | None = None, deserted: Sequence[ConversationId] = ()
) -> ConsoleAdapter:
    return ConsoleAdapter(
        clock=clock,
        process="p1",
        sender=ME,
        language="zh",
        session=session,
        conversation=CONVERSATION,
        deserted=lambda: deserted,
    )


async def run_piped(
    lines: str, answer: Callable[[ConsoleAdapter, Heard], list[tuple[float, str]]], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[str], timedelta]:
    """Everything delivered, and how long it took; `answer` gives delays and texts (empty: typing)."""
    clock = JumpingClock()
    adapter = console(clock)
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    got: list[str] = []
    began = clock.now()

    async def reply(inbound: Heard) -> None:
        for delay, text in answer(adapter, inbound):
            await clock.sleep_until(clock.now() + timedelta(seconds=delay))
            if text:
                await adapter.send(Reply(CONVERSATION, text), text, key="k", is_doubtful=False, is_last=True)
            else:
                await adapter.typing(CONVERSATION)

    async with asyncio.TaskGroup() as group:

        async def deliver(inbound: Heard) -> None:
            got.append(inbound.text if isinstance(inbound, UserMessage) else "press")
            group.create_task(reply(inbound))

        run = group.create_task(adapter.run(deliver))
        while not run.done():
            sleeper = asyncio.ensure_future(clock.sleeper())
            await asyncio.wait([sleeper, run], return_when=asyncio.FIRST_COMPLETED)
            if sleeper.done():
                clock.set(max(sleeper.result(), clock.now()))
            sleeper.cancel()
            for _ in range(20):
                await asyncio.sleep(0)
    return got, clock.now() - began


async def test_each_line_of_a_pipe_is_said_after_the_one_before_was_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    got, _ = await run_piped(
        "你好\n\n再见\n", lambda _, said: [(3, f"**re** {getattr(said, 'text', '')}")], monkeypatch
    )

    assert got == ["你好", "再见"]
    assert capsys.readouterr().out == "re 你好\nre 再见\n"


async def test_a_pipe_waits_as_long_as_typing_shows_that_work_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    working = [(2.0, "")] * 100

    await run_piped("a\n", lambda *_: [*working, (2.0, "late"), (0.1, ""), (2.0, "rest")], monkeypatch)

    assert capsys.readouterr().out == "late\nrest\n"


async def test_a_pipe_that_nobody_answers_ends_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    got, took = await run_piped("a\n", lambda *_: [], monkeypatch)

    assert got == ["a"]
    assert took == timedelta(seconds=60.5)


async def test_what_was_left_for_a_pipe_is_no_answer_to_what_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = JumpingClock()
    adapter = console(clock)
    monkeypatch.setattr(sys, "stdin", io.StringIO("a\n"))
    said: list[str] = []

    async def deliver(inbound: Heard) -> None:
        said.append(capsys.readouterr().out)

    async def run() -> None:
        await adapter.run(deliver)

    running = asyncio.create_task(run())
    await clock.sleeper()
    for text in ("old 1", "old 2"):
        await adapter.send(Reply(CONVERSATION, text), text, key="k", is_doubtful=False, is_last=True)
        await clock.run_to(clock.now() + timedelta(seconds=0.4))
    assert said == []
    await clock.run_to(clock.now() + timedelta(seconds=0.2))

    assert said == ["old 1\nold 2\n"]
    running.cancel()


async def test_a_number_presses_the_choice_it_was_given_to(capsys: pytest.CaptureFixture[str]) -> None:
    adapter = console(JumpingClock())
    assert isinstance(adapter._inbound("1"), UserMessage)

    await adapter.send(CARD, CARD.text, key="k", is_doubtful=False, is_last=True)

    assert capsys.readouterr().out == "⏰ 查房\n[1] 完成   [2] 稍后 10 分钟\n"
    press = adapter._inbound(" 2 ")
    assert isinstance(press, ButtonPress)
    assert (press.token, press.choice) == ("tok", "snooze")
    assert isinstance(adapter._inbound("²"), UserMessage)


async def test_a_number_without_a_button_is_told_which_there_are_and_is_words_only_where_it_may_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    adapter = console(JumpingClock())
    await adapter.send(CARD, CARD.text, key="k", is_doubtful=False, is_last=True)

    assert adapter._inbound("９") is None
    assert capsys.readouterr().out.splitlines()[2:] == ["没有这个按钮，现在能按：1–2。想说数字本身，就多写一个字。"]
    assert isinstance(adapter._inbound("9点"), UserMessage)
    await adapter.send(Reply(CONVERSATION, "几粒？"), "几粒？", key="k", is_doubtful=False, is_last=True)
    assert isinstance(adapter._inbound("9"), UserMessage)


async def test_a_number_of_a_closed_card_is_no_answer_to_the_question_that_came_after_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    adapter = console(JumpingClock())
    await adapter.send(CARD, CARD.text, key="k", is_doubtful=False, is_last=True)
    await adapter.close(PromptClosed(CONVERSATION, "tok", "✅"), PLACE)
    await adapter.send(Reply(CONVERSATION, "好"), "好", key="k", is_doubtful=False, is_last=True)
    question = replace(CARD, text="几点？", token="new")
    await adapter.send(question, question.text, key="k", is_doubtful=False, is_last=True)

    assert adapter._inbound("1") is None

    assert capsys.readouterr().out.splitlines()[-1] == "已经处理过了。"


async def test_a_button_that_is_gone_says_so_until_something_else_was_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    adapter = console(JumpingClock())
    await adapter.send(CARD, CARD.text, key="k", is_doubtful=False, is_last=True)

    await adapter.close(PromptClosed(CONVERSATION, "tok", "✅", (Choice("undo", "撤销"),)), PLACE)
    press = adapter._inbound("3")
    await adapter.close(PromptClosed(CONVERSATION, "tok", "没了"), PLACE)

    assert isinstance(press, ButtonPress)
    assert press.choice == "undo"
    assert adapter._inbound("1") is None
    assert capsys.readouterr().out.splitlines()[2:] == ["✅", "[3] 撤销", "没了", "已经处理过了。"]
    await adapter.send(Reply(CONVERSATION, "1 or 2?"), "1 or 2?", key="k", is_doubtful=False, is_last=True)
    assert isinstance(adapter._inbound("1"), UserMessage)


async def test_a_button_that_is_gone_is_refused_in_the_language_of_its_prompt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    adapter = console(JumpingClock())
    await adapter.send(replace(CARD, language="en"), "stretch", key="k", is_doubtful=False, is_last=True)
    await adapter.close(PromptClosed(CONVERSATION, "tok", "done"), PLACE)

    adapter._inbound("2")

    assert capsys.readouterr().out.splitlines()[-1] == "This has already been decided."


async def test_an_older_prompt_can_still_be_pressed_when_others_came_after_it() -> None:
    adapter = console(JumpingClock())
    await adapter.send(CARD, CARD.text, key="k", is_doubtful=False, is_last=True)
    await adapter.send(replace(CARD, token="new"), CARD.text, key="k", is_doubtful=False, is_last=True)

    older, newer = adapter._inbound("2"), adapter._inbound("3")

    assert isinstance(older, ButtonPress)
    assert isinstance(newer, ButtonPress)
    assert [(older.token, older.choice), (newer.token, newer.choice)] == [("tok", "snooze"), ("new", "done")]


async def test_what_falls_due_in_a_closed_terminal_is_shown_and_answered_here_but_never_in_a_pipe() -> None:
    with create_pipe_input() as keys, create_app_session(input=keys, output=PlainTextOutput(io.StringIO())):
        adapter = console(JumpingClock(), PromptSession(), [place(2)])
    theirs = replace(CARD, conversation=place(2))

    await adapter.send(theirs, CARD.text, key="k", is_doubtful=False, is_last=True)

    press = adapter._inbound("1")
    said = adapter._inbound("hello")
    assert press is not None
    assert said is not None
    assert (press.conversation, said.conversation) == (place(2), place(1))
    assert tuple(adapter.places()) == (place(1), place(2))
    assert tuple(console(JumpingClock(), None, [place(2)]).places()) == (place(1),)


async def test_what_the_card_says_after_a_press_needs_no_second_word(capsys: pytest.CaptureFixture[str]) -> None:
    adapter = console(JumpingClock())
    card = Prompt(CONVERSATION, "⏰ 查房", "tok", (Choice("done", "完成"),))
    await adapter.send(card, card.text, key="k", is_doubtful=False, is_last=True)
    adapter._inbound("1")

    await adapter.close(PromptClosed(CONVERSATION, "tok", "查房 ✅ 小王"), MessageRef(CONVERSATION, "1"))
    await adapter.notify(Notice(CONVERSATION, "p", "me", say("press.noted", "zh")))
    await adapter.notify(Notice(CONVERSATION, "p", "me", say("press.decided", "zh")))

    assert capsys.readouterr().out.splitlines()[2:] == ["查房 ✅ 小王", "已经处理过了。"]


async def test_a_question_that_was_answered_is_not_said_again(capsys: pytest.CaptureFixture[str]) -> None:
    adapter = console(JumpingClock())
    asked = Prompt(CONVERSATION, "几点提醒？", "tok", (Choice("0", "上午9点"),))
    await adapter.send(asked, asked.text, key="k", is_doubtful=False, is_last=True)

    await adapter.close(PromptClosed(CONVERSATION, "tok", "几点提醒？"), MessageRef(CONVERSATION, "1"))

    assert capsys.readouterr().out.splitlines() == ["几点提醒？", "[1] 上午9点"]
    assert adapter._inbound("1") is None


async def test_a_notice_is_printed_and_an_empty_one_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    adapter = console(JumpingClock())

    await adapter.notify(Notice(CONVERSATION, "p", "me", "好的"))
    await adapter.notify(Notice(CONVERSATION, "p", "me", ""))

    assert capsys.readouterr().out == "好的\n"


def test_events_differ_also_from_those_of_an_earlier_process_of_that_name() -> None:
    clock = JumpingClock()
    adapter = console(clock)
    events = {_event(adapter) for _ in range(5)}

    clock.jump(timedelta(seconds=1))
    later = console(clock)
    events |= {_event(later) for _ in range(5)}

    assert len(events) == 10


def _event(adapter: ConsoleAdapter) -> str:
    said = adapter._inbound("a")
    assert said is not None
    return said.event


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**a** `b` [c](http://x.example)", "a b c (http://x.example)"),
        ("<http://x.example>", "http://x.example"),
        ("```py\na\n  b\n```", "    a\n      b"),
        ("- a\n- b", "• a\n• b"),
        ("\x1b[2Ja\x07b\x9bc\r", "[2Jabc"),
    ],
)
def test_markdown_becomes_plain_text_that_cannot_steer_the_terminal(markdown: str, text: str) -> None:
    assert plain(markdown) == text


async def test_a_line_that_is_typed_is_delivered_and_what_is_said_meanwhile_appears_above_it() -> None:
    stream = io.StringIO()
    got: list[str] = []
    with create_pipe_input() as keys, create_app_session(input=keys, output=PlainTextOutput(stream)):
        adapter = console(JumpingClock(), PromptSession())

        async def deliver(inbound: Heard) -> None:
            assert isinstance(inbound, UserMessage)
            got.append(inbound.text)
            await adapter.send(
                Reply(CONVERSATION, "re"), f"re **{inbound.text}**", key="k", is_doubtful=False, is_last=True
            )
            keys.send_text("\x04" if len(got) == 2 else "  \rworld\r")

        keys.send_text("你好\r")
        async with asyncio.timeout(10):
            await adapter.run(deliver)

    assert got == ["你好", "world"]
    assert "re 你好" in stream.getvalue()
    assert "re world" in stream.getvalue()


async def test_ctrl_c_leaves() -> None:
    with create_pipe_input() as keys, create_app_session(input=keys, output=PlainTextOutput(io.StringIO())):
        adapter = console(JumpingClock(), PromptSession())
        keys.send_text("half a li\x03")

        async with asyncio.timeout(10):
            await adapter.run(_never)


async def test_what_is_written_stands_under_the_input_line_until_the_answer_is_printed_once() -> None:
    stream = io.StringIO()
    shown: list[object] = []
    with create_pipe_input() as keys, create_app_session(input=keys, output=PlainTextOutput(stream)):
        session: PromptSession[str] = PromptSession()
        adapter = console(JumpingClock(), session)
        assert isinstance(adapter, HasDrafts)

        async def deliver(inbound: Heard) -> None:
            for number, text in enumerate(("第一行", "第一行\n**第二行**\n三\n四\n五", "", "答")):
                await adapter.show_draft(Draft(CONVERSATION, "t", number, text))
                bar = session.bottom_toolbar
                shown.append(to_plain_text(bar) if bar is not None else None)
            await adapter.show_draft(Draft(place(2), "t", 9, "another terminal's"))
            await adapter.send(Reply(CONVERSATION, "答案"), "答案", key="k", is_doubtful=False, is_last=True)
            shown.append(session.bottom_toolbar)
            while "答案" not in stream.getvalue():  # noqa: ASYNC110 — the terminal prints in a thread of its own
                await asyncio.sleep(0.01)
            await adapter.show_draft(Draft(CONVERSATION, "t2", 1, "writer"))
            await adapter.drop_draft(CONVERSATION)
            shown.append(session.bottom_toolbar)
            keys.send_text("\x04")

        keys.send_text("hi\r")
        async with asyncio.timeout(10):
            await adapter.run(deliver)

    assert shown == ["第一行", "第二行\n三\n四\n五", None, "答", None, None]
    assert stream.getvalue().count("答案") == 1


async def test_a_pipe_prints_answers_and_nothing_of_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    adapter = console(JumpingClock())

    await adapter.show_draft(Draft(CONVERSATION, "t", 1, "half"))
    await adapter.drop_draft(CONVERSATION)
    await adapter.send(Reply(CONVERSATION, "whole"), "whole", key="k", is_doubtful=False, is_last=True)

    assert capsys.readouterr().out == "whole\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", [""]), ("abcd", ["abc", "d"]), ("查房x", ["查", "房x"]), ("a\n\nb", ["a", "", "b"]), ("查", ["查"])],
)
def test_lines_are_folded_where_the_terminal_ends(text: str, lines: list[str]) -> None:
    assert folded(text, 3) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("remind me to call", ["remind me", "to call"]),
        ("every weekday at 9", ["every", "weekday at", "9"]),
        ("https://example.org", ["https://ex", "ample.org"]),
        ("查房后call小李再走", ["查房后call", "小李再走"]),
        ("请叫someone来查房", ["请叫", "someone来", "查房"]),
        ("查房四点（东区）", ["查房四点", "（东区）"]),
        ("查房和换药，交班", ["查房和换", "药，交班"]),
        ("（（（（（（", ["（（（（（", "（"]),
        ("    indented code here", ["    indent", "ed code", "here"]),
    ],
)
def test_lines_break_between_words_where_there_are_some(text: str, lines: list[str]) -> None:
    assert folded(text, 10) == lines


def test_a_terminal_narrower_than_a_character_still_gets_lines() -> None:
    assert folded("查房", 1) == ["查", "房"]


async def _never(inbound: Heard) -> None:
    raise AssertionError(inbound)
