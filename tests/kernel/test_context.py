"""Which messages a model call sees, and what finished turns leave behind."""

from __future__ import annotations

from dataclasses import replace

from kernel.context import (
    SHORT_CHARS,
    disowned,
    harvest,
    known_before,
    request_messages,
    with_short_results,
    without_thinking,
)
from kernel.messages import Image, Message, Opaque, Role, Text, ToolCall, ToolResult
from kernel.session import Ending, Frame, GateState, Session, Turn
from kernel.session_events import Broken, Claimed, Opened
from tests.twins.sessions import ANN, BEN, EMPTY, after, answered, called, calling, gate, spoken, turn_of
from tests.twins.sessions import call as call_of

THOUGHT = Opaque("anthropic", "m", "{}")


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def bot(text: str, *, thinks: bool = False) -> Message:
    return Message(Role.ASSISTANT, (THOUGHT, Text(text)) if thinks else (Text(text),))


def turn(base: int, *messages: Message, thinking_from: int = 0, more: tuple[Frame, ...] = ()) -> Turn:
    return Turn("t1", "1001", (Frame(messages), *more), base=base, thinking_from=thinking_from)


def test_the_turn_sees_the_history_as_it_stood_when_it_began() -> None:
    history = [user("1"), bot("2"), user("3"), bot("4")]

    assert request_messages(turn(2, user("now")), history) == (user("1"), bot("2"), user("now"))
    assert request_messages(turn(4, user("now")), history) == (*history, user("now"))


def test_before_new_words_the_model_reads_the_past_and_the_turn_that_takes_them() -> None:
    history = [user("1"), bot("2")]
    idle = replace(EMPTY, history_length=2)
    running = after(spoken("now"), session=idle)
    waiting = after(calling(), called(gate("post", GateState.ASKED)), session=running)

    assert known_before(idle, ANN, history) == (*history,)
    assert known_before(running, ANN, history) == (*history, user("now"))
    assert known_before(waiting, ANN, history) == (*history, user("now"))
    assert known_before(waiting, BEN, history) == (*history,)


def test_words_are_said_in_the_turn_itself_whatever_sub_task_waits() -> None:
    opened = after(spoken("now"), calling(), called(gate("task")), Opened("t1", "task", (Text("go"),)))
    waiting = after(calling(2), called(gate("post", GateState.ASKED), effect=2), session=opened)

    assert known_before(waiting, ANN, ()) == (user("now"),)


def test_a_turn_that_was_stopped_and_only_awaits_an_outcome_takes_no_words() -> None:
    history = [user("1"), bot("2")]
    running = after(spoken("now"), calling(), called(gate("write")), session=replace(EMPTY, history_length=2))
    stopped = after(Claimed("t1", "write", 1), Broken("t1", Ending.STOPPED), session=running)

    assert known_before(stopped, ANN, history) == (*history,)


def test_what_is_no_longer_shown_is_not_known() -> None:
    history = [user(str(number)) for number in range(4)]

    assert known_before(replace(EMPTY, history_length=4), ANN, history, most=2) == tuple(history[2:])
    assert known_before(replace(EMPTY, history_length=0), ANN, ()) == ()


def test_a_history_whose_beginning_was_cut_is_counted_from_there() -> None:
    history = [user("11"), bot("12"), user("13")]

    assert request_messages(turn(12, user("now")), history, first=10) == (user("11"), bot("12"), user("now"))
    assert request_messages(turn(4, user("now")), history, first=10) == (user("now"),)


def test_a_sub_frame_sees_only_itself() -> None:
    deep = turn(1, user("outer"), more=(Frame((user("inner"),), origin="c1"),))

    assert request_messages(deep, [user("old")]) == (user("inner"),)


def test_thinking_bound_to_a_past_that_changed_is_left_out_and_later_thinking_stays() -> None:
    history = [user("1"), bot("2", thinks=True), user("3"), bot("4", thinks=True)]

    sent = request_messages(turn(4, user("now"), thinking_from=2), history)

    assert sent == (user("1"), bot("2"), user("3"), bot("4", thinks=True), user("now"))


def test_the_first_message_after_the_change_keeps_its_thinking() -> None:
    history = [user("1"), bot("2", thinks=True), bot("3", thinks=True)]

    sent = request_messages(turn(3, user("now"), thinking_from=2), history)

    assert sent == (user("1"), bot("2"), bot("3", thinks=True), user("now"))


def test_a_message_that_was_nothing_but_thinking_is_left_out_whole() -> None:
    history = [user("1"), Message(Role.ASSISTANT, (THOUGHT,)), user("3")]

    assert request_messages(turn(3, user("now"), thinking_from=3), history) == (user("1"), user("3"), user("now"))


