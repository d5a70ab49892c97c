"""Whose notes are kept where, and the list from which people forget them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.changes import Changes
from kernel.chat import Prompt, PromptClosed
from kernel.errors import BadRecord
from kernel.memories import KIND, LISTED, listing, on_press, read, shelf_of
from kernel.ports import Forget, PromptRecord, Shelf
from tests.kernel.reminders.words import HERE, desk, pressed, said

ANNS = Shelf("twin", "1001", is_private=True)
NOTES = ("对青霉素过敏", "2*3 is [six]", "likes tea")


def test_a_private_note_is_the_persons_and_any_other_the_chats() -> None:
    assert shelf_of(HERE, "1001", is_private=True) == ANNS
    assert shelf_of(HERE, "1001", is_private=False) == Shelf("twin", HERE.chat, is_private=False)
    assert shelf_of(replace(HERE, thread="7"), "x", is_private=False) == shelf_of(HERE, "y", is_private=False)


def test_the_list_shows_the_newest_first_as_they_are_with_a_button_each() -> None:
    changes = listing(desk(), ANNS, NOTES)

    (prompt,) = changes.outbound
    assert isinstance(prompt, Prompt)
    assert prompt.text.splitlines()[1:] == ["1. likes tea", "2. 2\\*3 is \\[six\\]", "3. 对青霉素过敏"]
    assert [choice.label for choice in prompt.choices] == ["忘记 1", "忘记 2", "忘记 3"]
    assert read(changes.prompts[0]).texts == ("likes tea", "2*3 is [six]", "对青霉素过敏")


def test_a_long_list_is_several_cards_with_numbers_that_go_on() -> None:
    notes = [f"fact {number}" for number in range(50)]

    changes = listing(desk("en"), ANNS, notes)

    cards = [each for each in changes.outbound if isinstance(each, Prompt)]
    assert [len(card.choices) for card in cards] == [LISTED, LISTED, 10]
    assert cards[2].text.splitlines()[0] == "41. fact 9"
    assert cards[2].choices[0].label == "Forget 41"
    assert read(changes.prompts[2]).texts[0] == "fact 9"


def test_an_empty_list_says_how_to_fill_it() -> None:
    assert said(listing(desk(), ANNS, ())).startswith("我还没有记住什么")


def card() -> PromptRecord:
    return listing(desk(), ANNS, NOTES).prompts[0]


def test_a_press_forgets_that_note_and_says_so() -> None:
    record = card()

    changes = on_press(record, read(record), pressed("1"), NOTES)

    closed = PromptClosed(HERE, record.token, "已忘记：2\\*3 is \\[six\\]")
    assert changes == Changes(outbound=(closed,), memories=(Forget(ANNS, "2*3 is [six]"),))


def test_a_press_on_what_is_gone_changes_nothing_and_says_so() -> None:
    record = card()

    changes = on_press(record, read(record), pressed("0"), NOTES[:2])

    assert changes is not None
    assert changes.memories == ()
    assert [each.text for each in changes.outbound] == ["「likes tea」已经不在了。"]


@pytest.mark.parametrize("choice", ["3", "-1", "", "x", "٣", "999999"])
def test_a_button_that_was_never_there_does_nothing(choice: str) -> None:
    record = card()

    assert on_press(record, read(record), pressed(choice), NOTES) is None


@pytest.mark.parametrize("data", ["", "[]", "{}", '{"owner":"1"}', "null"])
def test_a_record_of_unknown_shape_is_refused(data: str) -> None:
    with pytest.raises(BadRecord):
        read(PromptRecord("t", HERE, KIND, data))
