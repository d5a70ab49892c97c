"""What model calls used up: added with the commit, once, by chat, person and day; kept 400 days."""

from __future__ import annotations

from datetime import date, timedelta

import redis

from kernel.chat import ConversationId
from kernel.ports import Outcome, Spending, Spent
from kernel.stores import keys, rules
from kernel.stores.stores import Stores
from tests.kernel.stores.words import HERE, THERE, kept, said, step, taken
from tests.twins.clock import START, JumpingClock

TODAY = START.date()
YESTERDAY = TODAY - timedelta(days=1)
CALL = Spent(input=1000, output=20, cached=800, micro_dollars=1234)


def spending(person: str = "42", day: date = TODAY, spent: Spent = CALL) -> Spending:
    return Spending(person, day, spent)


async def test_calls_add_up_by_day(stores: Stores, clock: JumpingClock) -> None:
    await kept(stores, clock.now(), spendings=(spending(), spending(day=YESTERDAY)))
    await kept(stores, clock.now(), spendings=(spending(),))

    assert await stores.spendings.of_chat(HERE, (TODAY, YESTERDAY, date(2026, 1, 1))) == (CALL + CALL, CALL, Spent())


async def test_threads_of_a_chat_share_its_sums_and_other_chats_do_not(stores: Stores, clock: JumpingClock) -> None:
    beside = ConversationId(THERE.platform, THERE.chat, "another")
    await kept(stores, clock.now(), spendings=(spending(),), where=THERE)
    await kept(stores, clock.now(), spendings=(spending(),), where=beside)

    assert await stores.spendings.of_chat(THERE, (TODAY,)) == (CALL + CALL,)
    assert await stores.spendings.of_chat(HERE, (TODAY,)) == (Spent(),)


async def test_people_add_up_over_chats_and_days(stores: Stores, clock: JumpingClock) -> None:
    strange = "a:*? [b\n%"
    await kept(stores, clock.now(), spendings=(spending(), spending(day=YESTERDAY)))
    await kept(stores, clock.now(), spendings=(spending(), spending(strange)), where=THERE)

    assert await stores.spendings.of_people("telegram", (TODAY, YESTERDAY)) == {"42": CALL + CALL + CALL, strange: CALL}
    assert await stores.spendings.of_people("telegram", (YESTERDAY,)) == {"42": CALL}
    assert await stores.spendings.of_people("slack", (TODAY,)) == {}


async def test_beyond_the_bound_people_are_one_sum(stores: Stores, clock: JumpingClock) -> None:
    people = tuple(spending(str(number), spent=Spent(1)) for number in range(rules.MAX_SPENDERS + 2))

    await kept(stores, clock.now(), spendings=(*people, spending("5", spent=Spent(1))))

    found = await stores.spendings.of_people("telegram", (TODAY,))
    assert len(found) == rules.MAX_SPENDERS + 1
    assert (found["5"], found[""]) == (Spent(2), Spent(2))


async def test_a_commit_that_is_told_again_counts_once(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())
    checkout = await taken(stores, clock.now())
    made = step(checkout.session, spendings=(spending(),))

    for _ in range(3):
        await stores.conversations.commit(checkout.lease, made, now=clock.now())

    assert await stores.spendings.of_chat(HERE, (TODAY,)) == (CALL,)
    assert await stores.spendings.of_people("telegram", (TODAY,)) == {"42": CALL}


async def test_a_checkout_brings_what_was_used_up_on_every_day_that_may_be_today(
    stores: Stores, clock: JumpingClock
) -> None:
    days = rules.days_around(START)
    used = (*(spending(day=day) for day in days), spending(day=TODAY - timedelta(days=5)))
    await kept(stores, clock.now(), spendings=used)
    await stores.people.set_zone(HERE, "Europe/Berlin")
    await stores.conversations.put(said(), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert checkout.spent == dict.fromkeys(days, CALL)
    assert checkout.zone == "Europe/Berlin"


async def test_a_new_conversation_has_used_up_nothing(stores: Stores, clock: JumpingClock) -> None:
    await stores.conversations.put(said(), now=clock.now())

    checkout = await taken(stores, clock.now())

    assert checkout.zone is None
    assert checkout.spent == {}


async def test_sums_are_kept_400_days(redis_stores: Stores, clock: JumpingClock, raw: redis.Redis) -> None:
    await kept(redis_stores, clock.now(), Outcome.DONE, spendings=(spending(),))

    limit = rules.KEEP_SPENDINGS.total_seconds()
    for name in (
        keys.SPENT.of("telegram", HERE.chat, TODAY.isoformat()),
        keys.SPENT_BY.of("telegram", TODAY.isoformat()),
    ):
        assert limit - 60 < raw.ttl(name) <= limit
