"""The holidays and the places with a time of their own that Chinese messages name."""

from __future__ import annotations

from kernel.schedule.tokens import Kind, words

_HOLIDAYS = {
    "元旦": "元旦 元旦节",
    "情人节": "情人节",
    "妇女节": "妇女节 三八 三八节",
    "植树节": "植树节",
    "愚人节": "愚人节",
    "劳动节": "劳动节 五一 五一节",
    "青年节": "青年节",
    "儿童节": "儿童节 六一 六一节",
    "建党节": "建党节",
    "建军节": "建军节 八一",
    "教师节": "教师节",
    "国庆": "国庆 国庆节 十一国庆",
    "平安夜": "平安夜",
    "圣诞": "圣诞 圣诞节",
    "万圣节": "万圣节",
    "光棍节": "光棍节 双十一 双11",
    "双十二": "双十二 双12",
    "跨年夜": "跨年夜 跨年那天 跨年当天",
    "春节": "春节 大年初一 年初一 正月初一",
    "除夕": "除夕 除夕夜 大年三十 年三十",
    "元宵": "元宵 元宵节",
    "端午": "端午 端午节",
    "七夕": "七夕 七夕节",
    "中元": "中元节",
    "中秋": "中秋 中秋节",
    "重阳": "重阳 重阳节",
    "腊八": "腊八 腊八节",
    "小年": "小年",
    "清明": "清明 清明节",
    **{
        term: f"{term} {term}节气" for term in words("立春 春分 惊蛰 谷雨 立夏 夏至 芒种 立秋 秋分 霜降 立冬 冬至 处暑")
    },
    **{
        term: f"{term}节气 {term}那天 {term}当天 {term}当日"
        for term in words("小寒 大寒 雨水 小满 小暑 大暑 白露 寒露 小雪 大雪")
    },
    "母亲节": "母亲节",
    "父亲节": "父亲节",
    "感恩节": "感恩节",
    "复活节": "复活节",
}
_ON_THE_DAY = ("", "当天", "那天", "当日")

_PLACES = {
    "Asia/Shanghai": "北京 上海 中国 东八区",
    "Asia/Hong_Kong": "香港",
    "Asia/Taipei": "台北 台湾",
    "Asia/Tokyo": "东京 日本",
    "Asia/Seoul": "首尔 韩国",
    "Asia/Singapore": "新加坡",
    "Asia/Bangkok": "曼谷 泰国",
    "Asia/Dubai": "迪拜",
    "Asia/Kolkata": "印度 新德里 孟买",
    "Europe/London": "伦敦 英国",
    "Europe/Paris": "巴黎 法国",
    "Europe/Berlin": "柏林 德国",
    "Europe/Moscow": "莫斯科",
    "Europe/Zurich": "苏黎世 瑞士",
    "America/New_York": "纽约 美东 美国东部 波士顿 华盛顿 多伦多",
    "America/Chicago": "芝加哥 美中",
    "America/Los_Angeles": "洛杉矶 旧金山 美西 西雅图 加州 太平洋 硅谷",
    "Australia/Sydney": "悉尼",
    "Australia/Melbourne": "墨尔本",
    "Pacific/Auckland": "奥克兰 新西兰",
    "UTC": "世界 协调世界 格林威治 格林尼治 世界标准 utc gmt",
}
_COUNTRIES = frozenset(words("中国 日本 世界"))
"""去日本时 is "when going to Japan", no zone."""


def _named() -> tuple[tuple[Kind, float, str, str], ...]:
    found: list[tuple[Kind, float, str, str]] = []
    for name, said in _HOLIDAYS.items():
        found.extend((Kind.HOLIDAY, 0, name, word + day) for word in words(said) for day in _ON_THE_DAY)
    for zone, places in _PLACES.items():
        for place in words(places):
            ends = ("时间", "当地时间") if place in _COUNTRIES else ("时间", "时", "当地时间")
            found.extend((Kind.ZONE, 0, zone, place + end) for end in ends)
    return tuple(found)


NAMES = _named()
"""Kind, number, canonical word and the word, as in the table of words."""