def test_a_finished_turn_leaves_its_messages_and_the_session() -> None:
    session = after(spoken("你好"), calling(), answered("你好！"))

    reaped = harvest(session)

    assert reaped.session.turns == ()
    assert reaped.history == (user("你好"), Message(Role.ASSISTANT, (Text("你好！"),)))
    assert reaped.session.history_length == 2
    assert [each.id for each in reaped.finished] == ["t1"]


def test_nothing_is_harvested_while_nothing_is_finished() -> None:
    session = after(spoken("你好"), calling())

    assert harvest(session).session is session
    assert harvest(EMPTY).finished == ()


def test_a_broken_turn_leaves_a_history_that_is_pair_clean() -> None:
    session = after(spoken("做"), calling(), called(gate("post")), Broken("t1", Ending.STOPPED))

    reaped = harvest(session)

    assert [message.role for message in reaped.history] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert reaped.history[1].calls == (call_of("post"),)
    assert reaped.session.history_length == 3


def test_a_broken_sub_frame_leaves_only_the_root_to_the_history() -> None:
    session = after(
        spoken("做"), calling(), called(gate("task")), Opened("t1", "task", (Text("数"),)), Broken("t1", Ending.STOPPED)
    )

    assert [message.text for message in harvest(session).history if message.text] == ["做"]


def test_a_turn_that_was_more_than_the_model_can_read_leaves_only_its_beginnings() -> None:
    thought, picture = Opaque("scripted:test", "m", "{}"), Image("blob", "image/png")
    mine = (
        Message(Role.USER, (Text("长" * 9_000), picture)),
        Message(Role.ASSISTANT, (thought, ToolCall("a", "write", f'{{"text":"{"x" * 9_000}"}}'))),
        Message(Role.USER, (ToolResult("a", "长" * 9_000),)),
        Message(Role.ASSISTANT, (thought,)),
    )
    unread = Turn("t1", ANN, (Frame(mine),), ending=Ending.WINDOW)

    reaped = harvest(replace(EMPTY, turns=(unread,)))

    assert [len(message.parts) for message in reaped.history] == [1, 1, 1]
    assert all(len(repr(message)) < 2_500 for message in reaped.history)
    assert reaped.history[1].calls == (ToolCall("a", "write", "{}"),)
    assert reaped.session.thinking_from == reaped.session.history_length == 3


def test_thinking_stays_while_turns_follow_each_other() -> None:
    first = harvest(after(spoken("一"), calling(), answered("1"))).session
    second = harvest(after(spoken("二", turn="t2"), calling(turn="t2"), answered("2", turn="t2"), session=first))

    assert second.session.thinking_from == first.thinking_from


def test_a_turn_that_finishes_behind_a_later_one_ends_the_thinking_so_far() -> None:
    waiting = Turn("t1", "1001", (Frame((user("一"), bot("1"))),), base=0, ending=Ending.ANSWERED)
    session = Session(EMPTY.conversation, turns=(waiting,), history_length=2)

    reaped = harvest(session)

    assert reaped.session.history_length == 4
    assert reaped.session.thinking_from == 4


def test_what_still_runs_is_left_in_the_session() -> None:
    session = after(spoken("一"), calling(), answered("1"))
    both = replace(session, turns=(*session.turns, replace(turn_of(session), id="t2", requester=BEN, ending=None)))

    reaped = harvest(both)

    assert [each.id for each in reaped.session.turns] == ["t2"]


def test_a_long_past_loses_its_oldest_messages_fifty_at_once_and_begins_with_words_of_a_person() -> None:
    history = [message for number in range(200) for message in (user(str(number)), bot(str(number)))]

    shown = [request_messages(turn(base, user("now")), history[:base], most=100) for base in (100, 102, 150, 152)]

    assert [each[0].text for each in shown] == ["0", "25", "25", "50"]


def test_a_past_that_was_cut_shows_no_kept_thinking() -> None:
    thought = Message(Role.ASSISTANT, (Opaque("p", "m", "{}"), Text("yes")))
    history = [message for number in range(60) for message in (user(str(number)), thought)]

    whole = request_messages(turn(100, user("now")), history, most=100)
    cut = request_messages(turn(120, user("now")), history, most=100)

    assert sum(isinstance(part, Opaque) for message in whole for part in message.parts) == 50
    assert not any(isinstance(part, Opaque) for message in cut for part in message.parts)


