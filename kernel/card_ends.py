"""What becomes of a card on which nobody has decided."""

from __future__ import annotations

import structlog

from kernel import approvals, questions
from kernel.changes import Changes
from kernel.errors import BadRecord
from kernel.ports import PromptRecord
from kernel.session import Gate, Turn

log = structlog.get_logger()


def undecided(record: PromptRecord, turn: Turn | None = None, gate: Gate | None = None) -> Changes:
    """Its end, when it is still open.

    With `turn` and `gate`, which it asked about until its person wrote something else, a request is only put aside.
    """
    if not record.is_open:
        return Changes()
    try:
        if record.kind == questions.KIND:
            return questions.closed(record)
        if turn is not None and gate is not None:
            return approvals.put_aside(record, turn, gate)
        return approvals.closed(record)
    except BadRecord as error:  # Its buttons stay, and answer that they no longer work.
        log.warning("card that cannot be read", why=str(error))
        return Changes()
