"""Numbers for buttons: one stands for one button, whatever came after it."""

from __future__ import annotations

from bots.numbers import Button, Numbers
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
    assert numbers.is_spent("1")
    assert not numbers.is_spent("3")


def test_after_other_words_a_spent_number_is_a_word_again() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)
    numbers.spend("a")

    numbers.speech()

    assert not numbers.is_spent("1")


def test_a_prompt_that_changes_gets_new_numbers() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)

    assert numbers.give(HERE, "a", YES_NO[:1]) == (3,)

    assert numbers.is_spent("2")
    assert numbers.pressed("3") == Button(HERE, "a", "yes")


def test_after_999_numbers_begin_anew_and_pass_over_those_still_in_use() -> None:
    numbers = Numbers()
    numbers.give(HERE, "kept", YES_NO)
    for round_ in range(498):
        numbers.give(HERE, "passing", YES_NO)
        numbers.spend("passing")
        assert round_ < 497 or numbers.is_spent("998")

    assert numbers.give(HERE, "last", YES_NO) == (999, 3)
    assert numbers.pressed("1") == Button(HERE, "kept", "yes")
    assert not numbers.is_spent("3")


def test_a_number_may_be_typed_in_the_ways_of_people() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)

    pressed = {numbers.pressed(text) for text in ("2", "２", "2.", "2、", "（2）", "[2]", "2 。")}

    assert pressed == {Button(HERE, "a", "no")}


def test_words_are_no_numbers() -> None:
    numbers = Numbers()
    numbers.give(HERE, "a", YES_NO)

    assert [numbers.pressed(text) for text in ("", "²", "-1", "1.5", "1 2", "0001", "one", "1床")] == [None] * 8
