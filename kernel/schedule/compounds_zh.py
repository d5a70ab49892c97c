"""Chinese words of two tokens: 明晚, 下周, 每早, 正月|初一."""

from __future__ import annotations

from collections.abc import Iterator

from kernel.schedule.tokens import Kind, words

Part = tuple[Kind, float, str]
"""Kind, number and canonical word of one half."""

K = Kind

_HEADS = {"这": 0, "本": 0, "今": 0, "这一": 0, "上": -1, "上上": -2, "上一": -1, "下": 1, "下一": 1, "下下": 2}
"""Which one is meant, counted from the current one; 个 may follow."""
_PERIODS: dict[Part, str] = {
    (K.UNIT, 7, "w"): "周 星期 礼拜",
    (K.UNIT, 1, "M"): "月",
    (K.UNIT, 3, "Q"): "季度",
    (K.UNIT, 12, "y"): "年",
    (K.WEEKEND, 0, "周末"): "周末 星期末 礼拜末",
}
_YEARS = {"明": 1, "出": 1, "后": 2, "去": -1}

_DAYS = {"今": 0, "明": 1, "昨": -1}
_DAY_PARTS = {"morning": "早 早上 晨 朝", "evening": "晚 晚上 夜 晚黑", "noon": "午 中午"}
_EACH_DAY = ("每", "每天", "每日", "没")
_EACH_PARTS = {"morning": "早 早上 早晨 朝", "evening": "晚 晚上 夜"}

_OTHERS: tuple[tuple[Part, Part, str], ...] = (
    ((K.DAY, 1, "明"), (K.PERIOD, 0, "morning"), "听|朝"),
    ((K.DAY, 1, "明"), (K.PERIOD, 0, "evening"), "听|晚"),
    ((K.DAY, 1, "明"), (K.DAY, 2, "后天"), "明|后天 明|后两天"),
    ((K.DAY, 0, "that"), (K.PERIOD, 0, "evening"), "当|晚"),
    ((K.DAILY, 1, "每"), (K.PERIOD, 0, "morning"), "朝|朝"),
    ((K.DAILY, 1, "每"), (K.PERIOD, 0, "evening"), "晚|晚"),
    ((K.DAILY, 0, "每天"), (K.FILLER, 0, "早中晚"), "每天|早中晚 每日|早中晚 每天|早午晚 每天|早晚各"),
    ((K.HOLIDAY, 0, "除夕"), (K.PERIOD, 0, "evening"), "除夕|夜"),
    ((K.UNIT, 0, "个"), (K.HALF, 30, "半"), "粒|半"),
    ((K.CALL, 0, "告诉"), (K.ME, 0, "我"), "话|我知 话|给我知"),
    ((K.POINT, 0, "点"), (K.GLUE, 0, "搭"), "点|搭 点|踏"),
    ((K.POINT, 0, "点"), (K.HALF, 0, "sharp"), "点|搭正 点|踏正"),
    ((K.POINT, 0, "点"), (K.HALF, 30, "半"), "点|搭半 点|踏半"),
)


def compounds() -> Iterator[tuple[Part, Part, str, str]]:
    """Both tokens of each compound, and the characters of each."""
    for n, digit in enumerate("一二三四五六七八九十", 1):
        yield (K.UNIT, 1, "月"), (K.NUM, n, "lunar"), "月", f"初{digit}"
        if n > 5:
            yield (K.PERIOD, 0, "morning"), (K.NUM, n, "zh"), "朝", digit  # 朝九晚九
        if n > 1:  # 大年初一 is 春节, a word of its own.
            for head in ("大年", "年", "新年", "春节"):
                yield (K.LUNAR, 1, "正月"), (K.NUM, n, "lunar"), head, f"初{digit}"
    for head, n in _HEADS.items():
        for unit, said in _PERIODS.items():
            for word in words(said):
                yield (K.NEXT, n, head), unit, head, word
                yield (K.NEXT, n, head), unit, f"{head}个", word
    for head, n in _YEARS.items():
        yield (K.NEXT, n, head), (K.UNIT, 12, "y"), head, "年"
    for head, n in _DAYS.items():
        for part, said in _DAY_PARTS.items():
            for word in words(said):
                yield (K.DAY, n, head), (K.PERIOD, 0, part), head, word
    for head in _EACH_DAY:
        for part, said in _EACH_PARTS.items():
            for word in words(said):
                yield (K.DAILY, 1, head), (K.PERIOD, 0, part), head, word
    for first, second, listed in _OTHERS:
        for both in words(listed):
            head, word = both.split("|")
            yield first, second, head, word
