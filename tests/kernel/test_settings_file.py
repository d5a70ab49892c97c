"""A file that cannot be read: one line with the place, what was expected, and nothing of what stands in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.errors import BadSettings
from kernel.settings_file import load


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("lang = zh", "(line 1, column 8): Invalid value. Text stands in quotes"),
        ('log = "info"\ntelegram_bot_token = 123:abc', "(line 2, column 25): Expected newline"),
        ("telegram_bot_token = 123:abc", "Text stands in quotes"),
        ("allow = [telegram:1001]", "(line 1, column 10): Invalid value. Text stands in quotes"),
        ("lang = “zh”", "Quotes are straight ones"),
        ("lang =\n", "Behind = there must be something"),
        ("lang: zh", "(line 1, column 5): Expected '=' after a key in a key/value pair. A line is a name"),
        ('lang = "zh\nlog = "info"', "(line 1, column 11): Illegal character '\\\\n'. A quote is missing."),
        ('lang = "zh', "A quote is missing."),
        ('lang = "zh"\nlang = "en"', "A name may stand there once only."),
        ('lang = "zh" en', "(line 1, column 13): Expected newline or end of document after a statement."),
    ],
)
def test_a_line_that_cannot_be_read_is_told_with_its_place_and_what_to_write(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "zclaw.toml"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(BadSettings) as refused:
        load(path)

    assert str(refused.value).startswith(f"{path} cannot be read (")
    assert said.replace("\\\\", "\\") in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", ["key = sk-canary", 'key = "sk-canary', "sk-canary", "sk-canary=", "[sk-canary"])
def test_what_stands_in_the_file_is_not_repeated(tmp_path: Path, content: str) -> None:
    path = tmp_path / "zclaw.toml"
    path.write_text(content)

    with pytest.raises(BadSettings) as refused:
        load(path)

    assert "canary" not in str(refused.value)


def test_a_mark_that_an_editor_puts_in_front_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "zclaw.toml"
    path.write_bytes("\ufefflang = 'zh'\n".encode())

    assert load(path) == {"lang": "zh"}
