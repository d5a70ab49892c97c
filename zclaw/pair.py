"""`zclaw pair`: the code that makes an account on Telegram or Slack an owner of this bot."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from kernel import config
from kernel.clock import SystemClock
from kernel.config import CommonSettings
from kernel.pairing import new_code
from kernel.settings import AccessRule
from kernel.stores.redis.stores import open_stores
from zclaw.store import with_store


def run(argv: Sequence[str]) -> int:
    """Print a new code; the exit code. Raises OperatorError, RetryLater."""
    parser = argparse.ArgumentParser(prog="zclaw pair", description="Print a code that makes an account an owner.")
    parser.parse_args(argv)
    settings = config.read().settings(CommonSettings)
    if settings.access is AccessRule.ALLOWLIST:
        sys.stderr.write("ZCLAW_ACCESS=allowlist: only ZCLAW_OWNERS makes owners.\n")
        return 1
    code = asyncio.run(_offer(with_store(settings)))
    sys.stdout.write(line(code))
    return 0


def line(code: str) -> str:
    """What is printed with a code, in both languages."""
    return (
        f"{code}: send this to the bot in a private chat within 10 minutes, and your account there owns it.\n"
        f"{code}：10 分钟内在私聊里把它发给机器人，你在那里的账号就是它的主人。\n"
    )


async def offer(url: str) -> str:
    """A code that is good from now on, in the store at `url`. Raises OperatorError, RetryLater."""
    clock = SystemClock()
    stores = await open_stores(url, clock)
    try:
        code = new_code()
        await stores.grants.offer(code, now=clock.now())
    finally:
        await stores.close()
    return code


async def has_owner(url: str, platform: str) -> bool:
    """Whether somebody has paired on the platform. Raises OperatorError, RetryLater."""
    stores = await open_stores(url, SystemClock())
    try:
        return bool(await stores.grants.owners(platform))
    finally:
        await stores.close()


async def _offer(settings: CommonSettings) -> str:
    assert settings.redis_url is not None
    return await offer(settings.redis_url.reveal())
