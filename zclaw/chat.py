"""`zclaw chat`: this terminal as the chat of an installation that runs, or is started for it."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys
from collections.abc import Coroutine, Sequence

from prompt_toolkit import PromptSession

from bots.console import ConsoleAdapter, place
from kernel import config
from kernel.access import CONSOLE
from kernel.chat import ConversationId, Sender
from kernel.clock import SystemClock
from kernel.errors import RetryLater
from kernel.logs import set_up
from kernel.settings import CommonSettings, Language
from kernel.stores.redis.stores import open_stores
from kernel.stores.stores import Stores
from kernel.texts import say
from zclaw.join import Joined, join
from zclaw.settings_record import as_running
from zclaw.terminals import Terminal, open_terminal
from zclaw.wiring.bots import driver
from zclaw.wiring.parts import process_name

_LOOK_EVERY_S = 1.0


def run(argv: Sequence[str]) -> int:
    """Talk until the person leaves, or standard input has been answered; the exit code. Raises OperatorError."""
    argparse.ArgumentParser(prog="zclaw chat", description="Talk to zclaw in this terminal.").parse_args(argv)
    given = config.read()
    settings = given.settings(CommonSettings)
    with (
        join(given) as joined,
        open_terminal(joined.folder) as terminal,
        (joined.folder.logs / "chat.log").open("a") as log,
    ):
        running = as_running(joined.folder, settings)
        if joined.differing:
            sys.stderr.write(_differing_line(joined.differing, running.timezone != settings.timezone, running) + "\n")
        set_up(settings.log.value, config.secret_values(settings), log)
        return asyncio.run(_talk(joined, terminal, running))


def _differing_line(names: Sequence[str], has_other_zone: bool, running: CommonSettings) -> str:
    zone = f" (its zone is {running.timezone.key})" if has_other_zone else ""
    return (
        f"zclaw runs already, with other settings than {', '.join(names)} here, and its own apply{zone}. "
        "To use these: zclaw down, and start again."
    )


async def _talk(joined: Joined, terminal: Terminal, settings: CommonSettings) -> int:
    clock = SystemClock()
    stores = await open_stores(joined.url, clock)
    here = place(terminal.number)
    adapter = ConsoleAdapter(
        clock=clock,
        process=process_name(),
        sender=Sender(getpass.getuser(), getpass.getuser(), language=None, zone=settings.timezone.key),
        language=await _language(stores, here, settings),
        session=PromptSession() if sys.stdin.isatty() else None,
        conversation=here,
        deserted=lambda: [place(number) for number in terminal.closed_ones()],
    )
    try:
        if not await _until_ended(driver(adapter, stores, settings, clock).run(), joined):
            sys.stderr.write(f"zclaw has ended here. {joined.last_words()}\n")
            return 1
        if sys.stdin.isatty():
            sys.stdout.write(await _farewell(stores, here, settings) + "\n")
    finally:
        await stores.close()
    return 0


async def _until_ended(talk: Coroutine[object, object, None], joined: Joined) -> bool:
    """Talk to the end; False when the installation ended meanwhile: nobody would answer any more."""
    talking = asyncio.create_task(talk)
    while not talking.done():
        if not await asyncio.to_thread(joined.is_supervised):
            talking.cancel()
            await asyncio.gather(talking, return_exceptions=True)
            return False
        await asyncio.wait([talking], timeout=_LOOK_EVERY_S)
    await talking
    return True


def greeting_language(setting: Language, written: str | None, machine: str | None) -> str:
    """The language to greet in: the operator's, else that which was `written` here last, else that of the `machine`."""
    if setting is not Language.AUTO:
        return str(setting.value)
    return written or machine or "zh"


async def _language(stores: Stores, here: ConversationId, settings: CommonSettings) -> str:
    """The language to greet in and to part in; asked each time, as people change it by what they write."""
    try:
        written = await stores.people.language(here)
    except RetryLater:
        written = None
    return greeting_language(settings.lang, written, config.machine_language())


async def _farewell(stores: Stores, here: ConversationId, settings: CommonSettings) -> str:
    try:
        waiting = await stores.triggers.count(CONSOLE)
    except RetryLater:  # Nobody can tell how many wait; goodbye all the same.
        waiting = 0
    language = await _language(stores, here, settings)
    return say("chat.leaving" if waiting else "chat.leaving_none", language, count=str(waiting))
