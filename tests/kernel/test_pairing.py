"""A pairing code: how it looks, and where it stands in what people send."""

from __future__ import annotations

import pytest

from kernel.pairing import CODE_LENGTH, code_in, new_code


def test_a_code_is_found_in_a_message_that_is_nothing_else() -> None:
    for _ in range(200):
        code = new_code()

        assert len(code) == CODE_LENGTH
        assert [code_in(text) for text in (code, code.lower(), f" {code}\n", f"/pair {code}", f"/start  {code}")] == [
            code
        ] * 5


@pytest.mark.parametrize(
    "text", ["abcd 2345", "ABCD-2345", "`ABCD2345`", "“ABCD2345”", "「ABCD2345」", "ABCD2345.", "/pair abcd 2345"]
)
def test_it_is_found_as_people_copy_it_or_read_it_out(text: str) -> None:
    assert code_in(text) == "ABCD2345"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "你好",
        "/pair",
        "/start",
        "ABCDEFGH",  # a word, for all we know: there is no digit in it
        "ABCD234",
        "ABCD23456",
        "ABCD234O",  # signs that people take for one another are in none
        "ABCD2341",
        "ABC D2345",
        "AB CD 23 45",
        "ABCD  2345",
        "ABCD2345!",
        "code: ABCD2345",
        "/new ABCD2345",
        "ABCD2345\nABCD2346",
        "ＡＢＣＤ２３４５",
        "ABCD234٥",
    ],
)
def test_everything_else_is_no_code(text: str) -> None:
    assert code_in(text) is None


def test_no_two_codes_are_alike() -> None:
    assert len({new_code() for _ in range(500)}) == 500
