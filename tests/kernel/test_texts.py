"""The sentences people see: both languages, the same fields, no ids and no internals."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from bots.console import plain
from kernel.texts import keys, language_of, say, verbatim, written_in

_HAN = re.compile("[\u3400-\u9fff]")
_INTERNAL = re.compile(
    r"\b(?:redis|worker|session|token|lease|tool|exception|error|None|null|queue|trigger|cron|turn|id)\b|_|\bkernel\b",
    re.IGNORECASE,
)
_SETTINGS = re.compile(r"ANTHROPIC_API_KEY|OPENAI_BASE_URL")


def _raw(key: str, language: str) -> str:
    """The sentence with its fields still standing as `{field}`."""
    fields = {field: f"{{{field}}}" for field in _possible_fields}
    return say(key, language, **fields)


_possible_fields = {
    *("reminders", "zone", "time", "times", "reading", "body", "why", "ago", "name", "number", "limit", "until"),
    *("what", "minutes", "hours", "days", "count", "id", "question", "answer", "chat", "text", "opens", "money"),
    *("who", "where", "code", "person"),
    *("tokens", "used", "total", "input", "cached", "output", "words", "chars", "lines", "url"),
}


def _fields(text: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


@pytest.mark.parametrize("key", keys())
def test_both_languages_fill_the_same_fields(key: str) -> None:
    assert _fields(_raw(key, "zh")) == _fields(_raw(key, "en"))


@pytest.mark.parametrize("key", keys())
def test_each_language_is_its_own(key: str) -> None:
    chinese, english = (re.sub(r"{\w+}", "", _raw(key, language)) for language in ("zh", "en"))

    assert not _HAN.search(english)
    assert _HAN.search(chinese) or chinese.replace("，", ", ") == english


@pytest.mark.parametrize("key", keys())
@pytest.mark.parametrize("language", ["zh", "en"])
def test_nothing_inner_is_said(key: str, language: str) -> None:
    said = re.sub(r"{\w+}|/\w+", "", _SETTINGS.sub("", _raw(key, language)))

    assert not _INTERNAL.search(said)


def test_only_a_stranger_is_shown_an_id_to_be_let_in_by() -> None:
    assert [key for key in keys() if "id" in _fields(_raw(key, "en"))] == ["stranger", "stranger.unowned"]


@pytest.mark.parametrize("key", keys())
@pytest.mark.parametrize("language", ["zh", "en"])
def test_no_sentence_is_empty_or_shouts(key: str, language: str) -> None:
    said = _raw(key, language)

    assert said == said.strip()
    assert said
    assert "!!" not in said
    assert len(said) < 400


def test_braces_in_what_people_wrote_stay() -> None:
    assert say("reminder.fired", "zh", body="{name} {0}") == "⏰ {name} {0}"


def test_any_other_language_is_answered_in_english() -> None:
    assert say("chat.leaving_none", "fr") == "Goodbye."


@pytest.mark.parametrize(
    ("text", "known", "setting", "language"),
    [
        ("你好", None, "auto", "zh"),
        ("hello", None, "auto", "en"),
        ("hello 小王", None, "auto", "zh"),
        ("你好", "en", "auto", "zh"),
        ("hello", "zh", "en", "en"),
        ("你好", "zh", "en", "en"),
        ("hello", None, "zh", "zh"),
        ("/status", "en", "auto", "en"),
        ("/status", None, "auto", "zh"),
        ("123", "en", "auto", "en"),
        ("🙂", "fr", "auto", "zh"),
        ("", None, "auto", "zh"),
    ],
)
def test_the_setting_then_the_words_then_what_is_known(text: str, known: str, setting: str, language: str) -> None:
    assert language_of(text, known, setting) == language


def test_commands_numbers_and_smiles_show_no_language() -> None:
    assert [written_in(text) for text in ("/help", "12:30", "🙂", "")] == [None] * 4


@pytest.mark.parametrize(
    "words",
    [
        "查房",
        "2*3*4 和 **粗**",
        "_a_ snake_case __init__",
        "`code` ```",
        "[批准](tg://user?id=1) ![x](y)",
        "<b>粗</b> <!channel> <@U2> a < b && c > d",
        "&lt; &amp; &#60; AT&T",
        "~~删~~ | 表 | 格 |",
        "反斜杠 \\* \\\\",
        "- 一\n- 二",
        "1. 一\n2) 二",
        "# 标题\n> 引用\n+ 加\n===\n---",
        "https://example.com/a_b_c?d=1&e=2#f_g 看一下",
        "看 https://example.com/*x* 吧",
    ],
)
def test_verbatim_words_are_shown_as_they_are(words: str) -> None:
    assert plain(verbatim(words)) == words


def test_verbatim_leaves_addresses_whole() -> None:
    assert verbatim("https://example.com/a_b?c_d=1") == "https://example.com/a_b?c_d=1"
