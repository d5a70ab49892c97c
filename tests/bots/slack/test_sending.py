"""What we say arrives once, looks right and pings nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from bots.adapter import AnswerLost, ChatGone, Undeliverable, WrongToken
from bots.slack.calls import Calls
from bots.slack.sending import Sending
from bots.slack.updates import Workspace, to_press, translate
from bots.slack.wording import parts_of
from kernel.chat import (
    ButtonPress,
    Choice,
    ConversationId,
    Look,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
)
from kernel.errors import RetryLater
from tests.bots.slack.fake import (
    ANN,
    BOT_TOKEN,
    BOT_USER,
    DM,
    RESET_AFTER,
    RESET_BEFORE,
    TEAM,
    FakeSlack,
    Fault,
    HurriedClock,
    press,
)

CHAT = ConversationId("slack", DM)
THREAD = ConversationId("slack", DM, "1700000000.000100")
CHOICES = (Choice("done", "完成", Look.GOOD), Choice("later", "稍后"), Choice("no", "不", Look.DANGER))


@pytest.fixture
def wrong_tokens() -> list[WrongToken]:
    return []


@pytest.fixture
async def sending(slack: FakeSlack, clock: HurriedClock, wrong_tokens: list[WrongToken]) -> AsyncIterator[Sending]:
    calls = Calls(BOT_TOKEN, "SLACK_BOT_TOKEN", slack.api_url, clock)
    yield Sending(calls, clock, wrong_tokens.append)
    await calls.close()


async def say(
    sending: Sending, text: str = "hello", place: ConversationId = CHAT, *, key: str = "k1", is_doubtful: bool = False
) -> MessageRef:
    return await sending.send(Reply(place, text), text, key=key, is_doubtful=is_doubtful, is_last=True)


def buttons(post: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for block in post["blocks"] if block["type"] == "actions" for each in block["elements"]]


async def test_a_reply_is_markdown_with_words_beside_it(sending: Sending, slack: FakeSlack) -> None:
    ref = await say(sending, "**bold** & a < b <!channel>")

    [post] = slack.posts
    assert post["blocks"] == [{"type": "markdown", "text": "**bold** & a &lt; b &lt;!channel>"}]
    assert post["text"] == "**bold** &amp; a &lt; b &lt;!channel&gt;"
    assert "thread_ts" not in post
    assert ref == MessageRef(CHAT, post["ts"])


async def test_every_part_of_a_long_answer_stays_in_its_thread(
    sending: Sending, slack: FakeSlack, clock: HurriedClock
) -> None:
    """M20, in a private chat and in a channel."""
    for place in (THREAD, ConversationId("slack", "C1", THREAD.thread)):
        reply = Reply(place, "many words " * 3_000)
        parts = parts_of(reply.text)
        assert len(parts) == 3
        for number, part in enumerate(parts, start=1):
            await sending.send(reply, part, key=f"{number}", is_doubtful=False, is_last=number == len(parts))

    assert [(post["channel"], post["thread_ts"]) for post in slack.posts] == [
        *[(DM, THREAD.thread)] * 3,
        *[("C1", THREAD.thread)] * 3,
    ]


async def test_what_a_model_says_in_a_channel_notifies_nobody(sending: Sending, slack: FakeSlack) -> None:
    """M17."""
    said = "<!channel> if a < b && c > d <@U2>"

    await say(sending, said, ConversationId("slack", "C1", THREAD.thread))

    [post] = slack.posts
    assert post["text"] == "&lt;!channel&gt; if a &lt; b &amp;&amp; c &gt; d &lt;@U2&gt;"
    assert post["blocks"] == [{"type": "markdown", "text": "&lt;!channel> if a &lt; b && c > d &lt;@U2>"}]


async def test_a_link_is_not_fetched_for_a_preview(sending: Sending, slack: FakeSlack) -> None:
    await say(sending, "https://a.example/?q=secret")

    assert slack.posts[0]["unfurl_links"] is slack.posts[0]["unfurl_media"] is False


async def test_buttons_come_with_the_last_part_and_bring_back_what_they_carry(
    sending: Sending, slack: FakeSlack
) -> None:
    prompt = Prompt(CHAT, "⏰ 查房", "t0ken", CHOICES)

    await sending.send(prompt, "⏰", key="1.0", is_doubtful=False, is_last=False)
    await sending.send(prompt, "查房", key="1.1", is_doubtful=False, is_last=True)

    first, last = slack.posts
    assert buttons(first) == []
    assert [each["text"]["text"] for each in buttons(last)] == ["完成", "稍后", "不"]
    assert [each.get("style") for each in buttons(last)] == ["primary", None, "danger"]
    assert len({each["action_id"] for each in buttons(last)}) == 3
    pressed = press()
    pressed["actions"] = [buttons(last)[1] | {"action_ts": "1700000009.000001"}]
    back = translate(pressed, Workspace(TEAM, BOT_USER), HurriedClock().now())
    assert isinstance(back, ButtonPress)
    assert (back.token, back.choice) == ("t0ken", "later")


async def test_more_buttons_than_a_row_holds_get_rows(sending: Sending, slack: FakeSlack) -> None:
    choices = tuple(Choice(f"c{number}", str(number)) for number in range(30))

    await sending.send(Prompt(CHAT, "which?", "t", choices), "which?", key="1", is_doubtful=False, is_last=True)

    assert [len(block["elements"]) for block in slack.posts[0]["blocks"][1:]] == [25, 5]


async def test_what_cannot_be_shown_as_markdown_is_said_plainly(sending: Sending, slack: FakeSlack) -> None:
    slack.faults["chat.postMessage"] = [Fault(error="invalid_blocks")]

    await say(sending, "a < b")

    [post] = slack.posts
    assert (post["text"], post.get("blocks"), post["mrkdwn"]) == ("a &lt; b", None, False)


async def test_a_plain_prompt_keeps_its_buttons(sending: Sending, slack: FakeSlack) -> None:
    slack.faults["chat.postMessage"] = [Fault(error="invalid_blocks")]

    await sending.send(Prompt(CHAT, "x" * 4_000, "t", CHOICES), "x" * 4_000, key="1", is_doubtful=False, is_last=True)

    [post] = slack.posts
    assert [len(block["text"]["text"]) for block in post["blocks"][:-1]] == [3_000, 1_000]
    assert len(buttons(post)) == 3


async def lost(sending: Sending, slack: FakeSlack, fault: Fault, place: ConversationId = CHAT) -> AnswerLost:
    slack.faults["chat.postMessage"] = [fault]
    with pytest.raises(AnswerLost) as caught:
        await say(sending, place=place)
    return caught.value


async def test_a_post_whose_answer_was_lost_is_found_and_not_repeated(sending: Sending, slack: FakeSlack) -> None:
    assert (await lost(sending, slack, RESET_AFTER)).can_look
    await say(sending, "another", key="k2")

    ref = await say(sending, is_doubtful=True)

    assert len(slack.posts) == 2
    assert ref.id == slack.posts[0]["ts"]


async def test_what_a_process_that_died_posted_is_found_by_the_next(
    sending: Sending, slack: FakeSlack, clock: HurriedClock, wrong_tokens: list[WrongToken]
) -> None:
    await say(sending)
    calls = Calls(BOT_TOKEN, "SLACK_BOT_TOKEN", slack.api_url, clock)
    heir = Sending(calls, clock, wrong_tokens.append)

    ref = await say(heir, is_doubtful=True)
    await calls.close()

    assert [post["ts"] for post in slack.posts] == [ref.id]


async def test_a_post_lost_in_a_thread_is_looked_for_in_the_thread(sending: Sending, slack: FakeSlack) -> None:
    await lost(sending, slack, RESET_AFTER, THREAD)

    ref = await say(sending, place=THREAD, is_doubtful=True)

    assert [post["ts"] for post in slack.posts] == [ref.id]
    assert slack.called("conversations.replies")[0]["ts"] == THREAD.thread


async def test_a_post_that_did_not_arrive_is_sent_again(sending: Sending, slack: FakeSlack) -> None:
    await lost(sending, slack, RESET_BEFORE)

    await say(sending, is_doubtful=True)

    assert len(slack.posts) == 1


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(error="ratelimited", retry_after="2"), Fault(body="x")])
async def test_while_slack_does_not_tell_nothing_is_posted(sending: Sending, slack: FakeSlack, fault: Fault) -> None:
    await lost(sending, slack, RESET_AFTER)
    slack.faults["conversations.history"] = [fault]

    with pytest.raises(RetryLater):
        await say(sending, is_doubtful=True)

    assert len(slack.called("chat.postMessage")) == 1


async def test_where_looking_is_not_allowed_it_is_posted_at_most_once_more(sending: Sending, slack: FakeSlack) -> None:
    """R1: as on a platform that cannot be asked."""
    await lost(sending, slack, RESET_AFTER)
    slack.faults["conversations.history"] = [Fault(error="missing_scope")]
    slack.faults["chat.postMessage"] = [RESET_AFTER]

    with pytest.raises(AnswerLost) as again:
        await say(sending, is_doubtful=True)

    assert len(slack.posts) == 2
    assert not again.value.can_look


async def test_the_same_words_said_twice_are_two_messages(sending: Sending, slack: FakeSlack) -> None:
    await say(sending)
    await say(sending, key="k2", is_doubtful=True)

    assert len(slack.posts) == 2


async def test_a_limit_is_passed_on_with_its_time(sending: Sending, slack: FakeSlack) -> None:
    slack.faults["chat.postMessage"] = [Fault(status=429, error="ratelimited", retry_after="3")]

    with pytest.raises(RetryLater) as limited:
        await say(sending)

    assert limited.value.after == timedelta(seconds=3)


async def test_a_fourth_post_in_three_seconds_waits_and_other_channels_do_not(
    sending: Sending, slack: FakeSlack, clock: HurriedClock
) -> None:
    for number in range(3):
        await say(sending, str(number))

    with pytest.raises(RetryLater) as early:
        await say(sending, "3")
    await say(sending, "other", ConversationId("slack", "DBOB"))

    assert timedelta() < early.value.after <= timedelta(seconds=3.1)
    clock.ahead += early.value.after
    await say(sending, "3")
    assert [post["text"] for post in slack.posts] == ["0", "1", "2", "other", "3"]


@pytest.mark.parametrize(
    "code",
    [
        *("channel_not_found", "not_in_channel", "is_archived", "user_not_found", "user_disabled", "cannot_dm_bot"),
        *("messages_tab_disabled", "restricted_action", "restricted_action_read_only_channel"),
    ],
)
async def test_a_chat_that_is_closed_to_us_is_gone(sending: Sending, slack: FakeSlack, code: str) -> None:
    slack.faults["chat.postMessage"] = [Fault(error=code)]

    with pytest.raises(ChatGone, match=code):
        await say(sending)

    assert len(slack.called("chat.postMessage")) == 1


@pytest.mark.parametrize("code", ["msg_too_long", "restricted_action_non_threadable_channel", "thread_not_found"])
async def test_a_message_that_is_refused_does_not_close_its_chat(sending: Sending, slack: FakeSlack, code: str) -> None:
    slack.faults["chat.postMessage"] = [Fault(error=code)]

    with pytest.raises(Undeliverable, match=code) as refused:
        await say(sending)

    assert not isinstance(refused.value, ChatGone)


async def test_nothing_is_not_a_message(sending: Sending, slack: FakeSlack) -> None:
    with pytest.raises(Undeliverable):
        await say(sending, " \n")

    assert not slack.calls


async def test_a_token_that_stops_working_keeps_the_message_and_is_told(
    sending: Sending, slack: FakeSlack, wrong_tokens: list[WrongToken]
) -> None:
    slack.faults["chat.postMessage"] = [Fault(error="token_revoked")]

    with pytest.raises(RetryLater):
        await say(sending)

    assert "SLACK_BOT_TOKEN" in str(wrong_tokens[0])


async def close(sending: Sending, text: str = "⏰ 查房 ✅", choices: tuple[Choice, ...] = ()) -> None:
    await sending.close(PromptClosed(CHAT, "t0ken", text, choices), MessageRef(CHAT, "1700000005.000000"))


async def test_a_closed_prompt_shows_its_end_and_no_buttons(sending: Sending, slack: FakeSlack) -> None:
    await close(sending, "done by <@U2>")

    [update] = slack.called("chat.update")
    assert (update["channel"], update["ts"]) == (DM, "1700000005.000000")
    assert update["blocks"] == [{"type": "markdown", "text": "done by &lt;@U2>"}]


async def test_a_closed_prompt_may_keep_some_buttons(sending: Sending, slack: FakeSlack) -> None:
    await close(sending, choices=(Choice("again", "恢复"),))

    assert [each["value"] for each in buttons(slack.called("chat.update")[0])] == ["t0ken:again"]


async def test_a_long_end_fits_what_an_update_takes(sending: Sending, slack: FakeSlack) -> None:
    await close(sending, "<&>" * 9_000)

    [update] = slack.called("chat.update")
    assert len(update["text"]) <= 4_000
    assert len(update["blocks"][0]["text"]) <= 12_000


async def test_a_prompt_that_was_deleted_needs_no_closing(sending: Sending, slack: FakeSlack) -> None:
    slack.faults["chat.update"] = [Fault(error="message_not_found")]

    await close(sending)


async def test_an_update_whose_answer_was_lost_is_simply_repeated(sending: Sending, slack: FakeSlack) -> None:
    slack.faults["chat.update"] = [RESET_AFTER]

    with pytest.raises(RetryLater):
        await close(sending)


async def test_an_update_that_cannot_be_markdown_is_plain(sending: Sending, slack: FakeSlack) -> None:
    slack.faults["chat.update"] = [Fault(error="invalid_blocks")]

    await close(sending, "a < b")

    assert slack.called("chat.update")[1]["blocks"][0]["text"]["text"] == "a < b"


async def test_a_notice_is_seen_by_the_one_who_pressed_where_they_pressed(sending: Sending, slack: FakeSlack) -> None:
    await sending.notify(Notice(CHAT, to_press(THREAD, "1700000009.000001"), ANN, "好的 <!here>"))

    assert slack.called("chat.postEphemeral") == [
        {"channel": DM, "user": ANN, "text": "好的 &lt;!here&gt;", "thread_ts": THREAD.thread}
    ]


async def test_a_notice_that_slack_refuses_is_no_error(sending: Sending, slack: FakeSlack) -> None:
    slack.faults["chat.postEphemeral"] = [Fault(error="user_not_in_channel")]

    await sending.notify(Notice(CHAT, "", ANN, "好的"))
