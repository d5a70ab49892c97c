"""What one process has done since it started, counted for whoever watches over it; no one's words and no one's ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

COUNTED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = MappingProxyType(
    {
        "inbound": (
            "What people did: stored, paired, or dropped: refused, unaddressed, limited, wordless, duplicate, broken.",
            ("platform", "outcome"),
        ),
        "delivery": (
            "What was to be said: done, failed for good, retried later, or slowed to the platform's pace.",
            ("platform", "outcome"),
        ),
        "file": (
            "What came with messages: done, or not fetched: large, gone, failed, link.",
            ("platform", "outcome"),
        ),
        "http": ("Requests to our own server.", ("path", "status")),
    }
)
"""Everything that may be counted: its meaning and what it is told apart by."""


class Counters:
    """Numbers that only grow. Labels are words of ours from small sets, never a name or an id."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def count(self, what: str, **labels: str) -> None:
        """One more of `what`, a name in `COUNTED`, with exactly its labels."""
        _, names = COUNTED[what]
        assert labels.keys() == set(names), f"{what} is told apart by {names}"
        self._counts[what, tuple(labels[name] for name in names)] += 1

    def of(self, what: str, **labels: str) -> int:
        """How many so far."""
        _, names = COUNTED[what]
        return self._counts[what, tuple(labels[name] for name in names)]

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, str], int]]:
        """What, its labels, and how many so far; in order of their names."""
        for (what, values), number in sorted(self._counts.items()):
            yield what, dict(zip(COUNTED[what][1], values, strict=True)), number
