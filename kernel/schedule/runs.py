"""Recognises work the assistant is asked to do later: a time, then an order (每天早上8点帮我搜…)."""

from __future__ import annotations

from kernel.schedule.choose import Group, soft
from kernel.schedule.clocks import at
from kernel.schedule.plan import gather
from kernel.schedule.tokens import Kind, Token, words

K = Kind

_MACHINE = frozenset(
    words(
        "搜 搜索 搜一下 抓取 爬取 爬 备份 运行 执行 推送 播报 监控 生成 同步 部署 重启 查询 "
        "查一下 查查 搜集 收集 汇总 拉取 统计 采集 归档 扫描 巡检 监测 转发 导出 更新 自动 汇报"
    )
)
_TO_ME = frozenset(words("我 我们 大家 群 群里 一下 一次 一遍 自动 频道 咱 本群"))
_FEEDS = tuple(
    words(
        "新闻 天气 聊天记录 热搜 股价 行情 汇率 服务器 网站 日志 竞品 舆情 文献 论文 资讯 简报 "
        "比分 航班 库存 监控 群消息 未读"
    )
)
_FEED_VERBS = frozenset(
    words(
        "发 发送 推 推送 总结 汇总 整理 搜 查 检查 抓 收集 生成 统计 分析 翻译 播报 汇报 列出 更新 监控 报 播 查看 盯"
    )
)
_STRONG_EN = frozenset(
    words(
        "back check summarise summarize collect compile fetch gather pull monitor generate backup scan "
        "scrape crawl digest recap analyse analyze track verify report translate deploy restart "
        "sync update export archive quiz list search look post publish tweet announce brief "
        "measure query validate audit tell draft review watch count"
    )
)
_IN_ORDERS = frozenset(words("什么 哪些 what which how where whether is was are were has do"))
"""Question words that an order may hold (每天8点看看有什么新闻)."""
_OPEN_IN_ORDERS = frozenset(words("有没有 是否 是不是 能不能 对不对 多少 几 哪个 谁"))
"""Those that only an order to look may hold (检查一下网站是不是正常)."""
_BLOCKED = frozenset({K.QUESTION, K.SAID, K.DONE})


def order_after(groups: list[Group], tokens: list[Token], folded: str, *, english: bool) -> Group | None:
    """The group of phrases that opens a message and is followed by an order to the assistant."""
    if not groups:
        return None
    first = groups[0]
    lead = tokens[: first.i]
    if not soft(tokens, 0, first.i):
        return None
    plan = gather(first.phrases)
    helped = any(t.kind is K.HELP for t in lead)
    k = first.j
    while k < len(tokens) and (
        tokens[k].kind in (K.FILLER, K.POLITE, K.HELP, K.AT, K.HABIT) or tokens[k].word in (",", "\n", ":", "to")
    ):
        helped |= tokens[k].kind is K.HELP
        k += 1
    verb = at(tokens, k)
    looks = verb.kind in (K.AGENT, K.NOW, K.LIST)
    asked = (t.word for t in tokens[k:] if t.kind is K.QUESTION and t.word not in _IN_ORDERS)
    if any(not (looks and word in _OPEN_IN_ORDERS) for word in asked) and not helped:
        return None
    if _asks_back(tokens) and not any(t.kind is K.POLITE for t in tokens):
        return None
    if english:
        return first if _english_order(tokens[k:]) and plan.has_time else None
    fed = verb.word in _FEED_VERBS and _feeds(folded)
    if not fed and not _chinese_order(tokens[k:], helped=helped):
        return None
    return first if plan.has_time or (helped and plan.is_series) else None


def _feeds(folded: str) -> bool:
    """What only the assistant would fetch: news, prices, logs."""
    return any(noun in folded for noun in _FEEDS)


def _asks_back(tokens: list[Token]) -> bool:
    last = next((t for t in reversed(tokens) if t.kind is not K.PUNCT), None)
    return bool(last and last.kind is K.QUESTION and last.word in ("吗", "么", "呢")) or tokens[-1].word == "?"


def _chinese_order(rest: list[Token], *, helped: bool) -> bool:
    verb = at(rest, 0)
    if verb.kind in (K.PERSON, K.YOU) or verb.kind in _BLOCKED or verb.kind is K.OF:
        return False
    if any(t.kind is K.DONE and not t.word.endswith(("没有", "没")) for t in rest):
        return False
    acts = verb.kind in (K.AGENT, K.NOW, K.LIST, K.SAID) or verb.word in _MACHINE
    if helped:
        return verb.kind is not K.PUNCT and bool(rest)
    if not acts:
        return False
    if verb.word in _MACHINE and verb.end - verb.start >= 2:
        return True
    return any(t.word in _TO_ME or t.kind is K.HELP for t in rest) or any(t.kind is K.MENTION for t in rest)


def _english_order(rest: list[Token]) -> bool:
    verb = at(rest, 0)
    if verb.kind not in (K.AGENT, K.NOW, K.WORD, K.CALL, K.LIST):
        return False
    if verb.word in _STRONG_EN:
        return True
    known = verb.kind in (K.AGENT, K.NOW, K.CALL) or verb.word in ("post", "email", "send")
    return known and any(
        t.kind in (K.ME, K.MENTION) or t.word in ("channel", "group", "here", "#", "us", "team") for t in rest[1:]
    )


def order_before(groups: list[Group], tokens: list[Token], first: int) -> Group | None:
    """The group that closes a message which opens with an order (send me the news every day at 8)."""
    if not groups or first >= len(tokens):
        return None
    last = groups[-1]
    plan = gather(last.phrases)
    goes_on = at(tokens, last.j).kind is K.AND and at(tokens, last.j + 1).kind in (K.AGENT, K.NOW, K.CALL, K.WORD)
    if not (plan.has_time and plan.is_series and (goes_on or soft(tokens, last.j, len(tokens)))):
        return None
    verb = tokens[first]
    if verb.kind not in (K.AGENT, K.NOW) or last.i <= first + 1:
        return None
    if any(t.kind in (K.QUESTION, K.DONE, K.SAID) or (t.kind is K.PERSON and t.word != "it") for t in tokens):
        return None
    told = any(t.kind in (K.ME, K.MENTION) or t.word in ("here", "channel", "group") for t in tokens[first:])
    return last if told or verb.word in _STRONG_EN else None
