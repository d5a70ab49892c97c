"""Words for a reminder that is sent late (docs/decisions/0005): only the way out knows when that is."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from kernel.chat import Prompt, Reply
from kernel.texts import say

LATE_AFTER = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


def with_lateness(outbound: Reply | Prompt, now: datetime) -> Reply | Prompt:
    """`outbound`; a reminder that was due more than a minute before `now` (aware UTC) says how long ago that was."""
    if not isinstance(outbound, Prompt) or outbound.due is None or now - outbound.due <= LATE_AFTER:
        return outbound
    ago = _ago(now - outbound.due, outbound.language)
    return replace(outbound, text=say("reminder.late", outbound.language, body=outbound.text, ago=ago))


def _ago(span: timedelta, language: str) -> str:
    minutes = span // timedelta(minutes=1)
    if span < _HOUR:
        return say("ago.minutes", language, minutes=str(minutes))
    if span < _DAY:
        return say("ago.hours", language, hours=str(span // _HOUR), minutes=str(minutes % 60))
    return say("ago.days", language, days=str(span.days), hours=str(span % _DAY // _HOUR))
