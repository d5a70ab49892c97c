"""What becomes of a card on which nobody has decided."""

from __future__ import annotations

from enum import Enum

import structlog

from kernel import approvals, asides, questions
from kernel.changes import Changes
from kernel.errors import BadRecord
from kernel.ports import PromptRecord
from kernel.session import Gate, Turn

log = structlog.get_logger()


class Why(Enum):
    """Why nobody decides any more."""

    OVER = "over"
    """Its call is waited for no more: stopped, or its turn has ended."""
    EXPIRED = "expired"
    """Its time is over."""
    SUPERSEDED = "superseded"
    """Its person wrote something else."""


def undecided(record: PromptRecord, why: Why, asked: tuple[Turn, Gate] | None = None) -> Changes:
    """Its end, when it is still open; a superseded request, of which `asked` tells, is only put aside."""
    if not record.is_open:
        return Changes()
    try:
        match record.kind, why:
            case questions.KIND, _:
                return questions.closed(record)
            case asides.KIND, _:
                return asides.expired(record)
            case _, Why.SUPERSEDED if asked is not None:
                return asides.put_aside(record, *asked)
            case _, Why.EXPIRED:
                return approvals.expired(record, approvals.read(record))
            case _:
                return approvals.closed(record)
    except BadRecord as error:  # Its buttons stay, and answer that they no longer work.
        log.warning("card that cannot be read", why=str(error))
        return Changes()
