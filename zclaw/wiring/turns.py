"""Puts a worker's conversations together: which reception, which effects, which actors."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from kernel.access import Access, Rights
from kernel.context import MOST_PAST
from kernel.lookups import Lookups
from kernel.loop import Limits
from kernel.messages import Effort, Thinking
from kernel.ports import Checkout, Clock, Provider
from kernel.prompts import prefix_digest, system_prompt
from kernel.reception import Manners, Reception
from kernel.stores.stores import Stores
from kernel.tools import ToolRegistry
from kernel.usage import Allowance
from workers.actor import Actor
from workers.asking import Asker, Asking
from workers.compactor import Compactor
from workers.effects import Effects
from workers.surroundings import Surroundings
from workers.turns import Actors

SLOTS = 1000
"""Conversations that one process works for at once; one in flight costs tens of kilobytes."""
WINDOW = 128_000
"""Tokens that a model reads, when nobody says otherwise."""


def new_id() -> str:
    """A word nobody can guess: for turns, triggers and the tokens on buttons."""
    return secrets.token_urlsafe(15)


@dataclass(frozen=True, slots=True)
class Rules:
    """How the conversations of a worker go, as the operator decided; see `Manners`, `Limits` and `Effects`."""

    zone: str
    """Where nobody said otherwise."""
    language: str = "auto"
    fold: bool = True
    plans: bool = False
    thinking: Thinking = Thinking.OWN
    effort: Effort | None = None
    persona: str = ""
    most_past: int = MOST_PAST
    window: int = WINDOW
    limits: Limits = field(default_factory=Limits)
    access: Access = field(default_factory=Access)
    allowance: Allowance = field(default_factory=Allowance)


def open_actors(
    stores: Stores,
    *,
    provider: Provider | None,
    registry: ToolRegistry,
    clock: Clock,
    worker: str,
    rules: Rules,
    slots: int = SLOTS,
    mask: Callable[[str], str] = str,
) -> Actors:
    """The conversations of the process `worker`; `mask` takes its secrets out of what tools give."""
    system = system_prompt(rules.persona)
    rights = Rights(rules.access, stores.grants, stores.people)
    manners = Manners(
        zone=rules.zone,
        language=rules.language,
        has_model=provider is not None,
        prefix=prefix_digest(system, registry.words),
        plans=rules.plans,
        allowance=rules.allowance,
    )
    reception = Reception(
        stores.triggers,
        stores.prompts,
        stores.people,
        manners,
        new_id,
        rights=rights,
        grants=stores.grants,
        memories=stores.memories,
        lookups=Lookups(
            conversations=stores.conversations,
            people=stores.people,
            memories=stores.memories,
            spendings=stores.spendings,
            grants=stores.grants,
            silences=stores.silences,
            allowance=rules.allowance,
            zone=rules.zone,
            provider=provider,
        ),
    )
    asking = Asking(system, manners.prefix, rules.thinking, rules.effort, rules.most_past)
    effects = Effects(
        asker=Asker(provider, registry, asking, outbox=stores.outbox, blobs=stores.blobs, clock=clock)
        if provider
        else None,
        registry=registry,
        blobs=stores.blobs,
        clock=clock,
        new_id=new_id,
        zone=reception.zone,
        standing=rights.of_person,
        silences=stores.silences,
        mask=mask,
    )
    around = Surroundings(
        conversations=stores.conversations,
        outbox=stores.outbox,
        reception=reception,
        effects=effects,
        manners=manners,
        clock=clock,
        most_past=rules.most_past,
        compactor=_compactor(provider, stores, rules, clock),
        limits=rules.limits,
        fold=rules.fold,
    )

    def new_actor(checkout: Checkout, asked_at: float) -> Actor:
        return Actor(checkout, around, asked_at=asked_at)

    return Actors(stores.conversations, stores.wakeups, new_actor, clock, worker=worker, slots=slots)


def _compactor(provider: Provider | None, stores: Stores, rules: Rules, clock: Clock) -> Compactor | None:
    if provider is None:
        return None
    return Compactor(provider, stores.triggers, clock, window=rules.window, most=rules.most_past)
