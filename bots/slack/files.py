"""Files that people send in Slack: fetched with the bot's token, which goes to Slack and nowhere else."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import structlog

from bots.adapter import FileGone
from bots.downloads import download
from kernel.chat import Attachment

log = structlog.get_logger(__name__)

_SLACKS: Final = re.compile(
    r"https://(?:[a-z0-9-]+\.)*slack(?:-files)?\.com(?::443)?/[^\\\s]*", re.IGNORECASE | re.ASCII
)
"""An address at Slack's own, with nothing in it that two readers could read as two hosts."""
_PAGE: Final = "text/html"


class Files:
    """Fetches for one token. With `api_url` elsewhere than at Slack's own, files may come from there as well."""

    def __init__(self, token: str, api_url: str) -> None:
        self._headers = {"Authorization": f"Bearer {token}"}
        api = urlsplit(api_url)
        self._beside = f"{api.scheme}://{api.netloc}/"
        self._http: aiohttp.ClientSession | None = None

    async def fetch(self, attachment: Attachment, proxy: str | None = None) -> bytes:
        """See `HasFiles.fetch`."""
        if not self._is_slacks(attachment.source):
            raise FileGone("a file that is not kept by Slack")
        got = await download(self._session(), attachment.source, headers=self._headers, proxy=proxy)
        is_whole = len(got.content) == attachment.size_bytes
        if got.mime == _PAGE and not (attachment.mime == _PAGE and is_whole):
            # Slack asks who does not have the right to sign in, and calls that a success.
            log.warning("slack shows a page instead of the file: does SLACK_BOT_TOKEN have the scope files:read?")
            raise FileGone("a page instead of the file")
        return got.content

    async def close(self) -> None:
        """Let go of the connections; a later fetch opens new ones."""
        if self._http is not None:
            await self._http.close()

    def _session(self) -> aiohttp.ClientSession:
        if self._http is None or self._http.closed:
            self._http = aiohttp.ClientSession()
        return self._http

    def _is_slacks(self, address: str) -> bool:
        return address.startswith(self._beside) or _SLACKS.fullmatch(address) is not None
