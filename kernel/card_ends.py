"""What becomes of a card on which nobody has decided."""

from __future__ import annotations

from enum import Enum

import structlog

from kernel import approvals, questions
from kernel.changes import Changes
from kernel.errors import BadRecord
from kernel.ports import PromptRecord
from kernel.session import Gate, Turn

log = structlog.get_logger()


class Why(Enum):
    """Why nobody decides any more."""

    OVER = "over"
    """Its turn has ended, or goes on without it."""
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    """Its person wrote something else."""


def undecided(record: PromptRecord, why: Why, asked: tuple[Turn, Gate] | None = None) -> Changes:
    """Its end, when it is still open; a superseded request, of which `asked` tells, is only put aside."""
    if not record.is_open:
        return Changes()
    try:
        if record.kind == questions.KIND:
            return questions.closed(record)
        if why is Why.SUPERSEDED and asked is not None:
            return approvals.put_aside(record, *asked)
        return approvals.expired(record) if why is Why.EXPIRED else approvals.closed(record)
    except BadRecord as error:  # Its buttons stay, and answer that they no longer work.
        log.warning("card that cannot be read", why=str(error))
        return Changes()
