"""What a few words mean as the answer to a question about a time; and which words are no answer to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from kernel.schedule.answers import Chosen, Refused, read_answer
from kernel.schedule.parse import Understood, understand
from kernel.schedule.values import Cron, Once

ZONE = "Asia/Shanghai"
NOW = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
"""A Monday, ten in the morning in Shanghai."""

PILLS = "每天提醒我吃药"
REPORT = "明天提醒我交报告"
PAST = "今天早上8点提醒我开会"
TONIGHT = "今晚提醒我给妈妈打电话"
EITHER = "明天3点或5点提醒我开会"
NO_DAY = "2月30号9点提醒我还款"
LATER = "晚点提醒我喝水"
WAKE = "明天5点叫我起床"
WEEKLY = "每周提醒我交周报"
MOM = "remind me to call mom tomorrow"
DAILY = "remind me every day to take pills"


def asked(request: str) -> Understood:
    found = understand(request, now=NOW, zone=ZONE)
    assert found.intent.question is not None
    return found


def meaning(request: str, text: str, *, after: timedelta = timedelta()) -> str:
    """Short words for what comes of the answer."""
    match read_answer(text, asked(request), now=NOW + after):
        case None:
            return "no answer"
        case Chosen(number):
            return f"choice {number}"
        case Refused():
            return "nothing"
        case Understood(intent=intent) if intent.question is not None:
            return " | ".join(["asks", *(choice.label for choice in intent.question.choices)])
        case Understood(intent=intent):
            match intent.schedule:
                case Once(times=times):
                    return " ".join(f"{each.astimezone(ZoneInfo(ZONE)):%m-%d %H:%M}" for each in times)
                case Cron(expressions=lines):
                    return "; ".join(lines)
    return "?"


@pytest.mark.parametrize(
    ("request_", "text", "means"),
    [
        # An hour in any spelling; a bare one as in a whole sentence.
        (PILLS, "8点", "0 8 * * *"),
        (PILLS, "８点", "0 8 * * *"),
        (PILLS, "８", "0 8 * * *"),
        (PILLS, "8", "0 8 * * *"),
        (PILLS, "八", "0 8 * * *"),
        (PILLS, "八点半", "30 8 * * *"),
        (PILLS, "8點", "0 8 * * *"),
        (PILLS, "20時", "0 20 * * *"),
        (PILLS, "两点", "0 14 * * *"),
        (PILLS, "14:00", "0 14 * * *"),
        (PILLS, "１４：３０", "30 14 * * *"),
        (PILLS, "8.30", "30 8 * * *"),
        (PILLS, "830", "30 8 * * *"),
        (PILLS, "1530", "30 15 * * *"),
        (PILLS, "晚上八点一刻", "15 20 * * *"),
        (PILLS, "下午三点半", "30 15 * * *"),
        (PILLS, "中午", "0 12 * * *"),
        (PILLS, "早上8点和晚上8点", "0 8,20 * * *"),
        (PILLS, "8点左右", "0 8 * * *"),
        (PILLS, "at 7pm", "0 19 * * *"),
        (DAILY, "9", "0 9 * * *"),
        (DAILY, "9am and 9pm", "0 9,21 * * *"),
        (DAILY, "seven thirty", "30 7 * * *"),
        (DAILY, "half past six", "30 18 * * *"),
        (DAILY, "at noon please", "0 12 * * *"),
        (DAILY, "at 8 in the evening", "0 20 * * *"),
        # With the small words around it.
        (PILLS, "9点吧", "0 9 * * *"),
        (PILLS, "嗯，8点", "0 8 * * *"),
        (PILLS, "还是8点吧", "0 8 * * *"),
        (PILLS, "算了，8点吧", "0 8 * * *"),
        (PILLS, "那就晚上8点", "0 20 * * *"),
        (PILLS, "8点提醒我", "0 8 * * *"),
        (PILLS, "改成10点", "0 10 * * *"),
        (PILLS, "9点可以吗", "0 9 * * *"),
        (DAILY, "make it 9", "0 9 * * *"),
        (DAILY, "let's say 8", "0 8 * * *"),
        (DAILY, "how about 9?", "0 9 * * *"),
        (DAILY, "8 am works", "0 8 * * *"),
        # What it contradicts gives way, everything else stays.
        (PILLS, "周一到周五8点", "0 8 * * 1-5"),
        (DAILY, "every monday at 9", "0 9 * * 1"),
        (WEEKLY, "周五下午5点", "0 17 * * 5"),
        (REPORT, "8点", "12-01 08:00"),
        (REPORT, "后天9点", "12-02 09:00"),
        (REPORT, "10分钟后", "11-30 10:10"),
        (MOM, "7pm", "12-01 19:00"),
        (MOM, "monday 9am", "12-07 09:00"),
        (TONIGHT, "8点", "11-30 20:00"),
        (TONIGHT, "10点半", "11-30 22:30"),
        (TONIGHT, "明天8点", "12-01 08:00"),
        (PAST, "明天的", "12-01 08:00"),
        (PAST, "tomorrow", "12-01 08:00"),
        (PAST, "后天", "12-02 08:00"),
        (PAST, "晚上8点", "11-30 20:00"),
        (PAST, "11点半", "11-30 11:30"),
        (PAST, "3点", "11-30 15:00"),
        (NO_DAY, "28号", "02-28 09:00"),
        (NO_DAY, "28", "02-28 09:00"),
        (NO_DAY, "3月1号", "03-01 09:00"),
        (LATER, "8点", "11-30 20:00"),
        (LATER, "半小时后", "11-30 10:30"),
        (WAKE, "早上5点", "12-01 05:00"),
        # By its place, or by what stands on the button.
        (PILLS, "第二个", "choice 1"),
        (PILLS, "选第2个吧", "choice 1"),
        (PILLS, "最后一个", "choice 2"),
        (PILLS, "上午9点", "choice 0"),
        (PILLS, "晚上 8点", "choice 2"),
        (DAILY, "the second one", "choice 1"),
        (DAILY, "2nd", "choice 1"),
        (DAILY, "option 3", "choice 2"),
        (EITHER, "后者", "choice 1"),
        (EITHER, "5点", "choice 1"),
        (EITHER, "3", "choice 0"),
        (EITHER, "早上5点", "12-01 05:00"),
        # Nothing after all.
        (PILLS, "算了", "nothing"),
        (PILLS, "不用了，谢谢", "nothing"),
        (PILLS, "取消", "nothing"),
        (PILLS, "不用提醒了", "nothing"),
        (DAILY, "never mind", "nothing"),
        (DAILY, "Forget it.", "nothing"),
        # An answer that leaves something open is asked about once more.
        (PILLS, "晚上", "asks | 晚上7点 | 晚上9点"),
        (PILLS, "七八点", "asks | 上午7点 | 上午8点"),
        (PILLS, "25点", "asks"),
        (DAILY, "7 or 8", "asks | 7 am | 8 am"),
        (REPORT, "周五", "asks | 上午9点 | 下午2点 | 晚上8点"),
        (MOM, "in the morning", "asks | 8 am | 9 am"),
        (PAST, "9点", "asks | 明天上午9点"),
        (PAST, "下午", "asks | 下午2点 | 下午4点"),
        (WAKE, "5点", "asks | 凌晨5点 | 下午5点"),
        (WEEKLY, "9点", "asks"),
    ],
)
def test_an_answer_reads_as_if_it_had_stood_in_the_sentence(request_: str, text: str, means: str) -> None:
    assert meaning(request_, text) == means


@pytest.mark.parametrize(
    "text",
    [
        *(
            "都行",
            "随便",
            "你定",
            "好",
            "嗯",
            "是的",
            "晚点",
            "再说吧",
            "几点合适？",
            "半小时",
            "2个",
            "8个人",
            "233",
            "1314",
        ),
        *(
            "8点有空吗",
            "8点开会",
            "9点到了吗",
            "不是8点",
            "明天的",
            "明天8点",
            "10分钟后",
            "第四个",
            "取消8点的提醒",
            "",
        ),
        *(
            "whenever",
            "any time",
            "idk",
            "that one",
            "one",
            "8 people",
            "8 dollars",
            "what time is it?",
            "yes",
            "+1",
            "😀",
        ),
        *("帮我查一下8点的航班", "8点" * 40, "每天8点提醒我喝水", "28", "99"),
    ],
)
def test_what_does_not_read_as_an_answer_is_none(text: str) -> None:
    assert meaning(PILLS, text) == "no answer"


def test_a_number_that_may_be_a_place_or_an_hour_is_no_answer_between_two_hours() -> None:
    assert meaning(EITHER, "2") == "no answer"


def test_tomorrow_is_that_of_the_sentence_and_in_ten_minutes_is_from_the_answer() -> None:
    past_midnight = timedelta(hours=14, minutes=1)

    assert meaning(REPORT, "8点", after=past_midnight) == "12-01 08:00"
    assert meaning(REPORT, "10分钟后", after=past_midnight) == "12-01 00:11"
    assert meaning(PILLS, "8点", after=past_midnight) == "0 8 * * *"


def test_a_time_that_passed_while_the_question_stood_is_asked_about() -> None:
    assert meaning("今天提醒我交报告", "10:05", after=timedelta(minutes=6)).startswith("asks")
