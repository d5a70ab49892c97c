"""Puts a worker's conversations together: which reception, which effects, which actors."""

from __future__ import annotations

import secrets

from kernel.context import MOST_PAST
from kernel.loop import Limits
from kernel.ports import Checkout, Clock, Provider
from kernel.prompts import SYSTEM, prefix_digest
from kernel.reception import Manners, Reception
from kernel.stores.stores import Stores
from kernel.tools import ToolRegistry
from workers.actor import Actor
from workers.effects import Effects
from workers.surroundings import Surroundings
from workers.turns import Actors

SLOTS = 1000
"""Conversations that one process works for at once; one in flight costs tens of kilobytes."""


def new_id() -> str:
    """A word nobody can guess: for turns, triggers and the tokens on buttons."""
    return secrets.token_urlsafe(15)


def open_actors(
    stores: Stores,
    *,
    provider: Provider | None,
    registry: ToolRegistry,
    clock: Clock,
    worker: str,
    zone: str,
    language: str = "auto",
    fold: bool = True,
    limits: Limits | None = None,
    most_past: int = MOST_PAST,
    slots: int = SLOTS,
) -> Actors:
    """The conversations of the process `worker`. `zone` is where nobody said otherwise."""
    manners = Manners(
        zone=zone,
        language=language,
        has_model=provider is not None,
        prefix=prefix_digest(SYSTEM, registry.words),
    )
    reception = Reception(stores.triggers, stores.prompts, stores.people, manners, new_id)
    effects = Effects(
        provider=provider,
        registry=registry,
        system=SYSTEM,
        blobs=stores.blobs,
        clock=clock,
        new_id=new_id,
        zone=reception.zone,
        most_past=most_past,
    )
    around = Surroundings(
        conversations=stores.conversations,
        outbox=stores.outbox,
        reception=reception,
        effects=effects,
        manners=manners,
        clock=clock,
        limits=limits or Limits(),
        fold=fold,
    )

    def new_actor(checkout: Checkout, asked_at: float) -> Actor:
        return Actor(checkout, around, asked_at=asked_at)

    return Actors(stores.conversations, stores.wakeups, new_actor, clock, worker=worker, slots=slots)
