"""What the arguments of a call stand for, looked up before anything is decided about it.

A card shows, its digest binds and the tool runs what was found: a name that comes to mean somebody else between the
card and the press changes nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

import structlog

from kernel.access import Standing
from kernel.chat import ConversationId
from kernel.errors import ModelError, RetryLater
from kernel.gates import answered
from kernel.loop import gate_of
from kernel.messages import Concurrency
from kernel.outside import has_read_others
from kernel.session import Gate, GateState, Turn
from kernel.session_events import ModelReplied
from kernel.tools import Requester, ToolRegistry, capped

log = structlog.get_logger()

NOT_ALLOWED = (
    "Not run: the person may talk here, but was not let in personally, and this is only for those who were. Tell them "
    "so, and that an owner of the bot can let them in."
)


async def resolved(
    event: ModelReplied,
    turn: Turn,
    conversation: ConversationId,
    registry: ToolRegistry,
    new_token: Callable[[], str],
    standing: Standing,
) -> ModelReplied:
    """The turn's reply with the calls of tools that `resolve` gated anew; reads only, so it may be done again.

    A call whose arguments stand for nothing is answered with why, and so is one that needs more than the requester's
    `standing`: nobody is asked about it. Raises `RetryLater` while our store is away.
    """
    gates = [await _resolved(gate, turn, conversation, registry, new_token, standing) for gate in event.gates]
    return replace(event, gates=tuple(gates))


async def _resolved(
    gate: Gate,
    turn: Turn,
    conversation: ConversationId,
    registry: ToolRegistry,
    new_token: Callable[[], str],
    standing: Standing,
) -> Gate:
    if gate.is_answered:
        return gate
    tools = registry.within(turn.top.reach)
    bound = tools.bind(gate.call)
    if bound.tool.needs > standing:
        return _refused(gate, NOT_ALLOWED)
    resolve = bound.tool.resolve
    if resolve is None:
        return gate
    try:
        async with asyncio.timeout(bound.tool.timeout.total_seconds()):
            requester = Requester(turn.requester, conversation, turn.is_private)
            arguments = await resolve(bound.arguments, requester)
    except ModelError as error:
        return _refused(gate, capped(str(error)))
    except RetryLater:
        raise
    except Exception:  # The boundary of a tool's own code, as when it runs.
        log.exception("tool failed", tool=bound.call.name)
        return _refused(gate, "Not run: the tool failed.")
    call = replace(gate.call, arguments=json.dumps(arguments, ensure_ascii=False))
    return gate_of(call, tools, new_token, is_wary=has_read_others(turn, registry))


def _refused(gate: Gate, why: str) -> Gate:
    """As a call that could not be bound."""
    return replace(answered(gate, GateState.ANSWERED, why, is_error=True), concurrency=Concurrency.READ_ONLY, token="")
