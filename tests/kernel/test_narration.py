"""People read what is meant for them: no narration, no markers, and their Markdown untouched."""

from __future__ import annotations

import time
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
        "I'll use Web_Search now.",
        "I'll use web\u200b_search and web\\_search now.",
        "I'll use the task tool.",
        "我用 **task** 工具把它拆开。",
        "> [Written by the program: tools are closed now.]",
        "**[Written by the program: tools are\nclosed now.]**",
        '- [2026-11-30 Mon 09:00 Asia/Shanghai; speaking: Ann\n since the last message: x\n remembered: "y"]',
        "[quoted, not said by the person]",
        '{"name": "web_search", "arguments": {"q": "腾讯"}}',
        '[{"tool": "now"}, {"tool": "task"}]',
        '{\n  "arguments": {"q": "腾讯"},\n  "function": {"name": "now"}\n}',
        '```json\n{"name": "web_search", "arguments": {"q": "腾讯"}}\n```',
        "```tool_code\nprint(web_search(q='腾讯'))\n```",
        "<function=now>\n<parameter=zone>\nx\n</parameter>\n</function>",
        "<｜tool▁calls▁begin｜>function<｜tool▁sep｜>now\n{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<|im_end|>",
        "Thought: look it up\nAction: look up the weather\nObservation: sunny",
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
        "观察：患者体温 38.5℃\n- **观察**：每 2 小时测血压\n行动：明天 9 点复查",
        "Observation: BP 120/80\nAction: give 2 mg",
        "DeepSeek 把推理写在 `<think>` 里。\n\n第二段。",
        "说明：`[Written by the program: x]` 是标记。",
        '```json\n{"name": "小王", "action": "查房"}\n```',
        '{"name": "小王"}\n[1, 2]',
        "[2026-11-30] 手术\n[1]: https://example.com",
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


def test_words_behind_a_marker_stay() -> None:
    assert for_people("[2026-11-30 Mon 09:00 Asia/Shanghai] 你好。", TOOLS) == "你好。"
    assert for_people("好的 [Written by the program: go on.] 你好。", TOOLS) == "好的  你好。"


@pytest.mark.parametrize(
    "said",
    [
        '{"name": "web_search", "arguments": {"q": "腾讯',
        '```json\n{"name": "web_search", "arguments": {"q": "腾讯',
        "[Written by the program: tools are",
        "[2026-11-30 Mon 09:00 Asia/Shanghai; speaking: 小王\n remembered",
        "<｜tool▁calls▁begin｜>function<｜tool▁sep｜>now",
    ],
)
def test_what_is_still_being_written_is_not_shown_either(said: str) -> None:
    assert for_people(f"好的。\n{said}", TOOLS) == "好的。"


@pytest.mark.parametrize(
    "piece", ["`", "`a", "<think ", "<function=", "<|tool", '{"now"\n', "[\n", '{"name":"now"\n', "\\"]
)
def test_a_text_made_to_be_slow_is_not(piece: str) -> None:
    began = time.process_time()

    for_people(piece * (60_000 // len(piece)) + '"now"', TOOLS)

    assert time.process_time() - began < 2


def test_without_tools_nothing_is_named() -> None:
    assert for_people("I'll use web_search now.", ()) == "I'll use web_search now."
