"""What owners granted, the pairing code, chats that moved, counts and silences: what every store must do."""

from __future__ import annotations

from datetime import timedelta

from kernel.chat import ConversationId
from kernel.ports import Grant, Granted, Redeemed, Right, Silence, Unanswered
from kernel.ports.chats import MAX_ASKERS, KnownChat
from kernel.ports.grants import CODE_LIVES, CODE_TRIES
from kernel.ports.rates import Counted
from kernel.ports.unanswered import MAX_UNANSWERED
from kernel.settings import PlatformId
from kernel.stores.stores import Stores
from tests.twins.clock import JumpingClock

MINUTE = timedelta(minutes=1)
GROUP, TOPIC = ConversationId("telegram", "-5:*?\n"), ConversationId("telegram", "-5:*?\n", "7")
ANN, BEN = PlatformId("telegram", "1"), PlatformId("telegram", "b:*?\n")


async def test_a_right_counts_for_its_person_or_chat_on_its_platform_until_it_is_taken_back(stores: Stores) -> None:
    grants = stores.grants
    for right, whose in ((Right.OWNER, ANN), (Right.PERSON, BEN), (Right.CHAT, PlatformId("telegram", GROUP.chat))):
        await grants.give(Grant(right, whose, "小王"))

    assert await grants.granted("1", GROUP) == Granted(is_owner=True, is_open=True)
    assert await grants.granted(BEN.id, TOPIC) == Granted(is_allowed=True, is_open=True)
    assert await grants.granted("1", ConversationId("slack", GROUP.chat)) == Granted()

    await grants.take_back(Grant(Right.CHAT, PlatformId("telegram", GROUP.chat)))

    assert await grants.granted("1", GROUP) == Granted(is_owner=True)


async def test_who_is_let_in_is_refused_no_longer_and_the_other_way_round(stores: Stores) -> None:
    await stores.grants.give(Grant(Right.PERSON, ANN))
    await stores.grants.give(Grant(Right.REFUSED, ANN))
    refused = await stores.grants.granted("1", GROUP)
    await stores.grants.give(Grant(Right.PERSON, ANN))

    assert refused == Granted(is_refused=True)
    assert await stores.grants.granted("1", GROUP) == Granted(is_allowed=True)


async def test_every_grant_of_a_platform_is_listed_and_its_owners_by_id(stores: Stores) -> None:
    given = (Grant(Right.OWNER, ANN, "Ann"), Grant(Right.OWNER, BEN, ""), Grant(Right.PERSON, BEN, "小本"))
    for each in given:
        await stores.grants.give(each)
    await stores.grants.move("telegram", "-1", "-100")
    await stores.grants.give(Grant(Right.OWNER, PlatformId("slack", "U1")))

    assert await stores.grants.given("telegram") == given
    assert await stores.grants.owners("telegram") == ("1", BEN.id)


async def test_an_owner_is_asked_where_they_read_alone(stores: Stores) -> None:
    before = await stores.grants.home(ANN)
    await stores.grants.settle(ANN, GROUP)
    await stores.grants.settle(ANN, TOPIC)

    assert before is None
    assert await stores.grants.home(ANN) == TOPIC
    assert await stores.grants.home(BEN) is None


async def test_a_chat_that_moved_keeps_the_id_we_know_it_by_however_often_it_moves(stores: Stores) -> None:
    await stores.grants.move("telegram", "-1", "-100")
    await stores.grants.move("telegram", "-100", "-200")

    assert [await stores.grants.known_as("telegram", chat) for chat in ("-1", "-100", "-200")] == ["-1"] * 3
    assert await stores.grants.called("telegram", "-1") == "-200"
    assert await stores.grants.called("telegram", "-7") == "-7"
    assert await stores.grants.known_as("slack", "-200") == "-200"
    assert (await stores.grants.granted("1", ConversationId("telegram", "-1"))).also_known_as == ("-200",)


async def test_the_right_code_makes_an_owner_once(stores: Stores, clock: JumpingClock) -> None:
    grant = Grant(Right.OWNER, ANN, "Ann")
    nothing_out = await stores.grants.redeem("ABCD2345", grant, "e1", now=clock.now())
    await stores.grants.offer("ABCD2345", now=clock.now())

    right = await stores.grants.redeem("ABCD2345", grant, "e1", now=clock.now())
    told_twice = await stores.grants.redeem("ABCD2345", grant, "e1", now=clock.now())
    by_another = await stores.grants.redeem("ABCD2345", Grant(Right.OWNER, BEN), "e3", now=clock.now())

    assert (nothing_out, right, told_twice, by_another) == (
        *(Redeemed.NONE, Redeemed.OWNER),
        *(Redeemed.OWNER, Redeemed.NONE),
    )
    assert await stores.grants.owners("telegram") == ("1",)


async def test_five_wrong_codes_end_it_and_the_right_one_comes_too_late(stores: Stores, clock: JumpingClock) -> None:
    await stores.grants.offer("ABCD2345", now=clock.now())

    wrong = [
        await stores.grants.redeem("WRNG2345", Grant(Right.OWNER, BEN), f"e{n}", now=clock.now())
        for n in range(CODE_TRIES)
    ]

    assert set(wrong) == {Redeemed.WRONG}
    assert await stores.grants.redeem("ABCD2345", Grant(Right.OWNER, ANN), "e4", now=clock.now()) is Redeemed.WRONG
    assert await stores.grants.owners("telegram") == ()


