"""Finds where a mention ends: @小李, #ops, <@U024BE7LH>."""

from __future__ import annotations

from kernel.schedule.tokens import words

_LONGEST_NAME, _LONGEST_LINK = 32, 60
_AFTER_NAME = tuple(
    words("每 明天 今天 后天 今晚 提醒 下午 上午 早上 晚上 周 星期 记得 请 帮 去 交 开会 参加 提交 下周 麻烦")
)
"""Words that end a name written without a blank behind it (@小李明天开会)."""


def mention_end(text: str, i: int) -> int | None:
    """The place after the mention that starts at `i` (with @, # or <); None when there is none."""
    if text[i] == "<":
        end = text.find(">", i, i + _LONGEST_LINK)
        return end + 1 if end >= 0 and text[i + 1 : i + 2] in "@#!" else None
    j = i + 1
    while (
        j < len(text)
        and j - i <= _LONGEST_NAME
        and (text[j].isalnum() or text[j] in "_-.")
        and not text.startswith(_AFTER_NAME, j)
    ):
        j += 1
    while j > i + 1 and text[j - 1] in ".-":
        j -= 1
    return None if j == i + 1 or text[i + 1].isdigit() else j
