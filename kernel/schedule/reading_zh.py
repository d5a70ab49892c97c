"""The Chinese words of a reading."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

from kernel.schedule.cron import LAST, Fields
from kernel.schedule.named_days import TERMS
from kernel.schedule.reading_parts import Bounds, EachHour, Group, Run, term_of, whole_units
from kernel.schedule.values import Calendar, Cron, Step, Unit

_DIGITS = "日一二三四五六七八九十"
_WEEKDAYS = "一二三四五六日"
_LUNAR_MONTHS = ("正月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "冬月", "腊月")
_COMMON_WORDS = frozenset({"小寒", "大寒", "雨水", "小满", "小暑", "大暑", "白露", "寒露", "小雪", "大雪"})
"""Names of solar terms that mean rain, snow or dew as well."""
_UNITS = {Unit.DAY: "天", Unit.WEEK: "周", Unit.MONTH: "个月", Unit.YEAR: "年"}
_EVERY_DAY = Fields((), ())


def recurrence(groups: tuple[Group, ...], schedule: Cron, bounds: Bounds) -> str:
    """每个工作日 09:00，法定节假日除外."""
    rules = "，".join(_rule(each, schedule) for each in groups)
    return f"{_since(bounds)}{_exclusions(schedule)}{rules}{_calendar(groups, schedule)}{_limits(bounds)}"


def interval(step: timedelta, bounds: Bounds) -> str:
    """每45分钟; 2026年3月11日 09:00到11:00每45分钟."""
    if bounds.one_day:
        first, last = bounds.one_day
        return f"{_when(first)}到{clock(last)}每{_span(step)}{_limits(Bounds(count=bounds.count))}"
    return f"{_since(bounds)}每{_span(step)}{_limits(bounds)}"


def moments(times: Iterable[datetime]) -> str:
    """2026年3月11日 周三 09:00; times of the same day are listed behind it."""
    days: dict[date, list[str]] = {}
    for each in times:
        days.setdefault(each.date(), []).append(clock(each))
    return "，".join(f"{_date(day)} 周{_WEEKDAYS[day.weekday()]} {'、'.join(clocks)}" for day, clocks in days.items())


def moment(at: datetime, today: date) -> str:
    """今天 15:00, 明天 09:00, 3月12日 周四 09:00."""
    ahead = (at.date() - today).days
    if ahead in (0, 1):
        return f"{'明天' if ahead else '今天'} {clock(at)}"
    day = _date(at) if at.year != today.year else f"{at.month}月{at.day}日"
    return f"{day} 周{_WEEKDAYS[at.weekday()]} {clock(at)}"


def clock(at: datetime | time) -> str:
    """09:00, with seconds only where there are some."""
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def skipped_days(day: int) -> str:
    """What a confirmation says of a day that not every month has."""
    return f"没有{day}号的月份会跳过"


def leap_years_only() -> str:
    """What a confirmation says of 29 February."""
    return "只有闰年才有2月29日，其他年份会跳过"


def _rule(group: Group, schedule: Cron) -> str:
    if group.days == _EVERY_DAY and schedule.step is None and schedule.calendar is None:
        return _each_hour(group.times) if isinstance(group.times, EachHour) else f"每天 {_times(group.times)}"
    days = _days(group.days, schedule)
    return days + _each_hour(group.times) if isinstance(group.times, EachHour) else f"{days} {_times(group.times)}"


def _each_hour(times: EachHour) -> str:
    if times.minutes == (0,):
        return "每个整点"
    if len(times.minutes) == 60:
        return "每分钟"
    return f"每小时的第{'、'.join(map(str, times.minutes))}分钟"


def _times(runs: tuple[Run, ...]) -> str:
    return "、".join(_run(each) for each in runs)


def _run(run: Run) -> str:
    if not run.step_min:
        return f"{run.first:%H:%M}"
    return f"{run.first:%H:%M}到{run.last:%H:%M}每{_span(timedelta(minutes=run.step_min))}"


def _days(days: Fields, schedule: Cron) -> str:
    if schedule.calendar is Calendar.LUNAR:
        return _lunar(days)
    if schedule.step is not None:
        return _stepped(days, schedule.step)
    if days == _EVERY_DAY and schedule.calendar is Calendar.STATUTORY_WORKDAYS:
        return "每个法定工作日"
    if days == _EVERY_DAY and schedule.calendar is Calendar.STATUTORY_HOLIDAYS:
        return "每个法定节假日"
    if schedule.calendar is Calendar.SOLAR_TERMS and (term := term_of(days)) is not None:
        return f"每年{TERMS[term]}{'节气' if TERMS[term] in _COMMON_WORDS else ''}"
    workday = "法定工作日" if schedule.calendar is Calendar.STATUTORY_WORKDAYS else "工作日"
    if days.months is None:
        return _in_month(days, "每月", workday) if _names_month_days(days) else _weekdays(days.weekdays)
    return _in_months(days, days.months, workday)


def _in_months(days: Fields, months: tuple[int, ...], workday: str) -> str:
    if months == (1, 4, 7, 10) and days.days == (1,) and not days.month_end and days.weekdays is None:
        return "每季度第一天"
    if months == (3, 6, 9, 12) and days.days == () and days.month_end and days.weekdays is None:
        return "每季度最后一天"
    if days.days and not days.month_end and days.weekdays is None:
        return "每年" + "、".join(f"{month}月{day}日" for month in months for day in days.days)
    if not _names_month_days(days):
        return f"每年{'、'.join(f'{month}月' for month in months)}的{_weekdays(days.weekdays)}"
    return "每年" + "、".join(_in_month(days, f"{month}月", workday) for month in months)


def _names_month_days(days: Fields) -> bool:
    return bool(days.days is not None or days.nth or days.first_workday or days.last_workday or days.from_end)


def _in_month(days: Fields, month: str, workday: str) -> str:
    if days.first_workday:
        return f"{month}第一个{workday}"
    if days.last_workday:
        return f"{month}最后一个{workday}"
    if days.from_end:
        return f"{month}倒数第{days.from_end + 1}天"
    names = [f"{'最后一' if n == LAST else f'第{_DIGITS[n]}'}个周{_WEEKDAYS[weekday]}" for weekday, n in days.nth]
    names += [f"{day}号" for day in days.days or ()]
    if days.month_end:
        names.append("最后一天")
    either = f"或{_weekdays(days.weekdays)}" if days.weekdays is not None else ""
    return month + "、".join(names) + either


def _weekdays(weekdays: tuple[int, ...] | None) -> str:
    match weekdays:
        case None | (0, 1, 2, 3, 4, 5, 6):
            return "每天"
        case (0, 1, 2, 3, 4):
            return "每个工作日"
        case (5, 6):
            return "每周末"
        case _:
            return "每" + "、".join(f"周{_WEEKDAYS[each]}" for each in weekdays)


def _stepped(days: Fields, step: Step) -> str:
    every = f"每{step.n}{_UNITS[step.unit]}"
    if days == _EVERY_DAY:
        return every if step.unit is Unit.DAY else f"{every}的每天"
    if days.months is not None:
        return f"{every}的{_in_months(days, days.months, '工作日').removeprefix('每年')}"
    if _names_month_days(days):
        return f"{every}的{_in_month(days, '', '工作日')}"
    return f"{every}的{_weekdays(days.weekdays).removeprefix('每').removeprefix('个')}"


def _lunar(days: Fields) -> str:
    names = [_lunar_day(each) for each in days.days or ()]
    if days.month_end:
        names.append("最后一天")
    if days.months is None:
        return f"农历每月{'、'.join(names)}" if days.days is not None else "每天"
    if days.months == (12,) and names == ["最后一天"]:
        return "每年除夕"
    if days.days is None:
        names = ["每天"]
    return "每年农历" + "、".join(f"{_LUNAR_MONTHS[month - 1]}{name}" for month in days.months for name in names)


def _lunar_day(day: int) -> str:
    if day in (10, 20, 30):
        return {10: "初十", 20: "二十", 30: "三十"}[day]
    return ("初", "十", "廿")[day // 10] + "零一二三四五六七八九"[day % 10]


def _exclusions(schedule: Cron) -> str:
    names = [f"周{_WEEKDAYS[each]}" for each in sorted(set(schedule.excluded_weekdays))]
    names += [_date(each) for each in sorted(set(schedule.excluded_dates))]
    return f"除{'、'.join(names)}外" if names else ""


def _calendar(groups: tuple[Group, ...], schedule: Cron) -> str:
    """What the statutory calendar adds where the days have not said it."""
    plain = all(each.days == _EVERY_DAY for each in groups) and schedule.step is None
    named = all(each.days.first_workday or each.days.last_workday for each in groups)
    if schedule.calendar is Calendar.STATUTORY_WORKDAYS and not plain and not named:
        return "，法定节假日除外"
    if schedule.calendar is Calendar.STATUTORY_HOLIDAYS and not plain:
        return "，仅限法定节假日"
    if schedule.calendar is Calendar.SOLAR_TERMS and any(term_of(each.days) is None for each in groups):
        return "，仅限节气当天"
    return ""


def _since(bounds: Bounds) -> str:
    return "" if bounds.first is None else f"从{_when(bounds.first)}起"


def _limits(bounds: Bounds) -> str:
    until = "" if bounds.last is None else f"，到{_when(bounds.last)}为止"
    return until + ("" if bounds.count is None else f"，共{bounds.count}次")


def _when(at: date | datetime | time) -> str:
    if isinstance(at, time):
        return clock(at)
    return f"{_date(at)} {clock(at)}" if isinstance(at, datetime) else _date(at)


def _date(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _span(span: timedelta) -> str:
    """45分钟, 90分钟, 36小时, and 小时 for one: never days, which the clock on the wall counts."""
    amount, unit = whole_units(span)
    name = {"hour": "小时", "minute": "分钟", "second": "秒"}[unit]
    return name if amount == 1 else f"{amount}{name}"
