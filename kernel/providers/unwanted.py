"""Kept parts that their own service has refused: they are never sent again, or their chat would be refused for ever."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from hashlib import sha256

from kernel.messages import Message, Opaque
from kernel.providers.status import Refusal
from kernel.providers.turns import Maker

MOST_REMEMBERED = 20_000
_ABOUT_KEPT = re.compile(r"signature|thinking|redacted|input tag|reasoning", re.IGNORECASE)


class Unwanted:
    """Which kept parts one model does not take back, for the life of the process."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self._digests: OrderedDict[bytes, None] = OrderedDict()

    def keeps(self, opaque: Opaque) -> bool:
        """The part may be sent."""
        return not self._digests or _digest(opaque) not in self._digests

    def learn(self, messages: Iterable[Message], refusal: Refusal) -> bool:
        """Take every kept part of the refused request out of all later ones; False when that changes nothing.

        All of them: each is bound to those before it.
        """
        if refusal.status not in (400, 422) or not _ABOUT_KEPT.search(refusal.said):
            return False
        before = len(self._digests)
        for message in messages:
            for part in message.parts:
                if isinstance(part, Opaque) and Maker(part.provider, part.model) == self._maker:
                    self._digests.setdefault(_digest(part))
        has_grown = len(self._digests) > before
        while len(self._digests) > MOST_REMEMBERED:
            self._digests.popitem(last=False)
        return has_grown


def _digest(opaque: Opaque) -> bytes:
    return sha256(opaque.payload.encode("utf-8", "surrogatepass")).digest()[:16]
