"""Reads weekdays as Chinese writes them: 周一三五, 星期天, 礼拜1, 周二、四和六, 周135."""

from __future__ import annotations

_HEADS = ("星期", "礼拜", "周", "拜")
_DAYS = {c: i for i, c in enumerate("一二三四五六日")} | {"天": 6} | {str(i): i - 1 for i in range(1, 8)}
_JOINTS = frozenset("、,和跟及")
_NOT_A_DAY_BEFORE = frozenset("次回遍个年月岁期点时十百")
"""The last numeral then belongs to a clock time (周一三点) or names no weekday at all (一周一次)."""
_AFTER_DIGITS = frozenset("0123456789:.点时号日月年分/-")


def weekdays_at(text: str, i: int) -> tuple[list[int], int] | None:
    """The weekdays (0 = Monday) whose name starts at `i`, and the place after them; None when none do."""
    head = next((h for h in _HEADS if text.startswith(h, i)), "")
    if not head or (head == "拜" and text[i - 1 : i] == "礼"):
        return None
    k = i + len(head)
    if text[k : k + 1] == "的":
        return None
    run = _run_of_digits(text, k)
    if run:
        return [_DAYS[digit] for digit in run], k + len(run)
    return _without_clock(text, *_listed(text, k))


def _run_of_digits(text: str, k: int) -> str:
    """The 135 of 周135: three or more ascending digits that no clock time or date goes on with."""
    j = k
    while j < len(text) and "1" <= text[j] <= "7" and (j == k or text[j - 1] < text[j]):
        j += 1
    return text[k:j] if j - k >= 3 and text[j : j + 1] not in _AFTER_DIGITS else ""


def _listed(text: str, k: int) -> tuple[list[int], int]:
    days: list[int] = []
    end = k
    in_list = False  # 周2、4: a digit after the comma is one more day
    while k < len(text) and len(days) < 7:
        c, follow = text[k], text[k + 1 : k + 2]
        if c.isdigit() and ((days and not in_list) or follow.isdigit() or follow == ":"):
            break
        if c in _DAYS and not (days and c in "日天" and follow in ("后", "的")):
            days.append(_DAYS[c])
            in_list = c.isdigit() and follow in _JOINTS and follow != ""
            end = k + 1
        elif not (days and _joins(c, follow, text[k + 2 : k + 3])):
            break
        k += 1
    return days, end


def _joins(c: str, follow: str, after: str) -> bool:
    """A comma or "and" that goes on to a further day; 日 and 天 also begin other words (周一、天天)."""
    if c not in _JOINTS or follow not in _DAYS:
        return False
    if follow in ("日", "天"):
        return c in "和跟及" or (c == "、" and after != "天")
    return True


def _without_clock(text: str, days: list[int], end: int) -> tuple[list[int], int] | None:
    follow = text[end : end + 1]
    if days and follow and follow in _NOT_A_DAY_BEFORE:
        if len(days) == 1 and follow in "点时":
            return None
        if follow != "十" or len(days) > 1:
            days.pop()
            end -= 1
            while text[end - 1] in _JOINTS:
                end -= 1
    return (days, end) if days else None
