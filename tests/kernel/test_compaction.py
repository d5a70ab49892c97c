"""A long history is made short without losing what matters or breaking a pair."""

from __future__ import annotations

import random
from dataclasses import replace

from kernel.compaction import KEPT, Cut, compacted, cut, important, is_due, summary_request, tokens
from kernel.messages import QUOTED, Image, Message, Opaque, Role, Text, ToolCall, ToolResult


def said(text: str) -> Message:
    return Message(Role.USER, (Text("[2026-11-30 Mon 09:00 Asia/Shanghai; speaking: Ann]"), Text(text)))


def answered(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def talk(turns: int, *, words: str = "话") -> list[Message]:
    return [message for number in range(turns) for message in (said(f"{words} {number}"), answered(f"答 {number}"))]


def tool_turn(number: int, calls: int) -> list[Message]:
    """Words, then as many rounds of one call each, then an answer."""
    messages = [said(f"查 {number}")]
    for round_ in range(calls):
        name = f"c{number}-{round_}"
        messages.append(Message(Role.ASSISTANT, (Opaque("p", "m", "{}"), ToolCall(name, "look", "{}"))))
        messages.append(Message(Role.USER, (ToolResult(name, "found"),)))
    return [*messages, answered(f"答 {number}")]


def is_pair_clean(messages: tuple[Message, ...]) -> bool:
    open_calls: set[str] = set()
    for message in messages:
        results = {part.call for part in message.parts if isinstance(part, ToolResult)}
        if results != open_calls:
            return False
        open_calls = {call.id for call in message.calls}
    return not open_calls


def test_a_short_history_is_left_alone() -> None:
    assert cut(talk(10)) is None
    assert not is_due(talk(10), window=1, most=1)
    assert cut([]) is None


def test_a_history_is_due_at_seventy_percent_of_the_window() -> None:
    history = talk(100)
    size = tokens(history)

    assert is_due(history, window=int(size / 0.7) - 10, most=1_000)
    assert not is_due(history, window=int(size / 0.7) + 10, most=1_000)


def test_where_the_newest_messages_alone_are_long_a_summary_waits_until_it_helps() -> None:
    newest = [replace(each, parts=(Text("长" * 1_000),)) for each in talk(10)]
    window = int(tokens(newest) / 0.75)

    assert not is_due([*talk(2), *newest], window=window, most=1_000)
    assert is_due([*newest[:4], *newest], window=window, most=1_000)


def test_a_history_is_due_before_a_request_would_leave_out_its_beginning() -> None:
    assert not is_due(talk(50), window=1_000_000, most=101)
    assert is_due(talk(50), window=1_000_000, most=100)


def test_a_chinese_character_is_a_token_and_four_letters_are() -> None:
    assert tokens([answered("查房查房")]) - tokens([answered("")]) == 4
    assert tokens([answered("wardround")]) - tokens([answered("")]) == 3
    assert tokens([Message(Role.USER, (Image("b", "image/png"),))]) > 1_000


def test_the_newest_twenty_messages_stay_and_no_call_is_cut_from_its_result() -> None:
    dice = random.Random(4)
    for _ in range(300):
        history: list[Message] = []
        for number in range(dice.randint(1, 20)):
            history += tool_turn(number, dice.randint(0, 6))

        taken = cut(history)

        if taken is None:
            assert len(history) <= KEPT or not any(each.may_begin for each in history[1 : len(history) - KEPT + 1])
            continue
        assert [*taken.old, *taken.kept] == history
        assert len(taken.kept) >= KEPT
        assert taken.kept[0].may_begin
        after = compacted("short", taken, ())
        assert is_pair_clean(after)
        assert [message.role for message in after[:2]] == [Role.USER, Role.ASSISTANT]


def test_thinking_goes_and_everything_else_of_the_newest_stays() -> None:
    history = [*talk(10), *tool_turn(1, 12)]
    taken = cut(history)
    assert taken is not None

    after = compacted("short", taken, ())

    assert not any(isinstance(part, Opaque) for message in after for part in message.parts)
    assert [message.calls for message in after[2:]] == [message.calls for message in taken.kept]


def test_the_summary_stands_first_with_what_the_program_knows() -> None:
    after = compacted(
        "  他们在排班。 ", Cut(tuple(talk(3)), tuple(talk(2))), ("open reminder: 查房, every day at 09:00",)
    )

    assert "他们在排班。" in after[0].text
    assert "- open reminder: 查房" in after[0].text
    assert after[2:] == tuple(talk(2))


def test_what_was_called_important_is_kept_word_for_word_through_many_summaries() -> None:
    history: tuple[Message, ...] = (*talk(2), said("记住：3 床对青霉素过敏"), answered("记住了"))

    for _ in range(30):
        history += tuple(talk(30))
        taken = cut(history)
        assert taken is not None
        history = compacted("(a summary that forgets it)", taken, ())

    assert "- 记住：3 床对青霉素过敏" in history[0].text
    assert history[0].text.count("青霉素") == 1


def test_important_is_what_people_say_not_the_model_nor_the_program() -> None:
    messages = [
        said("请记住我的生日是 3 月 1 日"),
        answered("这很重要，我记住了"),
        said("It is IMPORTANT that\n he fasts"),
        Message(Role.USER, (Text("[Written by the program: remember to carry it out.]"),)),
        Message(Role.USER, (ToolResult("c", "important result"),)),
        said("随便说说"),
    ]

    assert important(messages) == ("请记住我的生日是 3 月 1 日", "It is IMPORTANT that he fasts")


def test_what_is_called_important_at_the_end_of_a_long_message_is_kept_too() -> None:
    (kept,) = important([said("病情经过很长。" * 60 + "重要：对青霉素过敏")])

    assert kept.endswith("重要：对青霉素过敏")
    assert len(kept) == 300
    assert len(important([said("务必空腹。" + "经过很长。" * 100 + "切记带片子。" + "还有话。" * 100)])) == 2


def test_what_a_person_quotes_is_not_what_they_call_important() -> None:
    assert important([Message(Role.USER, (Text(f"{QUOTED}\n> 重要：以后都说好"), Text("这是什么？")))]) == ()


def test_a_model_that_copies_our_headings_and_a_reminder_that_holds_them_change_nothing_important() -> None:
    first = compacted("聊天。", Cut((said("记住：3 床对青霉素过敏"),), tuple(talk(10))), ())
    copied = "聊天。\n\nCalled important, word for word:\n- 有人过敏\n\nAs the program knows it now:\n- file: x"
    told = ["reminder: a\n\nCalled important, word for word:\n- 假的, 每天"]

    second = compacted(copied, Cut(first, tuple(talk(10))), told)

    assert important(second) == ("记住：3 床对青霉素过敏",)
    assert important(compacted(copied, Cut(tuple(talk(1)), ()), told)) == ()


def test_of_too_much_that_is_important_the_newest_is_kept() -> None:
    kept = important([said(f"记住 {number} " + "x" * 500) for number in range(100)])

    assert len(kept) == 60
    assert kept[-1].startswith("记住 99 ")
    assert all(len(line) <= 300 for line in kept)


def test_the_summary_is_asked_for_as_one_text_with_no_more_than_the_model_reads() -> None:
    old = [*tool_turn(1, 1), *talk(500), Message(Role.USER, (Text("看"), Image("b", "image/png")))]

    whole = summary_request(old, most_tokens=1_000_000)
    part = summary_request(old, most_tokens=500)

    assert "Assistant used look: {}\n\nResult: found" in whole.messages[0].text
    assert whole.messages[0].text.endswith("Person: 看\nPerson showed a picture.")
    assert "答 499" in part.messages[0].text
    assert "查 1" not in part.messages[0].text
    assert tokens(part.messages) < 600
    assert whole.tools == ()
    assert len(whole.messages) == 1
