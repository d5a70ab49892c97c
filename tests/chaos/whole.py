"""A whole installation, `zclaw up` as a process of its own, between a Telegram and a model's service of ours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.bots.telegram.fake_api import TOKEN, FakeApi, serving
from tests.twins.model_service import ModelService
from tests.twins.model_service import model_service as service_of_models
from zclaw.folder import DataFolder

ROOT = Path(__file__).parents[2]
WITHIN_S = 60
ALICE = {"id": 1001, "is_bot": False, "first_name": "Alice"}
CHAT = {"id": 1001, "type": "private", "first_name": "Alice"}
SECRETS = {"TELEGRAM_BOT_TOKEN": TOKEN, "ANTHROPIC_API_KEY": "sk-ant-test"}


@dataclass
class Installation:
    """A running `zclaw up`, and what Alice, its owner, does in her private chat."""

    process: subprocess.Popen[bytes]
    api: FakeApi
    models: ModelService
    folder: DataFolder
    environment: dict[str, str] = field(repr=False)
    updates: int = 0

    def killed(self) -> None:
        """kill -9 of every process of it at once, as a power cut does."""
        everything = [psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(recursive=True)]
        for each in everything:
            each.send_signal(signal.SIGKILL)
        self.process.wait(WITHIN_S)
        psutil.wait_procs(everything, WITHIN_S)

    def starts(self) -> None:
        """`zclaw up` once more, over the same folder."""
        self.process = started(self.folder.root.parent, self.environment)

    async def says(self, text: str) -> None:
        self.updates += 1
        message = {"message_id": self.updates, "date": 1796000400, "chat": CHAT, "from": ALICE, "text": text}
        await self.api.adds({"update_id": self.updates, "message": message})

    async def presses(self, label: str) -> None:
        shown = next(call for call in reversed(self.sent()) if "reply_markup" in call)
        markup = shown["reply_markup"]
        assert isinstance(markup, dict)
        button = next(each for row in markup["inline_keyboard"] for each in row if label in each["text"])
        self.updates += 1
        place = {"message_id": self.updates, "date": 1796000400, "chat": CHAT, "text": "card"}
        press = {"id": f"q{self.updates}", "from": ALICE, "chat_instance": "c", "data": button["callback_data"]}
        await self.api.adds({"update_id": self.updates, "callback_query": press | {"message": place}})

    def sent(self) -> list[dict[str, object]]:
        return self.api.of("sendMessage")

    async def sees(self, words: str) -> None:
        """Return when Alice has got a message with these words."""
        async with asyncio.timeout(WITHIN_S):
            while not any(words in str(call["text"]) for call in self.sent()):
                async with self.api.changed:
                    await self.api.changed.wait()


def started(folder: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """`zclaw up`; what it says goes to `up.out`."""
    with (folder / "up.out").open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "zclaw", "up"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


@asynccontextmanager
async def installation(folder: Path, secrets: Mapping[str, str] = SECRETS) -> AsyncIterator[Installation]:
    """One that runs in `folder` with these secrets in its environment, stopped at the end."""
    async with serving() as api, service_of_models() as models:
        known = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(folder), "ZCLAW_LANG": "zh"}
        more = {
            "ZCLAW_DATA_DIR": str(folder / "data"),
            "ZCLAW_ALLOW": "telegram:1001",
            "ZCLAW_OWNERS": "telegram:1001",
            "ZCLAW_MODEL": "anthropic:claude-opus-4-6",
            "ZCLAW_LOG": "debug",
            "TELEGRAM_API_URL": api.url,
            "ANTHROPIC_BASE_URL": models.url,
        }
        environment = known | more | dict(secrets)
        here = Installation(started(folder, environment), api, models, DataFolder(folder / "data"), environment)
        try:
            yield here
        finally:
            here.process.terminate()
            await asyncio.to_thread(here.process.wait, WITHIN_S)