async def test_four_wrong_codes_do_not(stores: Stores, clock: JumpingClock) -> None:
    await stores.grants.offer("ABCD2345", now=clock.now())
    for number in range(CODE_TRIES - 1):
        await stores.grants.redeem("WRNG2345", Grant(Right.OWNER, BEN), f"e{number}", now=clock.now())

    assert await stores.grants.redeem("ABCD2345", Grant(Right.OWNER, ANN), "e4", now=clock.now()) is Redeemed.OWNER


async def test_a_code_is_good_for_ten_minutes_and_a_new_one_ends_it(stores: Stores, clock: JumpingClock) -> None:
    grant = Grant(Right.OWNER, ANN)
    await stores.grants.offer("ABCD2345", now=clock.now())
    await stores.grants.offer("WXYZ2345", now=clock.now())
    old = await stores.grants.redeem("ABCD2345", grant, "e1", now=clock.now())
    late = await stores.grants.redeem("WXYZ2345", grant, "e2", now=clock.now() + CODE_LIVES)
    in_time = await stores.grants.redeem("WXYZ2345", grant, "e2", now=clock.now() + CODE_LIVES - timedelta(seconds=1))

    assert (old, late, in_time) == (Redeemed.WRONG, Redeemed.NONE, Redeemed.OWNER)


async def test_a_wrong_code_that_is_told_five_times_is_one_try(stores: Stores, clock: JumpingClock) -> None:
    """Platforms repeat what was not acknowledged in time."""
    await stores.grants.offer("ABCD2345", now=clock.now())
    for _ in range(CODE_TRIES):
        await stores.grants.redeem("WRNG2345", Grant(Right.OWNER, BEN), "e1", now=clock.now())

    assert await stores.grants.redeem("ABCD2345", Grant(Right.OWNER, ANN), "e2", now=clock.now()) is Redeemed.OWNER


async def test_who_was_refused_and_owns_the_bot_is_refused_no_more(stores: Stores, clock: JumpingClock) -> None:
    await stores.grants.give(Grant(Right.REFUSED, ANN))
    await stores.grants.offer("ABCD2345", now=clock.now())

    await stores.grants.redeem("ABCD2345", Grant(Right.OWNER, ANN), "e1", now=clock.now())

    assert await stores.grants.granted("1", GROUP) == Granted(is_owner=True)


async def test_things_are_counted_in_windows_that_follow_each_other(stores: Stores, clock: JumpingClock) -> None:
    start = clock.now().replace(second=0, microsecond=0)
    counts = [
        await stores.rates.count("a:*", MINUTE, f"e{s}", now=start + timedelta(seconds=s)) for s in (0, 30, 59, 60)
    ]
    other = await stores.rates.count("b", MINUTE, "e0", now=start)

    assert counts == [Counted(1), Counted(2), Counted(3), Counted(1)]
    assert other == Counted(1)


async def test_a_copy_is_counted_once_and_has_the_number_of_its_original(stores: Stores, clock: JumpingClock) -> None:
    counts = [await stores.rates.count("a", MINUTE, event, now=clock.now()) for event in ("e1", "e2", "e1", "e3")]

    assert counts == [Counted(1), Counted(2), Counted(1, is_again=True), Counted(3)]


async def test_what_was_not_answered_is_told_by_chat_newest_last(stores: Stores, clock: JumpingClock) -> None:
    for number in range(MAX_UNANSWERED + 2):
        line = Unanswered(clock.now() + timedelta(seconds=number), Silence.LIMITED, f"小王{number}")
        await stores.silences.note(TOPIC if number % 2 else GROUP, line)

    told = await stores.silences.of(GROUP)

    assert [each.name for each in told] == [f"小王{number}" for number in range(2, MAX_UNANSWERED + 2)]
    assert told[-1].at == clock.now() + timedelta(seconds=MAX_UNANSWERED + 1)
    assert await stores.silences.of(ConversationId("telegram", "-6")) == ()


async def test_who_asked_in_a_thread_is_known_there_alone(stores: Stores) -> None:
    await stores.chats.asked(TOPIC, "1", 5)
    await stores.chats.asked(TOPIC, "1", 9)

    assert await stores.chats.has_asked(TOPIC, "1", before=6)
    assert not await stores.chats.has_asked(TOPIC, "2", before=6)
    assert not await stores.chats.has_asked(GROUP, "1", before=6)


async def test_what_a_person_said_in_a_thread_before_their_first_question_is_none(stores: Stores) -> None:
    await stores.chats.asked(TOPIC, "1", 1_764_590_000_000_007)
    assert not await stores.chats.has_asked(TOPIC, "1", before=1_764_590_000_000_007)
    assert await stores.chats.has_asked(TOPIC, "1", before=1_764_590_000_000_008)

    await stores.chats.asked(TOPIC, "1", 1_764_590_000_000_003)

    assert await stores.chats.has_asked(TOPIC, "1", before=1_764_590_000_000_007)


async def test_a_thread_remembers_a_hundred_askers(stores: Stores) -> None:
    for number in range(MAX_ASKERS + 1):
        await stores.chats.asked(TOPIC, str(number), 1)

    assert await stores.chats.has_asked(TOPIC, str(MAX_ASKERS - 1), before=2)
    assert not await stores.chats.has_asked(TOPIC, str(MAX_ASKERS), before=2)


async def test_a_chat_that_the_bot_left_is_not_known_until_somebody_is_heard_there(
    stores: Stores, clock: JumpingClock
) -> None:
    await stores.chats.see(KnownChat(GROUP, "三病区", "1"), now=clock.now())
    await stores.chats.leave(GROUP)
    gone = await stores.chats.known("telegram")
    await stores.chats.see(KnownChat(GROUP, "", "1"), now=clock.now())

    assert gone == ()
    assert [chat.conversation for chat in await stores.chats.known("telegram")] == [GROUP]
