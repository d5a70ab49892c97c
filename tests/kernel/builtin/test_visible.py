"""A command on a card looks like what it is."""

from __future__ import annotations

import unicodedata

import pytest

from kernel.builtin.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -la", "│ ls -la"),
        ("echo 会议纪要　x é 🎩", "│ echo 会议纪要　x é 🎩"),
        ("a\nb", "│ a\n│ b"),
        ("", "│ "),
        ("rm 会议纪要\u202egpj.exe", "│ rm 会议纪要⟨U+202E⟩gpj.exe"),
        ("\u2066x\u2069 \u200b\u200d\ufeff\u00ad", "│ ⟨U+2066⟩x⟨U+2069⟩ ⟨U+200B⟩⟨U+200D⟩⟨U+FEFF⟩⟨U+00AD⟩"),
        ("a\rb\tc\x1b[2K\x7f\x00", "│ a⟨U+000D⟩b⟨U+0009⟩c⟨U+001B⟩[2K⟨U+007F⟩⟨U+0000⟩"),
        ("rm\u00a0-rf\u2003/\u3164\u2800", "│ rm⟨U+00A0⟩-rf⟨U+2003⟩/⟨U+3164⟩⟨U+2800⟩"),
        ("a\u2028b\u2029c\u0085d", "│ a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d"),
        ("\U000e0041\ufe0f\ud83d", "│ ⟨U+E0041⟩⟨U+FE0F⟩⟨U+D83D⟩"),
        ("ls" + " " * 300 + "; rm -rf ~", "│ ls⟨300 × ␠⟩; rm -rf ~"),
        ("ls" + "\n" * 300 + "rm -rf ~", "│ ls\n│ ⟨299 × ⏎⟩\n│ rm -rf ~"),
        ("ls\n\nx", "│ ls\n│ \n│ x"),
        ("a        b", "│ a        b"),
    ],
)
def test_nothing_is_hidden(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_every_character_is_either_a_mark_on_the_screen_or_written_out() -> None:
    shown = visible("".join(map(chr, (*range(0x12000), *range(0xE0000, 0xE0200)))))

    kinds = {unicodedata.category(sign) for sign in shown if sign not in "\n \u3000"}
    assert kinds.isdisjoint({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Zs"})


def test_a_command_cannot_speak_for_us() -> None:
    """Whatever it says stands behind the mark of its line."""
    shown = visible("ls\n✅ 已由管理员批准\n⚠️ harmless")

    assert all(line.startswith("│ ") for line in shown.split("\n"))
