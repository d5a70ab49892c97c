"""Commands are answered without a model, and change only what they say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.access import Standing
from kernel.chat import Command, command_of
from kernel.commands import Looked, answer, needed
from kernel.exchanges import TOOK_BACK
from kernel.messages import Concurrency, Message, Role, Text
from kernel.reminders.cards import Kind, read
from kernel.session import Ending, Exchange, GateState, Session
from kernel.session_events import Broken, Undone
from kernel.texts import say
from tests.kernel.reminders.words import desk, said, stored, trigger
from tests.twins.sessions import ANN, EMPTY, after, called, calling, gate, spoken

BUSY = after(spoken("做"), calling())
WAITING = after(spoken("发"), calling(), called(gate("post", GateState.ASKED, Concurrency.EXCLUSIVE)))


def heard(command: Command, rest: str = "", session: Session = EMPTY, language: str = "zh") -> str:
    return said(answer(command, rest, session, desk(language), ()).changes)


@pytest.mark.parametrize("command", [Command.HELP, Command.START])
def test_help_names_every_other_command(command: Command) -> None:
    for language in ("zh", "en"):
        text = heard(command, language=language)
        assert all(f"/{each.value}" in text for each in Command if each not in (Command.HELP, Command.START))


def test_stop_breaks_every_turn_and_says_whether_there_was_one() -> None:
    assert heard(Command.STOP) == "现在没有正在进行的事。"

    for session in (BUSY, WAITING):
        stopped = answer(Command.STOP, "", session, desk(), ())
        assert said(stopped.changes) == "已停止。"
        assert stopped.events == (Broken("t1", Ending.STOPPED),)
        assert not stopped.new_history


def test_what_was_seen_of_an_answer_stays_when_it_is_stopped() -> None:
    stopped = answer(Command.STOP, "", BUSY, desk(), (), Looked(written={"t1": "今天有三台"}))

    assert said(stopped.changes) == "今天有三台\n\n已停止。"
    assert stopped.events == (Broken("t1", Ending.STOPPED, "今天有三台"),)


def test_new_stops_what_runs_and_begins_a_history() -> None:
    begun = answer(Command.NEW, "", BUSY, desk(), ())

    assert begun.events == (Broken("t1", Ending.STOPPED),)
    assert begun.new_history


@pytest.mark.parametrize(
    ("session", "beginning"), [(EMPTY, "在线，空闲"), (BUSY, "正在处理"), (WAITING, "在等你做决定")]
)
def test_status_says_what_goes_on(session: Session, beginning: str) -> None:
    assert heard(Command.STATUS, session=session).startswith(beginning)


def test_status_counts_the_reminders_that_will_come_not_those_that_rest() -> None:
    reminders = stored(trigger("一"), trigger("二"), replace(trigger("三"), paused=True))

    assert said(answer(Command.STATUS, "", EMPTY, desk(), reminders).changes) == "在线，空闲。这里等着的提醒：2 个。"


def test_reminders_are_listed_with_buttons_that_cancel() -> None:
    changes = answer(Command.REMINDERS, "", EMPTY, desk(), stored(trigger())).changes

    assert "查房" in said(changes)
    assert read(changes.prompts[0]).kind is Kind.CANCEL


def test_tz_without_a_zone_shows_zone_and_time() -> None:
    assert heard(Command.TZ) == "这里的时区是 Asia/Shanghai，现在 09:00。要改：/tz Asia/Shanghai"


@pytest.mark.parametrize("spelling", ["Europe/Berlin", "europe/berlin", "EUROPE/BERLIN"])
def test_tz_with_a_zone_keeps_it_in_its_own_spelling_and_shows_the_time_there(spelling: str) -> None:
    done = answer(Command.TZ, spelling, EMPTY, desk("en"), ())

    assert done.zone == "Europe/Berlin"
    assert said(done.changes) == "Done, the zone is Europe/Berlin now, it is 02:00."


@pytest.mark.parametrize("wrong", ["Mars/Olympus", "北京", "../../etc/passwd", "8", "x" * 500, "**"])
def test_tz_with_an_unknown_zone_keeps_the_old_one(wrong: str) -> None:
    done = answer(Command.TZ, wrong, EMPTY, desk(), ())

    assert done.zone is None
    assert said(done.changes).startswith("不认识时区")
    assert len(said(done.changes)) < 100


def test_no_command_but_those_two_changes_the_session() -> None:
    for command in set(Command) - {Command.NEW, Command.STOP}:
        assert answer(command, "", BUSY, desk(), ()).events == ()


def test_every_command_is_found_by_its_word_and_nothing_else_is() -> None:
    assert all(command_of(f"/{each.value}") == (each, "") for each in Command)
    assert command_of("/TZ  Asia/Shanghai ") == (Command.TZ, "Asia/Shanghai")
    assert command_of("/stop\n别做了") == (Command.STOP, "别做了")
    assert [command_of(text) for text in ("stop", "/nothing", "/", "/ stop", "你好 /stop")] == [None] * 5


def test_the_menu_has_a_line_for_every_command_but_start() -> None:
    assert all(say(f"menu.{each.value}", "zh") for each in Command if each is not Command.START)


@pytest.mark.parametrize(
    ("command", "rest", "is_private", "needs"),
    [
        (Command.RETRY, "", False, Standing.MEMBER),
        (Command.UNDO, "", False, Standing.MEMBER),
        (Command.FORGET, "", True, Standing.MEMBER),
        (Command.FORGET, "", False, Standing.OWNER),
        (Command.FORGET, "me", False, Standing.MEMBER),
        (Command.FORGET, "我", False, Standing.MEMBER),
        (Command.MODEL, "", False, Standing.ALLOWED),
        (Command.MODEL, "auto", True, Standing.OWNER),
    ],
)
def test_who_may_give_it_depends_on_where_and_on_what_it_is_to_do(
    command: Command, rest: str, is_private: bool, needs: Standing
) -> None:
    assert needed(command, rest, is_private=is_private) is needs
    below = replace(desk(), standing=Standing(needs - 1), is_private=is_private)
    refused = said(answer(command, rest, EMPTY, below, ()).changes)
    assert refused == say("rights.owner" if needs is Standing.OWNER else "rights.allowed", "zh")


def test_forget_names_only_what_there_is() -> None:
    nothing = heard(Command.FORGET, language="en")

    assert nothing.splitlines()[0] == "Forget this chat? This is deleted at once:"
    assert "0" not in nothing
    assert len(nothing.splitlines()) == 2


def test_taking_back_gives_the_history_without_the_exchange_and_a_note_when_something_was_done() -> None:
    past = tuple(Message(Role.USER, (Text(words),)) for words in "一二三四")
    session = replace(EMPTY, history_length=4, exchanges=(Exchange(ANN, 0, 2), Exchange(ANN, 2, 2, has_acted=True)))

    done = answer(Command.UNDO, "", session, desk(), (), Looked(past=past))

    assert done.rewritten == past[:2]
    assert done.events == (Undone(4, 2),)
    assert done.changes.notes == (TOOK_BACK,)
