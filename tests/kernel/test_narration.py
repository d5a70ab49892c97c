"""People read what is meant for them: no narration, no markers, and their Markdown untouched."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kernel.narration import for_people

TOOLS = ("web_search", "now", "task", "mail.send")


@pytest.mark.parametrize(
    "line",
    [
        "I'll use web_search to look for it.",
        "让我调用 web_search 查一下。",
        "(web_search returned 3 results)",
        "Calling `now` first.",
        "我先用 `task` 把它拆开。",
        "Now let me call task({...}).",
        "Thought: the person wants the report",
        "**Action:** search",
        "思考：要先看病历",
        "工具调用: 查询",
        "[tool_use: web_search]",
        "【调用工具：搜索】",
        "[Written by the program: tools are closed now.]",
        "[2026-11-30 Mon 09:00 Asia/Shanghai; speaking: Ann]",
        "<thinking>hm, let me see</thinking>",
        "I have sent it with mail.send as asked",
    ],
)
def test_narration_and_markers_go(line: str) -> None:
    assert for_people(line, TOOLS) == ""
    assert for_people(f"早上好。\n{line}\n\n今天有三台手术。", TOOLS) == "早上好。\n\n今天有三台手术。"


@pytest.mark.parametrize(
    "text",
    [
        "**腾讯** 第三季度收入 1,671.9 亿元。\n\n- 同比 +8 %\n- [来源](https://example.com/a_b)",
        "The task now is to call the patient.",
        "I will call you at 9 now.",
        "让我想想：先吃药。",
        "Action plan: 1. rest",
        "Observations: none",
        "| 时间 | 事 |\n|---|---|\n| 9:00 | 查房 |",
        "> quoted\n\n1. one\n\n\n\n2. two",
        "```python\nresult = web_search('x')\n# Thought: fine\n<thinking>kept</thinking>\n```",
        "See https://example.com/web_search/x for it.",
        "",
        "\n",
    ],
)
def test_everything_else_stays_as_it_is(text: str) -> None:
    assert for_people(text, ()) == text
    assert for_people(text, TOOLS) == text


def test_a_block_over_several_lines_goes_also_while_it_is_not_closed() -> None:
    said = "好的。\n<think>\n先看\n再想\n</think>\n结果是 3。"

    assert for_people(said, TOOLS) == "好的。\n结果是 3。"
    assert for_people(said[:16], TOOLS) == "好的。"


def test_what_was_shown_of_a_text_stays_while_it_grows() -> None:
    said = "第一行。\n\nI'll use web_search now.\n\n```\nweb_search()\n```\n第二行 **粗**。\n"
    shown = [for_people(said[:end], TOOLS) for end in range(len(said) + 1)]

    for before, after in pairwise(shown):
        whole_lines = before.rpartition("\n")[0].rstrip("\n")
        assert after.startswith(whole_lines)


def test_without_tools_nothing_is_named() -> None:
    assert for_people("I'll use web_search now.", ()) == "I'll use web_search now."
