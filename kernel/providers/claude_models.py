"""What each Claude can be told: current models think by themselves, and each generation has its own word for it.

    models                            thinks unasked   on                  off
    opus, fable, mythos 5.1 and up    yes              adaptive            cannot: the least effort instead
    sonnet 5.5                        yes              adaptive            between_tools
    haiku 5.5                         yes              adaptive            disabled
    fable, mythos 5                   yes              adaptive            cannot
    opus, sonnet 5                    yes              adaptive            disabled
    opus 4.7, 4.8                     no               adaptive            disabled
    opus, sonnet 4.6                  no               adaptive            disabled
    opus 4.5; sonnet, haiku 4.5       no               enabled + budget    disabled
    another maker's, same API         often            enabled + budget    disabled

A `claude-` name that is not here yet is taken for one of the newest: what they all accept is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kernel.messages import Effort, ModelRequest, Thinking

LEAST_BUDGET = 1024
_BUDGETS = {Effort.LOW: 2_000, Effort.MEDIUM: 4_000, Effort.HIGH: 8_000, Effort.XHIGH: 12_000, Effort.MAX: 16_000}
_EFFORTS = tuple(Effort)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one model takes. `off` is the type that turns thinking off, empty when nothing does."""

    thinks_unasked: bool
    on: str = "adaptive"
    off: str = ""
    most_effort: Effort | None = Effort.MAX
    """None: it has no setting for it."""
    most_tokens: int = 128_000


_NEWEST = Abilities(thinks_unasked=True)
_ABROAD = Abilities(thinks_unasked=True, on="enabled", off="disabled", most_effort=None)
_TABLE = (
    (r"claude-(?:fable|mythos)-5-\d|claude-opus-5-[1-9]", _NEWEST),
    (r"claude-sonnet-5-\d", Abilities(thinks_unasked=True, off="between_tools")),
    (r"claude-haiku-5", Abilities(thinks_unasked=True, off="disabled")),
    (r"claude-(?:fable|mythos)-5", _NEWEST),
    (r"claude-(?:opus|sonnet)-5", Abilities(thinks_unasked=True, off="disabled")),
    (r"claude-opus-4-[78]", Abilities(thinks_unasked=False, off="disabled")),
    (
        r"claude-sonnet-4-6",
        Abilities(thinks_unasked=False, off="disabled", most_effort=Effort.HIGH, most_tokens=64_000),
    ),
    (r"claude-opus-4-6|claude-mythos-preview", Abilities(thinks_unasked=False, off="disabled")),
    (
        r"claude-opus-4-5",
        Abilities(thinks_unasked=False, on="enabled", off="disabled", most_effort=Effort.HIGH, most_tokens=64_000),
    ),
    (
        r"claude-(?:sonnet|haiku)-4|claude-\d",
        Abilities(thinks_unasked=False, on="enabled", off="disabled", most_effort=None, most_tokens=64_000),
    ),
    (r"claude-", _NEWEST),
)


def abilities_of(model: str) -> Abilities:
    """What `model` takes; date suffixes and prefixes of resellers (`anthropic/claude-…`) change nothing."""
    return next((able for pattern, able in _TABLE if re.search(pattern, model)), _ABROAD)


def thinking_of(request: ModelRequest, able: Abilities, max_tokens: int, *, may_ask: bool) -> dict[str, Any]:
    """The `thinking` and `output_config` fields of the request's body.

    `may_ask` is False when the newest tool loop has no thinking of this model's to show: a budget is refused then, and
    so is a loop that lost its thinking, unless thinking is off.
    """
    fields: dict[str, Any] = {}
    effort = request.effort
    wants = request.thinking
    if able.on == "enabled" and (not may_ask or max_tokens <= 2 * LEAST_BUDGET):
        wants = Thinking.OFF
    if wants is Thinking.ON:
        fields["thinking"] = {"type": able.on}
        if able.on == "enabled":
            asked = _BUDGETS[effort or Effort.MEDIUM]
            fields["thinking"]["budget_tokens"] = max(LEAST_BUDGET, min(asked, max_tokens // 2))
    elif wants is Thinking.OFF and able.thinks_unasked:
        if able.off:
            fields["thinking"] = {"type": able.off}
        else:
            effort = effort or Effort.LOW
    if effort and able.most_effort:
        least = min(effort, able.most_effort, key=_EFFORTS.index)
        fields["output_config"] = {"effort": least.value}
    return fields
