"""What a status of a model's service means to us: who must act, and one line for them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.logs import MASK, SHORTEST_SECRET
from kernel.providers.window import is_too_long

_PASSES = frozenset({408, 409, 425, 429})
"""Beside 5xx: conflicts and limits that are gone a moment later."""
LONGEST_QUOTE = 200
_LONGEST_SAID = 2000


class Refusal(ProviderRefused):
    """A refusal with what the service said about it, without the key: a provider may know another way to ask."""

    def __init__(self, why: str, status: int, said: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.said = said

    @property
    def is_about_us(self) -> bool:
        """The service does not want this account, key or model, whatever we ask."""
        return self.status in (401, 402, 403, 404) or 300 <= self.status < 400


class TooLong(Refusal):
    """The request does not fit into the model's context window."""


@dataclass(frozen=True, slots=True)
class Service:
    """Whom we talk to, as the operator knows it. `key` is only held to keep it out of what is quoted."""

    host: str
    model: str
    key_setting: str
    url_setting: str
    key: str = field(default="", repr=False)

    def quote(self, said: str) -> str:
        """One line of what the service said, at most 200 characters, without the key."""
        line = " ".join("".join(char if char.isprintable() else " " for char in self._masked(said)).split())
        return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"

    def _masked(self, said: str) -> str:
        # A key like `x`, for a server at home that wants any, would blot out the words that we learn from.
        return said.replace(self.key, MASK) if len(self.key) >= SHORTEST_SECRET else said

    def error(
        self, status: int, said: str = "", after: timedelta | None = None, kind: str = ""
    ) -> Refusal | ProviderFailed:
        """The error for an answer with `status`; `said` is the service's own message, `kind` its type or code."""
        quoted = f": {quote}" if (quote := self.quote(said)) else ""
        if status in _PASSES or status >= 500:
            return ProviderFailed(f"{self.host} answers {status}{quoted}", after)
        # 401 and 403 are not quoted: services repeat parts of the key there.
        match status:
            case 401:
                why = f"does not accept the key (401): check {self.key_setting}"
            case 402:
                why = f"says that this account has no credit left (402){quoted}"
            case 403:
                why = f"does not let this key use {self.model} (403): check {self.key_setting} and ZCLAW_MODEL"
            case 404:
                why = f"knows no model {self.model} (404): check ZCLAW_MODEL and {self.url_setting}"
            case _ if 300 <= status < 400:
                why = f"sends us to another address ({status}): check {self.url_setting}"
            case _:
                why = f"refuses the request ({status}){quoted}"
        refusal = TooLong if is_too_long(status, said, kind) else Refusal
        return refusal(f"{self.host} {why}", status, self._masked(said)[:_LONGEST_SAID])

    def silence(self, seconds: float) -> ProviderFailed:
        """The error for a service that sent nothing for so long."""
        return ProviderFailed(f"{self.host} sent nothing for {round(seconds)} s")

    def lost(self, error: BaseException) -> ProviderFailed:
        """The error for a connection that could not be made or broke."""
        return ProviderFailed(f"{self.host}: {self.quote(str(error)) or type(error).__name__}")

    def cut(self, what: str) -> ProviderFailed:
        """The error for an answer that is not one, or not whole."""
        return ProviderFailed(f"{self.host} {what}")


def message_of(body: bytes | str) -> tuple[str, str]:
    """(message, type or code) of an error body in either dialect; empty strings when it is something else (HTML)."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return "", ""
    return error_words(parsed)


def error_words(parsed: object) -> tuple[str, str]:
    """(message, type or code) out of `{"error": {…}}`, `{"error": "…"}` or `{"message": "…"}`."""
    match parsed:
        case {"error": {"message": str(message), **rest}}:
            return message, str(rest.get("code") or rest.get("type") or "")
        case {"error": str(message)} | {"message": str(message)}:
            return message, ""
        case _:
            return "", ""