def long_past(pairs: int) -> list[Message]:
    """Questions and thoughtful answers."""
    return [each for number in range(pairs) for each in (user(str(number)), bot(str(number), thinks=True))]


def test_of_a_long_past_the_newest_messages_are_shown_from_a_persons_words_on() -> None:
    history = long_past(200)

    sent = request_messages(turn(400, user("now")), history, most=101)

    assert sent[0] == user("150")
    assert len(sent) == 101
    assert sent[-1] == user("now")
    assert not any(isinstance(part, Opaque) for message in sent for part in message.parts)


def test_a_long_past_is_never_cut_between_a_call_and_its_result() -> None:
    called_ = Message(Role.ASSISTANT, (ToolCall("c", "look", "{}"),))
    result = Message(Role.USER, (ToolResult("c", "seen"),))
    history = [each for number in range(30) for each in (user(str(number)), called_, result, bot(str(number)))]
    assert history[50] is result

    sent = request_messages(turn(120, user("now")), history, most=100)

    assert sent == (*history[52:], user("now"))


def test_its_beginning_stays_for_many_messages_so_that_what_is_cached_stays_too() -> None:
    history = long_past(200)

    beginnings = [request_messages(turn(base, user("now")), history, most=100)[0].text for base in range(200, 301, 2)]

    assert beginnings == ["50", *["75"] * 25, *["100"] * 25]


def test_a_past_that_fits_is_shown_whole_with_its_thinking() -> None:
    history = long_past(50)

    assert request_messages(turn(100, user("now")), history, most=100) == (*history, user("now"))


def test_a_past_with_a_small_limit_never_loses_more_than_half_of_it() -> None:
    for base in range(0, 120, 2):
        past = [message for number in range(base // 2) for message in (user(f"{number}"), bot(f"{number}"))]

        shown = request_messages(turn(base, user("now")), past, most=30)

        assert min(base, 15) < len(shown) <= 31


# --- what is too long to be read -----------------------------------------------------------------------------------

LONG, FITTING = "x" * (SHORT_CHARS + 1), "x" * SHORT_CHARS


def exchange(arguments: str, found: str) -> tuple[Message, Message]:
    return (
        Message(Role.ASSISTANT, (ToolCall("c1", "look", arguments),)),
        Message(Role.USER, (ToolResult("c1", found), Text(LONG))),
    )


def test_results_and_arguments_are_shortened_and_words_are_not() -> None:
    called_, answered_ = with_short_results(exchange(LONG, LONG))

    assert called_.calls[0].arguments == "{}"
    result, words = answered_.parts
    assert isinstance(result, ToolResult)
    assert result.text == f"{FITTING}\n[… 1 characters left out …]"
    assert words == Text(LONG)


def test_what_just_fits_is_left_as_it_is() -> None:
    assert with_short_results(exchange(FITTING, FITTING)) == exchange(FITTING, FITTING)


def test_a_message_that_held_nothing_but_thinking_goes_with_it() -> None:
    messages = (user("1"), Message(Role.ASSISTANT, (THOUGHT,)), bot("2", thinks=True))

    assert without_thinking(messages) == (user("1"), bot("2"))


def test_disowned_thinking_keeps_its_place_and_is_no_models_own() -> None:
    ours, theirs = disowned((user("1"), bot("2", thinks=True)))

    assert ours == user("1")
    thought, words = theirs.parts
    assert isinstance(thought, Opaque)
    assert (thought.provider, thought.model) == ("", "")
    assert words == Text("2")


def test_a_turn_that_was_more_than_the_model_reads_leaves_only_beginnings_and_no_thinking_before_it() -> None:
    shown = Message(Role.USER, (Text(LONG), Image("b", "image/png")))
    messages = (shown, bot("一", thinks=True), Message(Role.USER, (Image("b", "image/png"),)))
    unread = Turn("t1", ANN, (Frame(messages, prefix="p"),), base=4, ending=Ending.WINDOW)
    session = replace(EMPTY, turns=(unread,), history_length=4, thinking_from=1, prefix="p")

    reaped = harvest(session)

    assert [message.text for message in reaped.history] == [f"{FITTING}\n[… 1 characters left out …]", "一"]
    assert all(isinstance(part, Text) for message in reaped.history for part in message.parts)
    assert reaped.session.thinking_from == reaped.session.history_length == 6


def test_a_turn_that_was_read_is_history_word_for_word() -> None:
    read = Turn("t1", ANN, (Frame((user(LONG), bot("一"))),), ending=Ending.ANSWERED)

    assert harvest(replace(EMPTY, turns=(read,))).history == (user(LONG), bot("一"))
