"""Numbers of tokens as services tell them: some leave them out, send text or less than nothing."""

from __future__ import annotations

_MOST = 1_000_000_000


def tokens(told: object) -> int:
    """The number told, 0 for anything that is none: what a chat used up never becomes less."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        return 0
    return int(min(told, _MOST)) if told > 0 else 0
