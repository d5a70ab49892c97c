"""Numbers for buttons: one stands for one button, whatever came after it."""

from __future__ import annotations

from bots.numbers import Button, Numbers, Refused
from kernel.chat import Choice, ConversationId

HERE = ConversationId("console", "terminal")
YES_NO = (Choice("yes", "Yes"), Choice("no", "No"))


def test_numbers_go_on_from_prompt_to_prompt() -> None:
    numbers = Numbers()

    assert numbers.give(HERE, "a", YES_NO) == (1, 2)
    assert numbers.give(HERE, "b", YES_NO) == (3, 4)
    assert numbers.pressed("2") == Button(HERE, "a", "no")
    assert numbers.pressed("3") == Button(HERE, "b", "yes")
    assert numbers.pressed("5") is None


def test_a_spent_number_presses_nothing_not_even_what_came_up_meanwhile() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)

    numbers.spend("a")
    numbers.give(HERE, "b", YES_NO)

    assert numbers.pressed("1") is None
    assert numbers.refused("1") is Refused.GONE
    assert numbers.refused("3") is None


def test_after_other_words_a_spent_number_is_a_word_again_until_buttons_come() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)
    numbers.spend("a")

    numbers.speech()
    assert numbers.refused("1") is None

    numbers.give(HERE, "b", YES_NO)
    assert numbers.refused("1") is Refused.GONE


def test_a_number_typed_twice_is_no_answer_to_what_was_said_before_the_press() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)
    numbers.speech()

    numbers.give(HERE, "a", ())

    assert numbers.refused("1") is Refused.GONE


def test_a_number_that_no_button_ever_had_is_refused_while_buttons_are_the_newest() -> None:
    numbers = Numbers()
    assert numbers.refused("9") is None

    numbers.give(HERE, "a", YES_NO)
    assert [numbers.refused(text) for text in ("9", "９", "9.", "（9）", "0")] == [Refused.UNKNOWN] * 5
    assert [numbers.refused(text) for text in ("9点", "2026", "nine")] == [None] * 3

    numbers.speech()
    assert numbers.refused("9") is None
    numbers.give(HERE, "b", YES_NO)
    numbers.spend("a")
    numbers.spend("b")
    assert numbers.refused("9") is None


def test_the_end_of_another_card_takes_no_question_away() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)
    numbers.give(HERE, "b", YES_NO)
    numbers.speech()

    numbers.give(HERE, "a", ())

    assert numbers.refused("9") is None


def test_open_numbers_are_told_in_runs() -> None:
    numbers = Numbers()
    for token in "abc":
        numbers.give(HERE, token, YES_NO)
    assert numbers.open_ones() == "1–6"

    numbers.give(HERE, "b", YES_NO[:1])
    numbers.spend("c")

    assert numbers.open_ones() == "1–2, 7"


def test_a_prompt_that_changes_gets_new_numbers() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)

    assert numbers.give(HERE, "a", YES_NO[:1]) == (3,)

    # Nothing may be decided yet: a request that was put aside can be taken up again.
    assert numbers.refused("2") is Refused.UNKNOWN
    assert numbers.pressed("3") == Button(HERE, "a", "yes")


def test_after_999_numbers_begin_anew_and_pass_over_those_still_in_use() -> None:
    numbers = Numbers()
    numbers.give(HERE, "kept", YES_NO)
    for round_ in range(498):
        numbers.give(HERE, "passing", YES_NO)
        numbers.spend("passing")
        assert round_ < 497 or numbers.refused("998") is Refused.GONE

    assert numbers.give(HERE, "last", YES_NO) == (999, 3)
    assert numbers.pressed("1") == Button(HERE, "kept", "yes")
    assert numbers.refused("3") is None


def test_a_number_may_be_typed_in_the_ways_of_people() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)

    pressed = {numbers.pressed(text) for text in ("2", "２", "2.", "2、", "（2）", "[2]", "2 。")}

    assert pressed == {Button(HERE, "a", "no")}


def test_words_are_no_numbers() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)

    assert [numbers.pressed(text) for text in ("", "²", "-1", "1.5", "1 2", "0001", "one", "1床")] == [None] * 8
