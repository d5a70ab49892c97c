"""`zclaw reminders`: what waits to be said, in every conversation."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from kernel import config
from kernel.clock import SystemClock
from kernel.config import CommonSettings
from kernel.schedule.reading import describe
from kernel.stores.redis.stores import open_stores
from kernel.triggers import Trigger
from zclaw.store import with_store

Stored = Sequence[tuple[Trigger, datetime | None]]


def run(argv: Sequence[str]) -> int:
    """Print the list; the exit code. Raises OperatorError, RetryLater."""
    parser = argparse.ArgumentParser(prog="zclaw reminders", description="Show the reminders that wait.")
    actions = parser.add_subparsers(dest="action", required=True)
    listing = actions.add_parser("list", help="all of them, soonest first")
    listing.add_argument("--json", action="store_true", help="one object each; `next` is ISO 8601 with offset")
    arguments = parser.parse_args(argv)
    stored = asyncio.run(_all(with_store(config.read().settings(CommonSettings))))
    sys.stdout.write(as_json(stored) if arguments.json else as_lines(stored))
    return 0


def as_json(stored: Stored) -> str:
    """A JSON list; `next` in the reminder's own zone, null when it rests."""
    rows = [
        {
            "id": trigger.id,
            "platform": trigger.conversation.platform,
            "chat": trigger.conversation.chat,
            "thread": trigger.conversation.thread,
            "text": trigger.text,
            "rule": describe(trigger.schedule, trigger.zone, trigger.language),
            "zone": trigger.zone,
            "next": _local(trigger, due).isoformat() if due else None,
        }
        for trigger, due in stored
    ]
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def as_lines(stored: Stored) -> str:
    """A line each, for people."""
    lines = []
    for trigger, due in stored:
        when = f"{_local(trigger, due):%Y-%m-%d %H:%M} {trigger.zone}" if due else "paused"
        where = f"{trigger.conversation.platform}:{trigger.conversation.chat}"
        rule = describe(trigger.schedule, trigger.zone, trigger.language)
        lines.append(f"{when}  {where}  {trigger.text}  ({rule})\n")
    return "".join(lines) or "No reminders.\n"


def _local(trigger: Trigger, due: datetime) -> datetime:
    return due.astimezone(ZoneInfo(trigger.zone))


async def _all(settings: CommonSettings) -> Stored:
    assert settings.redis_url is not None
    stores = await open_stores(settings.redis_url.reveal(), SystemClock())
    try:
        return await stores.triggers.all()
    finally:
        await stores.close()
