"""The table of keys, and how ids become harmless pieces of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.chat import ConversationId
from kernel.stores import keys

ANYTHING = st.text(st.characters(codec=None), max_size=20)


@given(ANYTHING, ANYTHING, ANYTHING)
def test_a_conversation_comes_back_from_its_piece(platform: str, chat: str, thread: str) -> None:
    conversation = ConversationId(platform, chat, thread)

    assert keys.conversation_of(keys.conversation_piece(conversation)) == conversation


@given(ANYTHING)
def test_a_piece_has_no_sign_that_means_something(piece: str) -> None:
    encoded = keys.encoded(piece)

    assert not set(encoded) & set(":*?[]^\\| \n\r\0|")
    assert encoded.isascii()
    assert keys.decoded(encoded) == piece


@given(ANYTHING, ANYTHING)
def test_two_conversations_never_share_a_piece(chat: str, thread: str) -> None:
    one, other = ConversationId("p", chat, thread), ConversationId("p", f"{chat}:{thread}", "")

    assert keys.conversation_piece(one) != keys.conversation_piece(other)


def test_every_kind_of_key_is_told_apart() -> None:
    assert len({key.word for key in keys.KEYS}) == len(keys.KEYS)
    for key in keys.KEYS:
        pieces = [
            part
            for each in key.pieces.split(":")
            if each
            for part in ("a:b", "*", "c")[: 3 if each == "conversation" else 1]
        ]
        assert keys.key_of(key.of(*pieces)) is key


@pytest.mark.parametrize("name", ["z:", "z:unheard", "z:s:a:b", "z:s:a:b:c:d", "z:ready:x", "s:a:b:c", "z:seen:a:b c"])
def test_other_names_are_in_no_table(name: str) -> None:
    assert keys.key_of(name) is None


def test_every_key_has_a_bound_in_words() -> None:
    assert all(key.bound for key in keys.KEYS)
