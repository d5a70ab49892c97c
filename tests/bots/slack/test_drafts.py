"""In Slack an answer grows in a post that becomes the answer: never two, and no half one stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from bots.adapter import AnswerLost, HasDrafts, WrongToken
from bots.slack import SlackAdapter
from bots.slack.calls import Calls
from bots.slack.sending import Sending
from kernel.chat import Choice, ConversationId, Draft, MessageRef, Prompt, Reply
from kernel.errors import RetryLater
from tests.bots.slack.fake import (
    BOT_TOKEN,
    DM,
    RESET_AFTER,
    RESET_BEFORE,
    FakeSlack,
    Fault,
    HurriedClock,
    Store,
    event,
    press,
)

CHAT = ConversationId("slack", DM)
THREAD = ConversationId("slack", DM, "1700000000.000100")
HALF = "The report of the first quarter says that revenue of the hospital went up by eight percent, and"
WHOLE = HALF + " that costs went down."
LONG = HALF + " that"


class Bot:
    """One bot process: it hears a person, shows drafts, sends."""

    def __init__(self, slack: FakeSlack, clock: HurriedClock) -> None:
        self.clock = clock
        self.calls = Calls(BOT_TOKEN, "SLACK_BOT_TOKEN", slack.api_url, clock)
        self.wrong_tokens: list[WrongToken] = []
        self.sending = Sending(self.calls, clock, self.wrong_tokens.append)
        self._sequence = 0

    def hears(self, place: ConversationId = CHAT) -> None:
        self.sending.drafts.heard(place)

    async def writes(self, text: str, place: ConversationId = CHAT, turn: str = "t1") -> None:
        self._sequence += 1
        await self.sending.drafts.show(Draft(place, turn, self._sequence, text))

    async def says(
        self, text: str = WHOLE, place: ConversationId = CHAT, *, key: str = "k1", is_doubtful: bool = False
    ) -> MessageRef:
        return await self.sending.send(Reply(place, text), text, key=key, is_doubtful=is_doubtful, is_last=True)

    def grows_old(self) -> None:
        """Longer than any turn of an earlier process may still take."""
        self.clock.ahead += timedelta(hours=1)


@asynccontextmanager
async def process(slack: FakeSlack, clock: HurriedClock) -> AsyncIterator[Bot]:
    bot = Bot(slack, clock)
    try:
        yield bot
    finally:
        await bot.calls.close()


@pytest.fixture
async def bot(slack: FakeSlack, clock: HurriedClock) -> AsyncIterator[Bot]:
    async with process(slack, clock) as bot:
        bot.grows_old()
        bot.hears()
        yield bot


def shown(slack: FakeSlack) -> list[str]:
    return [post["blocks"][0]["text"] if post.get("blocks") else post["text"] for post in slack.posts]


async def test_the_post_grows_and_becomes_the_answer(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF + " <!channel>")
    assert shown(slack) == [HALF + " &lt;!channel> …"]
    await bot.writes(LONG)
    assert shown(slack) == [LONG + " …"]

    ref = await bot.says()

    assert shown(slack) == [WHOLE]
    assert ref == MessageRef(CHAT, slack.posts[0]["ts"])
    assert slack.called("conversations.history") == []
    assert [method for method, _ in slack.calls] == ["chat.postMessage", "chat.update", "chat.update"]


async def test_in_a_thread_it_grows_in_the_thread(bot: Bot, slack: FakeSlack) -> None:
    bot.hears(THREAD)

    await bot.writes(HALF, THREAD)

    assert slack.posts[0]["thread_ts"] == THREAD.thread


async def test_a_short_draft_rings_no_phone(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes("我看看")
    await bot.writes("")

    assert slack.calls == []


async def test_words_before_tools_are_taken_back_and_the_next_round_is_one_post(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF)
    await bot.writes("")
    assert shown(slack) == []

    await bot.writes(LONG)
    await bot.says()

    assert shown(slack) == [WHOLE]


async def test_of_a_long_answer_the_first_part_takes_the_place_and_the_others_follow(
    bot: Bot, slack: FakeSlack
) -> None:
    await bot.writes("x" * 11_000 + "\n\n" + "y" * 2_000)
    assert shown(slack) == ["y" * 2_000 + " …"]

    for number, part in enumerate(("x" * 11_000, "y" * 2_000)):
        outbound = Reply(CHAT, "whole")
        await bot.sending.send(outbound, part, key=f"k{number}", is_doubtful=False, is_last=number == 1)

    assert shown(slack) == ["x" * 11_000, "y" * 2_000]


async def test_a_card_is_posted_anew_so_that_it_rings(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF)
    [draft] = slack.posts

    card = Prompt(CHAT, "⏰ 查房", "tok", (Choice("done", "完成"),))
    ref = await bot.sending.send(card, card.text, key="k", is_doubtful=False, is_last=True)

    assert shown(slack) == ["⏰ 查房"]
    assert ref.id != draft["ts"]


async def test_a_limit_on_changes_does_not_hold_up_the_answer(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF)
    slack.faults["chat.update"] = [Fault(error="ratelimited", status=429, retry_after="30")]
    with pytest.raises(RetryLater):
        await bot.writes(LONG)

    await bot.says()

    assert shown(slack) == [WHOLE]
    assert len(slack.called("chat.update")) == 1


async def test_drafts_leave_changes_for_answers_and_cards(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF)
    for number in range(30):
        await bot.writes(f"{HALF} {number}")

    with pytest.raises(RetryLater):
        await bot.writes(WHOLE)
    await bot.says()

    assert len(slack.called("chat.update")) == 31
    assert shown(slack) == [WHOLE]


@pytest.mark.parametrize("code", ["message_not_found", "invalid_blocks", "edit_window_closed"])
async def test_a_draft_that_cannot_become_the_answer_goes_before_it_is_posted(
    bot: Bot, slack: FakeSlack, code: str
) -> None:
    await bot.writes(HALF)
    slack.faults["chat.update"] = [Fault(error=code)]

    await bot.says()

    assert shown(slack) == [WHOLE]
    assert [method for method, _ in slack.calls[-3:]] == ["chat.update", "chat.delete", "chat.postMessage"]


@pytest.mark.parametrize("fault", [RESET_BEFORE, RESET_AFTER])
async def test_an_answer_that_is_lost_on_its_way_into_the_draft_comes_once(
    bot: Bot, slack: FakeSlack, fault: Fault
) -> None:
    await bot.writes(HALF)
    slack.faults["chat.update"] = [fault]
    with pytest.raises(AnswerLost) as lost:
        await bot.says()
    assert lost.value.can_look

    await bot.says(is_doubtful=True)

    assert shown(slack) == [WHOLE]


async def test_while_it_is_unknown_whether_the_draft_became_the_answer_no_second_draft_is_shown(
    bot: Bot, slack: FakeSlack
) -> None:
    await bot.writes(HALF)
    slack.faults["chat.update"] = [RESET_BEFORE]
    with pytest.raises(AnswerLost):
        await bot.says()

    await bot.writes(LONG)

    assert shown(slack) == [LONG + " …"]


async def test_a_draft_that_was_begun_while_the_answer_was_doubtful_goes_when_the_answer_is_found(
    bot: Bot, slack: FakeSlack
) -> None:
    slack.faults["chat.postMessage"] = [RESET_AFTER]
    with pytest.raises(AnswerLost):
        await bot.says()
    await bot.writes(HALF)

    await bot.says(is_doubtful=True)

    assert shown(slack) == [WHOLE]


async def test_the_process_after_a_crash_finds_the_half_message(
    bot: Bot, slack: FakeSlack, clock: HurriedClock
) -> None:
    await bot.writes(HALF)

    async with process(slack, clock) as heir:
        await heir.says()
        await heir.says("next", key="k2")

    assert shown(slack) == [WHOLE, "next"]
    assert len(slack.called("conversations.history")) == 1


async def test_a_process_that_dies_while_the_answer_goes_into_the_draft_leaves_one_message(
    bot: Bot, slack: FakeSlack, clock: HurriedClock
) -> None:
    await bot.writes(HALF)
    slack.faults["chat.update"] = [RESET_AFTER]
    with pytest.raises(AnswerLost):
        await bot.says()

    async with process(slack, clock) as heir:
        await heir.says(is_doubtful=True)

    assert shown(slack) == [WHOLE]


async def test_a_process_that_sees_the_draft_of_another_takes_it_away_before_it_answers(
    bot: Bot, slack: FakeSlack, clock: HurriedClock
) -> None:
    async with process(slack, clock) as other:
        other.grows_old()
        await bot.writes(HALF)
        await other.writes(HALF)
        assert len(slack.posts) == 1

        await other.says()
        await bot.sending.drafts.drop(CHAT)

    assert shown(slack) == [WHOLE]


async def test_a_draft_that_lands_late_goes_with_the_next_message(
    bot: Bot, slack: FakeSlack, clock: HurriedClock
) -> None:
    async with process(slack, clock) as other:
        other.grows_old()
        await other.writes(HALF)
        await other.says()
        await bot.writes(HALF)
        await other.says("next", key="k2")

    assert shown(slack) == [WHOLE, "next"]


@pytest.mark.parametrize("fault", [RESET_BEFORE, RESET_AFTER])
async def test_a_draft_whose_post_was_lost_is_looked_for(bot: Bot, slack: FakeSlack, fault: Fault) -> None:
    slack.faults["chat.postMessage"] = [fault]
    with pytest.raises(AnswerLost):
        await bot.writes(HALF)

    await bot.writes(LONG)
    assert shown(slack) == [LONG + " …"]
    await bot.says()

    assert shown(slack) == [WHOLE]


async def test_a_change_that_may_still_be_on_its_way_overwrites_no_answer(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF)
    [draft] = slack.posts
    slack.faults["chat.update"] = [RESET_BEFORE]
    with pytest.raises(AnswerLost):
        await bot.writes(LONG)

    ref = await bot.says()

    assert ref.id != draft["ts"]
    assert shown(slack) == [WHOLE]


async def test_a_look_that_fails_holds_up_nothing_and_is_made_again(bot: Bot, slack: FakeSlack) -> None:
    slack.faults["chat.postMessage"] = [RESET_AFTER]
    with pytest.raises(AnswerLost):
        await bot.writes(HALF)
    slack.faults["conversations.history"] = [Fault(error="ratelimited", status=429, retry_after="1")]

    await bot.says()
    bot.clock.ahead += timedelta(seconds=2)
    await bot.says("next", key="k2")

    assert shown(slack) == [WHOLE, "next"]


async def test_a_draft_that_cannot_be_deleted_now_goes_with_the_next_message(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF)
    slack.faults["chat.delete"] = [Fault(error="ratelimited", status=429, retry_after="1")]
    await bot.writes("")
    assert len(slack.posts) == 1

    bot.clock.ahead += timedelta(seconds=2)
    await bot.says()

    assert shown(slack) == [WHOLE]


async def test_a_deletion_that_is_broken_off_is_made_good_before_the_message(bot: Bot, slack: FakeSlack) -> None:
    await bot.writes(HALF)
    slack.faults["chat.delete"] = [RESET_BEFORE]
    deletion = asyncio.create_task(bot.writes(""))
    await slack.until(lambda: slack.called("chat.delete"))
    deletion.cancel()
    await asyncio.gather(deletion, return_exceptions=True)
    assert len(slack.posts) == 1

    await bot.says()

    assert shown(slack) == [WHOLE]


async def test_a_post_of_people_or_of_an_answer_is_never_deleted(bot: Bot, slack: FakeSlack) -> None:
    await bot.says("an answer", key="k0")
    slack.posts.append({"ts": "1800000000.000900", "text": HALF})
    bot.sending.drafts.lost(CHAT)

    await bot.says()

    assert shown(slack) == ["an answer", HALF, WHOLE]


async def test_at_the_top_of_a_channel_nothing_comes_and_goes(bot: Bot, slack: FakeSlack) -> None:
    channel = ConversationId("slack", "C1")
    bot.hears(channel)

    await bot.writes(HALF, channel)

    assert slack.calls == []


async def test_in_a_thread_of_a_channel_it_grows_into_the_answer(bot: Bot, slack: FakeSlack) -> None:
    thread = ConversationId("slack", "C1", "1700000000.000100")
    bot.hears(thread)

    await bot.writes(HALF, thread)
    await bot.says(WHOLE, thread)

    assert shown(slack) == [WHOLE]
    assert [post["thread_ts"] for post in slack.posts] == [thread.thread]


async def test_drafts_in_many_threads_of_a_channel_leave_it_a_post_for_an_answer(bot: Bot, slack: FakeSlack) -> None:
    first, second, third = (ConversationId("slack", "C1", f"1700000000.00010{number}") for number in range(3))
    for thread in (first, second, third):
        bot.hears(thread)

    await bot.writes(HALF, first)
    await bot.writes(HALF, second)
    with pytest.raises(RetryLater):
        await bot.writes(HALF, third)
    await bot.says(WHOLE, third)
    with pytest.raises(RetryLater):
        await bot.says("a fourth post", third, key="k2")

    assert [post["thread_ts"] for post in slack.posts] == [first.thread, second.thread, third.thread]


async def test_who_hears_the_person_shows_the_draft_also_after_a_press(
    slack: FakeSlack, running: SlackAdapter, store: Store
) -> None:
    assert isinstance(running, HasDrafts)
    await running.show_draft(Draft(CHAT, "t1", 1, HALF))
    assert slack.posts == []

    await slack.acked(await slack.send("events_api", event()))
    await running.show_draft(Draft(CHAT, "t1", 2, HALF))
    assert len(slack.posts) == 1
    await running.show_draft(Draft(CHAT, "t1", 3, ""))
    await running.show_draft(Draft(CHAT, "t2", 4, HALF))
    assert slack.posts == []

    await slack.acked(await slack.send("interactive", press()))
    await store.arrivals.get()
    await asyncio.sleep(0)
    await running.show_draft(Draft(CHAT, "t2", 5, HALF))
    assert len(slack.posts) == 1
    await running.drop_draft(CHAT)

    assert slack.posts == []
