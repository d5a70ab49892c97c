"""Chinese numerals: 两, 十五, 二〇二六, 三十一."""

from __future__ import annotations

DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2, "仨": 3}
NUMERALS = frozenset(DIGITS) | frozenset("十百千廿卅")


def zh_number(run: str) -> tuple[float, str]:
    """The value of a run of Chinese numerals and how it was said: "zh", or "approx" for 三四 (three or four)."""
    if len(run) > 1 and all(c in DIGITS for c in run):
        value = 0
        for c in run:
            value = value * 10 + DIGITS[c]
        if len(run) == 2 and DIGITS[run[0]] and DIGITS[run[1]]:
            return value, "approx"  # 三四, 三五: said of a rough number.
        return value, "digits"
    total, section, last = 0, 0, ""
    for c in run:
        if c in DIGITS:
            section = DIGITS[c]
        elif c in "廿卅":
            total += 20 if c == "廿" else 30
            section = 0
        else:
            scale = {"十": 10, "百": 100, "千": 1000}[c]
            total += (section or 1) * scale
            section = 0
        last = c
    how = "zh"
    if len(run) > 1 and last == "零":
        how = "approx"  # 十零分钟: ten and a few
    if len(run) >= 3 and last in DIGITS and run[-2] in DIGITS and run[-2] != "零":
        how = "approx"
    return total + section, how
