"""An `Http` whose web is a table: no network, the same words."""

from __future__ import annotations

from kernel.errors import AddressRefused, AnswerRefused
from kernel.net.addresses import is_public, numeric
from kernel.net.targets import Target, read_target
from kernel.ports import HttpReply, HttpRequest


class TwinHttp:
    """Pages by address; `requests` is what was asked, redirects not counted."""

    def __init__(self) -> None:
        self._pages: dict[str, HttpReply | Exception] = {}
        self.requests: list[HttpRequest] = []

    def says(self, url: str, body: bytes = b"", status: int = 200, **headers: str) -> None:
        """The answer at `url`; `_` in the names of headers stands for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._pages[url] = HttpReply(status, url, named, body)

    def leads(self, url: str, to: str) -> None:
        """A redirect at `url`."""
        self.says(url, b"", 302, location=to)

    def fails(self, url: str, error: Exception) -> None:
        """What is raised for `url`."""
        self._pages[url] = error

    async def send(self, request: HttpRequest) -> HttpReply:
        """See `Http.send`."""
        self.requests.append(request)
        target = _target(request.url, None)
        for _ in range(6):
            reply = self._at(target)
            location = reply.headers.get("location")
            if reply.status != 302 or not location:
                content, cap = reply.content, request.cap_bytes
                return HttpReply(reply.status, reply.url, reply.headers, content[:cap], len(content) > cap)
            target = _target(location, target)
        raise AnswerRefused("It leads from address to address more than 5 times.")

    def _at(self, target: Target) -> HttpReply:
        page = self._pages.get(str(target.url.copy_with(fragment=None)))
        if page is None:
            raise AnswerRefused(f"{target.host}: there is no host of that name.")
        if isinstance(page, Exception):
            raise page
        return page


def _target(url: str, base: Target | None) -> Target:
    target = read_target(url, frozenset(), base)
    address = numeric(target.host)
    if address is not None and not is_public(address):
        raise AddressRefused(f"{target.host}: that address is not public.")
    return target
