"""The last look at what people are shown: no secret that this process knows is in it, whoever put it there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kernel.chat import Choice, Notice, Outbound, Prompt, PromptClosed, Reply

Mask = Callable[[str], str]
"""Gives a text without any of the secrets."""


def masked(outbound: Outbound, mask: Mask) -> Outbound:
    """`outbound` with every text and label masked."""
    match outbound:
        case Reply() | Notice():
            return replace(outbound, text=mask(outbound.text))
        case Prompt() | PromptClosed():
            return replace(outbound, text=mask(outbound.text), choices=_masked(outbound.choices, mask))


def _masked(choices: tuple[Choice, ...], mask: Mask) -> tuple[Choice, ...]:
    return tuple(replace(choice, label=mask(choice.label)) for choice in choices)
