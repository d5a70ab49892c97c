"""The tool `now`: what day and time it is in this conversation."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from kernel.messages import Concurrency, Json, ToolWords
from kernel.texts import say
from kernel.tools import Approval, Tool, ToolContext, ToolOutcome

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DESCRIPTION = (
    "The date, weekday and time right now, in this conversation's time zone, with its UTC offset and the ISO week."
)
_SCHEMA = '{"type":"object","properties":{},"additionalProperties":false}'


def told(moment: datetime, zone: str) -> str:
    """The moment (aware) as the model reads it, in `zone`."""
    here = moment.astimezone(ZoneInfo(zone))
    offset = here.strftime("%z")
    return (
        f"{_WEEKDAYS[here.weekday()]}, {here:%Y-%m-%d %H:%M:%S}, zone {zone} (UTC{offset[:3]}:{offset[3:5]}), "
        f"ISO week {here.isocalendar().week}. In UTC: {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}."
    )


async def _run(_: Json, context: ToolContext) -> ToolOutcome:
    return ToolOutcome(told(context.now, context.zone))


NOW = Tool(
    words=ToolWords("now", _DESCRIPTION, _SCHEMA),
    concurrency=lambda _: Concurrency.READ_ONLY,
    approval=lambda _: Approval.NEVER,
    timeout=timedelta(seconds=5),
    describe=lambda _, language: say("does.now", language),
    run=_run,
    is_own=True,
)
