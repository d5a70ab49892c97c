"""Files that people send in Telegram: `getFile` tells a path, which is fetched from beside the Bot API."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final
from urllib.parse import quote

import aiohttp
from aiogram.client.telegram import TelegramAPIServer
from aiogram.methods import GetFile
from aiogram.types import File

from bots.adapter import FileGone, FileTooLarge
from bots.downloads import download
from bots.telegram.calls import Calls, Refused
from kernel.chat import MAX_FILE_BYTES, Attachment
from kernel.errors import RetryLater

_PATH: Final = re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))[^\x00-\x1f\\?#]+")
"""What may stand behind our token in an address: nothing that leads out of there."""
_LATER: Final = timedelta(seconds=2)


class Files:
    """Fetches for one token; connections are opened at the first use."""

    def __init__(self, token: str, server: TelegramAPIServer, calls: Calls) -> None:
        self._token = token
        self._server = server
        self._calls = calls
        self._http: aiohttp.ClientSession | None = None

    async def fetch(self, attachment: Attachment) -> bytes:
        """See `HasFiles.fetch`."""
        try:
            told = await self._calls.ask(GetFile(file_id=attachment.source))
        except Refused as refusal:
            failure = _failure(refusal)
        else:
            return (await download(self._session(), self._address(told))).content
        raise failure

    async def close(self) -> None:
        """Let go of the connections; a later fetch opens new ones."""
        if self._http is not None:
            await self._http.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._http is None or self._http.closed:
            self._http = aiohttp.ClientSession()
        return self._http

    def _address(self, told: File) -> str:
        if (told.file_size or 0) > MAX_FILE_BYTES:
            raise FileTooLarge(f"a file of {told.file_size} bytes")
        path = told.file_path or ""
        if not _PATH.fullmatch(path):
            raise FileGone("Telegram tells no path of the file")
        return self._server.file_url(self._token, quote(path))


def _failure(refusal: Refused) -> FileGone | RetryLater:
    """As the Bot API server words it: `file is too big`, `wrong file_id or the file is temporarily unavailable`."""
    if "too big" in str(refusal):
        return FileTooLarge("more than Telegram gives to bots")
    if "temporarily unavailable" in str(refusal):
        return RetryLater("getFile: the file is not there, or not there yet", _LATER)
    return FileGone(str(refusal))
