from __future__ import annotations

import pytest

from kernel.providers.thinking_tags import WithoutThinking


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<think>\nlet me see\n</think>\n\n你好", "你好"),
        ("\n<think></think>你好", "你好"),
        ("你好，<think> 是标签</think>", "你好，<think> 是标签</think>"),
        ("<th", "<th"),
        ("<thin air>", "<thin air>"),
        ("<think>never closed", ""),
        ("<think>a</think> b </think> c", "b </think> c"),
        ("  two blanks", "  two blanks"),
        ("", ""),
    ],
)
def test_thinking_at_the_head_is_not_shown(said: str, shown: str, size: int) -> None:
    words = WithoutThinking()

    heard = [words.hear(said[start : start + size]) for start in range(0, len(said), size)]

    assert "".join(heard) + words.rest() == shown
