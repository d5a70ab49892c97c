"""Six stories in the terminal, in Telegram and in Slack: each ends in the model's words, and nothing inner is shown."""

from __future__ import annotations

import pytest

from kernel.providers.scripted import call
from tests.stories.places import NAME, Opening, slack, telegram, terminal
from tests.stories.stage import Says, assert_nothing_inner, stage

EVERYWHERE = pytest.mark.parametrize("place", [terminal, telegram, slack], ids=["terminal", "telegram", "slack"])
TENCENT = call("search_web", what="tencent ARG-71 results", where="ARG-72 finance")
RATES = call("search_web", what="rates ARG-73 CNY HKD")
TABLE = call("search_web", what="TABLE-74")


@EVERYWHERE
async def test_a_greeting_is_answered_without_tools(place: Opening) -> None:
    words = "你好，小王！我是 zclaw，可以帮你设提醒、查资料、记事情，也可以在动手之前先问你。今天想从哪一件开始？"
    async with stage(place, Says(words, seen=words[:-4])) as (here, model):
        await here.says("你好")

        await here.until(lambda: words in here.messages())
        assert here.messages() == [words]
        assert_nothing_inner(here, model)


@EVERYWHERE
@pytest.mark.parametrize(
    ("asked", "first", "words"),
    [
        (
            "搜索腾讯财报",
            "我先查一下最近的财报。\n我会用 search_web 搜索 tencent ARG-71 results。",
            "查到了：腾讯第三季度收入约一千九百二十九亿元，比去年同期多百分之十五，主要来自游戏和广告两块业务。",
        ),
        (
            "search the results of Tencent",
            "Let me look that up.\nI'll call search_web with tencent ARG-71 results now.",
            "Tencent took about 192.9 billion yuan in the third quarter, fifteen per cent more than a year before.",
        ),
    ],
    ids=["zh", "en"],
)
async def test_one_search_comes_to_an_answer(place: Opening, asked: str, first: str, words: str) -> None:
    intro = first.splitlines()[0]
    async with stage(place, Says(first, (TENCENT,), intro), Says(words, seen=words[:-4])) as (here, model):
        await here.says(asked)

        await here.until(lambda: words in here.messages())
        assert here.messages() == [words]
        assert_nothing_inner(here, model)


@EVERYWHERE
async def test_several_rounds_of_tools_come_to_one_answer(place: Opening) -> None:
    intro = "我分三步来：先把财报里的收入和同比增长找出来，再查同一天的汇率，最后用历史表格核对一遍均值，稍等。"
    words = "分析完成：收入比去年同期多百分之十五，按当天汇率折合港币约两千一百零八亿，高于过去三个季度的平均水平。"
    lines = (
        Says(intro, (TENCENT, RATES), intro[:-4]),
        Says('<tool_call>{"name": "search_web", "arguments": {"what": "TABLE-74"}}</tool_call>', (TABLE,)),
        Says("", (TABLE,)),
        Says(words, seen=words[:-4]),
    )
    async with stage(place, *lines) as (here, model):
        await here.says("搜索并分析数据")

        await here.until(lambda: words in here.messages())
        assert here.messages() == [words]
        assert_nothing_inner(here, model)


@EVERYWHERE
@pytest.mark.parametrize(
    ("asked", "notice", "labels", "closed", "words"),
    [
        (
            "发通知：明天停诊",
            "通知全院：明天门诊停诊一天",
            ["允许", "拒绝"],
            f"✅ {NAME} 已允许",
            "通知发出去了，全院都能看到：明天门诊停诊一天。如果时间有变化，告诉我一声，我再补发一条更正说明。",
        ),
        (
            "tell everybody that we are closed tomorrow",
            "Notice to all: closed tomorrow",
            ["Allow", "Deny"],
            f"✅ allowed by {NAME}",
            "The notice is out, and everybody can read it. Tell me when the day changes, and I shall correct it.",
        ),
    ],
    ids=["zh", "en"],
)
async def test_what_asks_shows_a_card_and_goes_on_after_the_press(
    place: Opening, asked: str, notice: str, labels: list[str], closed: str, words: str
) -> None:
    publish = call("publish_notice", what=notice, where="ARG-80 board")
    async with stage(place, Says(calls=(publish,)), Says(words, seen=words[:-4])) as (here, model):
        await here.says(asked)
        await here.until(lambda: here.buttons() == labels)
        assert notice in here.messages()[-1]

        await here.presses(labels[0])

        await here.until(lambda: words in here.messages() and any(closed in each for each in here.messages()))
        assert here.messages()[-1] == words
        assert here.messages().count(words) == 1
        assert here.buttons() == []
        assert_nothing_inner(here, model, but=[notice])


QUESTION = "你要哪个季度的？"
CHOICES = ["第二季度", "第三季度"]
ASKED = Says("我用 ask_clarification 问一下。", (call("ask_clarification", question=QUESTION, choices=CHOICES),))


@EVERYWHERE
@pytest.mark.parametrize("own", ["", "都要，先给我第一季度"], ids=["button", "own words"])
async def test_a_question_is_answered_by_a_button_or_in_own_words(place: Opening, own: str) -> None:
    words = "好的，我按你说的季度来整理：收入、同比增长和主要原因各一段，十分钟内给你；如果还要别的指标，随时告诉我。"
    async with stage(place, ASKED, Says(words, seen=words[:-4])) as (here, model):
        await here.says("整理财报")
        await here.until(lambda: here.buttons() == CHOICES)
        assert any(QUESTION in each for each in here.messages())

        await (here.says(own) if own else here.presses(CHOICES[1]))

        await here.until(lambda: words in here.messages() and here.buttons() == [])
        assert here.messages().count(words) == 1
        answer = own or CHOICES[1]
        assert answer in model.inner()
        assert own or any(f"→ {answer}" in each for each in here.messages())
        assert_nothing_inner(here, model, but=[QUESTION, answer])


@EVERYWHERE
async def test_a_sub_turn_that_asks_comes_back_to_the_answer(place: Opening) -> None:
    record = "打开三床的病历"
    found = "SUB-90 三床：二〇二六年十一月二十八日血压一百三十八比八十六，体温三十六点七，夜间无不适，已按时服药。"
    words = "三床情况平稳：血压略高，体温正常，昨夜没有不适，药也按时吃了。建议今天下午再量一次血压，我可以到时提醒你。"
    lines = (
        Says("我派一个任务去看。", (call("task", instruction="SUB-91 看三床"),), "我派一个任务"),
        Says("SUB-92 现在打开。", (call("open_record", what=record, where="ARG-90 bed 3"),)),
        Says(found),
        Says(words, seen=words[:-4]),
    )
    async with stage(place, *lines) as (here, model):
        await here.says("三床怎么样")
        await here.until(lambda: here.buttons() == ["允许", "拒绝"])
        assert record in here.messages()[-1]

        await here.presses("允许")

        await here.until(lambda: words in here.messages())
        assert here.messages()[-1] == words
        assert not any("SUB-9" in each for each in (*here.messages(), *here.drafts()))
        assert_nothing_inner(here, model, but=[record])
