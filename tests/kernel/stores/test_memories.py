"""What people asked to be remembered: commits keep it, on the shelf it belongs to and on no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kernel.errors import LeaseLost
from kernel.ports import MAX_MEMORIES, Forget, Remember, Shelf
from kernel.stores.stores import Stores
from tests.kernel.stores.words import HERE, SECOND, THERE, kept, said, step, taken
from tests.twins.clock import JumpingClock

ANNS = Shelf("telegram", "42", is_private=True)


async def test_notes_are_kept_in_the_order_in_which_they_came(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), memories=(Remember(ANNS, "对青霉素过敏"), Remember(ANNS, "likes tea")))
    await kept(stores, clock.now(), memories=(Remember(ANNS, "works\n* on [Mondays]"),))

    assert await stores.memories.on(ANNS) == ("对青霉素过敏", "likes tea", "works\n* on [Mondays]")


async def test_the_same_words_are_there_once_and_newest(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), memories=(Remember(ANNS, "a"), Remember(ANNS, "b"), Remember(ANNS, "a")))

    assert await stores.memories.on(ANNS) == ("b", "a")


async def test_only_exactly_those_words_are_forgotten(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), memories=(Remember(ANNS, "tea"), Remember(ANNS, "tea with milk")))
    await kept(stores, clock.now(), memories=(Forget(ANNS, "tea"), Forget(ANNS, "was never there")))

    assert await stores.memories.on(ANNS) == ("tea with milk",)


async def test_a_shelf_holds_fifty_and_lets_the_oldest_go(stores: Stores, clock: JumpingClock) -> None:
    notes = tuple(Remember(ANNS, f"fact {number}") for number in range(MAX_MEMORIES + 3))

    await kept(stores, clock.now(), memories=notes)

    kept_now = await stores.memories.on(ANNS)
    assert len(kept_now) == MAX_MEMORIES
    assert (kept_now[0], kept_now[-1]) == ("fact 3", "fact 52")


@pytest.mark.parametrize(
    "other",
    [
        Shelf("telegram", "42", is_private=False),
        Shelf("slack", "42", is_private=True),
        Shelf("telegram", "4:2", is_private=True),
        Shelf("telegram", "*", is_private=True),
        Shelf("telegram", "", is_private=True),
    ],
)
async def test_no_shelf_shows_what_stands_on_another(stores: Stores, clock: JumpingClock, other: Shelf) -> None:
    await kept(stores, clock.now(), memories=(Remember(ANNS, "private"),))
    await kept(stores, clock.now(), memories=(Remember(other, "other"),), where=THERE)

    assert await stores.memories.on(ANNS) == ("private",)
    assert await stores.memories.on(other) == ("other",)


async def test_a_commit_that_is_told_again_or_comes_too_late_keeps_nothing_more(
    stores: Stores, clock: JumpingClock
) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    made = step(checkout.session, memories=(Remember(ANNS, "a"), Forget(ANNS, "b"), Remember(ANNS, "b")))
    await stores.conversations.commit(checkout.lease, made, now=clock.now())
    await kept_elsewhere(stores, clock, Forget(ANNS, "a"))

    await stores.conversations.commit(checkout.lease, made, now=clock.now())
    late = replace(made, memories=(Remember(ANNS, "late"),))
    with pytest.raises(LeaseLost):
        await stores.conversations.commit(checkout.lease, late, now=clock.now())

    assert await stores.memories.on(ANNS) == ("b",)


async def kept_elsewhere(stores: Stores, clock: JumpingClock, change: Forget) -> None:
    """The same person speaks in another conversation meanwhile."""
    await kept(stores, clock.now() + SECOND, memories=(change,), where=THERE)


async def test_a_shelf_without_notes_is_empty(stores: Stores) -> None:
    assert await stores.memories.on(Shelf("telegram", HERE.chat, is_private=False)) == ()
