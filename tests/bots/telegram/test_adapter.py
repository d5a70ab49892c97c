"""The Telegram adapter against a small Bot API server: nothing is acknowledged early, nothing is sent twice."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from bots.adapter import AnswerLost, ChatGone, ChatMoved, FileGone, Undeliverable, WrongToken
from bots.attached import to_fetch
from bots.telegram import TelegramAdapter
from bots.telegram.calls import Refused
from kernel.chat import (
    AttachmentKind,
    ButtonPress,
    Choice,
    ConversationId,
    Heard,
    Look,
    MessageRef,
    Notice,
    Prompt,
    PromptClosed,
    Reply,
    UserMessage,
)
from kernel.clock import SystemClock
from kernel.errors import RetryLater, ZclawError
from tests.bots.telegram.fake_api import TOKEN, FakeApi, Fault, hangs_up, refuses, says
from tests.bots.telegram.test_updates import message, press
from tests.twins.clock import JumpingClock

D1 = ConversationId("telegram", "1001")
CARD = Prompt(D1, "**查房**", "tok", (Choice("done", "完成", Look.GOOD), Choice("snooze", "稍后 10 分钟")))


@asynccontextmanager
async def sending(api: FakeApi, clock: JumpingClock | None = None) -> AsyncIterator[TelegramAdapter]:
    adapter = TelegramAdapter(TOKEN, clock=clock or JumpingClock(), api_url=api.url)
    try:
        yield adapter
    finally:
        await adapter._calls.close()


class Hurrying(SystemClock):
    """Does not wait for back-off."""

    async def sleep_until(self, at: datetime) -> None:
        await asyncio.sleep(0)


class Inbox:
    """What was delivered; while `shut`, `deliver` waits as it does for a store that is away."""

    def __init__(self) -> None:
        self.got: list[Heard] = []
        self.tried = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def deliver(self, inbound: Heard) -> None:
        self.tried.set()
        await self.open.wait()
        self.got.append(inbound)


@asynccontextmanager
async def polling(api: FakeApi, inbox: Inbox) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(TelegramAdapter(TOKEN, clock=Hurrying(), api_url=api.url + "/").run(inbox.deliver))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def numbered(raw: dict[str, Any], number: int) -> dict[str, Any]:
    return raw | {"update_id": number}


# --- in


async def test_updates_are_acknowledged_only_after_they_were_stored(api: FakeApi) -> None:
    inbox = Inbox()
    inbox.open.clear()
    await api.adds(numbered(message(text="a"), 5), numbered(press(), 6))
    async with polling(api, inbox):
        await inbox.tried.wait()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await api.until(lambda: api.offset > 0)

        inbox.open.set()
        await api.until(lambda: api.offset == 7)

    assert [type(each) for each in inbox.got] == [UserMessage, ButtonPress]


async def test_malformed_updates_are_skipped_and_acknowledged(api: FakeApi) -> None:
    inbox = Inbox()
    await api.adds({"update_id": 5, "message": "?"}, {"update_id": 6}, numbered(message(text="b"), 7))
    async with polling(api, inbox):
        await api.until(lambda: api.offset == 8)

    assert [each.event for each in inbox.got] == ["telegram:4242:7"]


async def test_a_poll_that_fails_is_tried_again_from_the_same_place(api: FakeApi) -> None:
    inbox = Inbox()
    api.faults["getUpdates"] = [
        refuses(500, "Internal Server Error"),
        refuses(409, "Conflict: can't use getUpdates method while webhook is active"),
        hangs_up,
        says("<html>"),
    ]
    api.raw_answers = [b'{"ok": true', b'{"ok": true, "result": 5}', b"[]"]
    await api.adds(numbered(message(text="a"), 5))
    async with polling(api, inbox):
        await api.until(lambda: api.offset == 6)

    assert len(inbox.got) == 1
    assert len(api.of("deleteWebhook")) == 1


async def test_a_poll_holds_shorter_than_a_lease_and_asks_for_no_edits(api: FakeApi) -> None:
    async with polling(api, Inbox()):
        await api.until(lambda: bool(api.of("getUpdates")))

    assert api.of("getUpdates")[0] == {"timeout": 8, "allowed_updates": ["message", "callback_query", "my_chat_member"]}


@pytest.mark.parametrize("status", [401, 404])
async def test_a_token_that_telegram_does_not_know_ends_the_adapter(api: FakeApi, status: int) -> None:
    api.faults["getUpdates"] = [refuses(status, "no")]
    async with polling(api, Inbox()) as task, asyncio.timeout(5):
        with pytest.raises(WrongToken, match="TELEGRAM_BOT_TOKEN"):
            await task


def test_a_token_that_cannot_be_one_is_refused_at_once_and_not_shown() -> None:
    with pytest.raises(WrongToken) as caught:
        TelegramAdapter("s3cret without a colon", clock=JumpingClock())

    assert "s3cret" not in str(caught.value)
    assert caught.value.__context__ is None


async def test_the_menu_is_set_in_both_languages_and_its_failure_stops_nothing(api: FakeApi) -> None:
    api.faults["setMyCommands"] = [hangs_up]
    inbox = Inbox()
    await api.adds(numbered(message(text="a"), 5))
    async with polling(api, inbox):
        await api.until(lambda: api.offset == 6)
    async with polling(api, inbox):
        await api.until(lambda: len(api.of("setMyCommands")) == 3)

    english, chinese = api.of("setMyCommands")[1:]
    assert "language_code" not in english
    assert chinese["language_code"] == "zh"
    assert isinstance(chinese["commands"], list)
    assert chinese["commands"][0] == {"command": "help", "description": "看看我会什么"}


# --- out


async def test_a_reply_is_sent_with_entities_and_without_a_preview(api: FakeApi) -> None:
    async with sending(api) as adapter:
        ref = await adapter.send(Reply(D1, "🎩 **b**"), "🎩 **b**", key="k", is_doubtful=False, is_last=True)

    assert ref == MessageRef(D1, "101")
    assert api.of("sendMessage") == [
        {
            "chat_id": 1001,
            "text": "🎩 b",
            "entities": [{"type": "bold", "offset": 3, "length": 1}],
            "link_preview_options": {"is_disabled": True},
        }
    ]


async def test_only_the_last_part_of_a_prompt_has_buttons(api: FakeApi) -> None:
    async with sending(api) as adapter:
        await adapter.send(CARD, "part", key="k", is_doubtful=False, is_last=False)
        await adapter.send(CARD, "**查房**", key="k", is_doubtful=False, is_last=True)

    first, last = api.of("sendMessage")
    assert "reply_markup" not in first
    assert last["reply_markup"] == {
        "inline_keyboard": [
            [
                {"text": "完成", "callback_data": "tok:done", "style": "success"},
                {"text": "稍后 10 分钟", "callback_data": "tok:snooze"},
            ]
        ]
    }


async def test_long_labels_stand_in_rows_of_their_own(api: FakeApi) -> None:
    choices = tuple(Choice(str(number), f"改到明天下午三点之后 {number}") for number in range(3))
    async with sending(api) as adapter:
        await adapter.send(Prompt(D1, "?", "tok", choices), "?", key="k", is_doubtful=False, is_last=True)

    markup = api.of("sendMessage")[0]["reply_markup"]
    assert isinstance(markup, dict)
    assert [len(row) for row in markup["inline_keyboard"]] == [1, 1, 1]


async def test_a_choice_too_long_to_carry_is_undeliverable(api: FakeApi) -> None:
    async with sending(api) as adapter:
        with pytest.raises(Undeliverable):
            await adapter.send(
                Prompt(D1, "?", "t" * 48, (Choice("x" * 16, "X"),)), "?", key="k", is_doubtful=False, is_last=True
            )


async def test_a_quote_goes_with_the_first_part_in_its_topic(api: FakeApi) -> None:
    where = ConversationId("telegram", "1001", "9")
    reply = Reply(where, "a " * 3000, quote=MessageRef(where, "77"))
    async with sending(api) as adapter:
        for part in adapter.split(reply):
            await adapter.send(reply, part, key="k", is_doubtful=False, is_last=False)

    first, second = api.of("sendMessage")
    assert first["reply_parameters"] == {"message_id": 77, "allow_sending_without_reply": True}
    assert "reply_parameters" not in second
    assert first["message_thread_id"] == second["message_thread_id"] == 9


async def test_looks_that_telegram_refuses_are_left_out(api: FakeApi) -> None:
    api.faults["sendMessage"] = [refuses(400, "Bad Request: can't parse entities: ...")]
    async with sending(api) as adapter:
        await adapter.send(Reply(D1, "**b**"), "**b**", key="k", is_doubtful=False, is_last=True)

    assert [params.get("entities") is None for params in api.of("sendMessage")] == [False, True]


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        (refuses(429, "Too Many Requests: retry after 4", retry_after=4), RetryLater),
        (refuses(500, "Internal Server Error"), RetryLater),
        (says("<html>Bad Gateway</html>", 502), RetryLater),
        (refuses(200, "ok is false"), RetryLater),
        (says("<html>Gateway Timeout</html>", 504), AnswerLost),
        (says("<html>fine</html>"), AnswerLost),
        (says('{"ok": true, "resu'), AnswerLost),
        (hangs_up, AnswerLost),
        (refuses(403, "Forbidden: bot was blocked by the user"), ChatGone),
        (refuses(403, "Forbidden: bot was kicked from the supergroup chat"), ChatGone),
        (refuses(403, "Forbidden: bot is not a member of the supergroup chat"), ChatGone),
        (refuses(403, "Forbidden: bot can't initiate conversation with a user"), ChatGone),
        (refuses(403, "Forbidden: user is deactivated"), ChatGone),
        (refuses(403, "Forbidden: the group chat was deleted"), ChatGone),
        (refuses(400, "Bad Request: group chat was deactivated"), ChatGone),
        (refuses(400, "Bad Request: chat not found"), ChatGone),
        (refuses(400, "Bad Request: not enough rights to send text messages to the chat"), ChatGone),
        (refuses(400, "Bad Request: have no rights to send a message"), ChatGone),
        (refuses(400, "Bad Request: CHAT_WRITE_FORBIDDEN"), ChatGone),
        (refuses(400, "Bad Request: PEER_ID_INVALID"), ChatGone),
        (refuses(400, "Bad Request: message thread not found"), Refused),
        (refuses(400, "Bad Request: TOPIC_CLOSED"), Refused),
        (refuses(400, "moved", migrate_to_chat_id=-5), ChatMoved),
        (refuses(401, "Unauthorized"), WrongToken),
    ],
)
async def test_failures_are_told_apart(api: FakeApi, fault: Fault, failure: type[ZclawError]) -> None:
    api.faults["sendMessage"] = [fault]
    async with sending(api) as adapter:
        with pytest.raises(failure) as caught:
            await adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)

    assert type(caught.value) is failure
    assert TOKEN not in repr(caught.value)
    assert caught.value.__context__ is None


async def test_a_group_that_has_moved_says_where(api: FakeApi) -> None:
    """R25."""
    api.faults["sendMessage"] = [refuses(400, "Bad Request: upgraded", migrate_to_chat_id=-1002001)]
    async with sending(api) as adapter:
        with pytest.raises(ChatMoved) as caught:
            await adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)

    assert caught.value.to == "-1002001"
    assert len(api.of("sendMessage")) == 1


async def test_the_general_topic_is_sent_to_without_its_number(api: FakeApi) -> None:
    """M18: topic 1 is refused when sending."""
    inbox = Inbox()
    general = {"chat": {"id": -1009, "type": "supergroup", "title": "G"}, "message_thread_id": 1}
    await api.adds(numbered(message(text="/help", is_topic_message=True, **general), 5))
    async with polling(api, inbox):
        await api.until(lambda: api.offset == 6)
    (heard,) = inbox.got
    async with sending(api) as adapter:
        for where in (heard.conversation, ConversationId("telegram", "-1009", "1")):
            await adapter.send(Reply(where, "a"), "a", key="k", is_doubtful=False, is_last=True)

    assert [each.get("message_thread_id") for each in api.of("sendMessage")] == [None, None]


async def test_an_update_that_comes_again_after_a_restart_is_the_same_event(api: FakeApi) -> None:
    """M1: events are remembered for two days, so it is answered once."""
    inbox = Inbox()
    for _ in range(2):
        api.offset = 0  # The confirmation was lost.
        await api.adds(numbered(message(text="a"), 5))
        async with polling(api, inbox):
            await api.until(lambda: api.offset == 6)

    assert [each.event for each in inbox.got] == ["telegram:4242:5"] * 2


async def test_an_answer_that_does_not_come_in_time_may_be_lost(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bots.telegram.calls.CALL_TIMEOUT_S", 0.05)
    released = asyncio.Event()

    async def waits(_: object) -> Any:
        await released.wait()

    api.faults["sendMessage"] = [waits]
    async with sending(api) as adapter:
        with pytest.raises(AnswerLost):
            await adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)
    released.set()


async def test_a_server_that_cannot_be_reached_has_surely_not_taken_it() -> None:
    adapter = TelegramAdapter(TOKEN, clock=JumpingClock(), api_url="http://127.0.0.1:9")

    with pytest.raises(RetryLater):
        await adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)
    await adapter._calls.close()


async def test_a_chat_under_a_flood_limit_is_left_alone_and_others_are_not(api: FakeApi) -> None:
    clock = JumpingClock()
    other = ConversationId("telegram", "2")
    api.faults["sendMessage"] = [refuses(429, "slow down", retry_after=4)]
    async with sending(api, clock) as adapter:
        with pytest.raises(RetryLater):
            await adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)
        with pytest.raises(RetryLater) as caught:
            await adapter.close(PromptClosed(D1, "tok", "x"), MessageRef(D1, "8"))
        await adapter.send(Reply(other, "b"), "b", key="k", is_doubtful=False, is_last=True)
        clock.jump(timedelta(seconds=4))
        await adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)

    assert caught.value.after == timedelta(seconds=4)
    assert [params["text"] for params in api.of("sendMessage")] == ["a", "b", "a"]
    assert api.of("editMessageText") == []


async def test_a_closed_prompt_keeps_only_the_choices_it_is_given(api: FakeApi) -> None:
    async with sending(api) as adapter:
        await adapter.close(PromptClosed(D1, "tok", "✅", (Choice("undo", "撤销"),)), MessageRef(D1, "8"))
        await adapter.close(PromptClosed(D1, "tok", "✅"), MessageRef(D1, "8"))

    kept, bare = api.of("editMessageText")
    assert kept["reply_markup"] == {"inline_keyboard": [[{"text": "撤销", "callback_data": "tok:undo"}]]}
    assert kept["message_id"] == 8
    assert "reply_markup" not in bare


@pytest.mark.parametrize(
    "description",
    [
        "Bad Request: message is not modified: specified new message content",
        "Bad Request: message to edit not found",
        "Bad Request: message can't be edited",
    ],
)
async def test_closing_what_is_closed_or_gone_is_no_error(api: FakeApi, description: str) -> None:
    api.faults["editMessageText"] = [refuses(400, description)]
    async with sending(api) as adapter:
        await adapter.close(PromptClosed(D1, "tok", "✅"), MessageRef(D1, "8"))

    assert len(api.of("editMessageText")) == 1


async def test_a_press_is_answered_once_and_what_comes_later_is_a_message(api: FakeApi) -> None:
    async with sending(api) as adapter:
        await adapter.notify(Notice(D1, "99", "1001", "收到"))
        await adapter.notify(Notice(D1, "99", "1001", "已完成"))

    assert api.of("answerCallbackQuery") == [{"callback_query_id": 99, "text": "收到"}]
    assert [params["text"] for params in api.of("sendMessage")] == ["已完成"]


async def test_a_press_too_old_to_be_answered_is_no_error(api: FakeApi) -> None:
    api.faults["answerCallbackQuery"] = [refuses(400, "Bad Request: query is too old and response timeout expired")]
    async with sending(api) as adapter:
        await adapter.notify(Notice(D1, "99", "1001", "x" * 300))

    (params,) = api.of("answerCallbackQuery")
    assert len(str(params["text"])) == 200


async def test_an_id_that_is_no_text_is_refused_before_telegram_is_asked(api: FakeApi) -> None:
    """Fuzzed updates brought ids with half a character: aiogram's error passed everything that catches ours."""
    photo = to_fetch("f\ud83c", AttachmentKind.PICTURE, "a.jpg", "image/jpeg", 9)
    async with sending(api) as adapter:
        await adapter.notify(Notice(D1, "9\ud83c", "1001", "收到"))
        with pytest.raises(FileGone):
            await adapter.fetch(photo)

    assert [api.of("answerCallbackQuery"), api.of("getFile")] == [[], []]


async def test_typing_never_raises(api: FakeApi) -> None:
    api.faults["sendChatAction"] = [hangs_up, refuses(403, "Forbidden")]
    async with sending(api) as adapter:
        for _ in range(3):
            await adapter.typing(D1)

    assert api.of("sendChatAction")[2] == {"chat_id": 1001, "action": "typing"}


async def test_the_token_is_in_no_log_and_no_error_whatever_fails(
    api: FakeApi, caplog: pytest.LogCaptureFixture
) -> None:
    """X9."""
    faults = [hangs_up, says("<html>", 500), says("x"), refuses(500, "no"), refuses(409, "conflict")]
    api.faults = {method: list(faults) for method in ("getUpdates", "sendMessage", "editMessageText", "setMyCommands")}
    errors: list[BaseException] = []
    with caplog.at_level(logging.DEBUG), capture_logs() as logs:
        async with sending(api) as adapter:
            for _ in faults:
                for call in (
                    adapter.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True),
                    adapter.close(PromptClosed(D1, "tok", "x"), MessageRef(D1, "8")),
                ):
                    try:
                        await call
                    except ZclawError as error:
                        errors.append(error)
        unreachable = TelegramAdapter(TOKEN, clock=JumpingClock(), api_url="http://no.such.host.invalid")
        with pytest.raises(ZclawError) as caught:
            await unreachable.send(Reply(D1, "a"), "a", key="k", is_doubtful=False, is_last=True)
        await unreachable._calls.close()
        async with polling(api, Inbox()):
            await api.until(lambda: not api.faults["getUpdates"][3:])

    secret = TOKEN.partition(":")[2]
    assert len(errors) == 10
    assert not any(secret in repr(error) or error.__context__ or error.__cause__ for error in [*errors, caught.value])
    assert secret not in caplog.text
    assert secret not in repr(logs)


async def test_halves_of_characters_never_leave(api: FakeApi) -> None:
    """M14: a provider may cut a pair between two deltas."""
    prompt = Prompt(D1, "\ud83c\udfa9 \ud83c", "tok", (Choice("a", "\udfa9"),))
    async with sending(api) as adapter:
        for part in adapter.split(prompt):
            await adapter.send(prompt, part, key="k", is_doubtful=False, is_last=True)
        await adapter.notify(Notice(D1, "99", "1001", "\ud83c"))

    assert api.of("sendMessage")[0]["text"] == "🎩 \ufffd"
    assert api.of("answerCallbackQuery")[0]["text"] == "\ufffd"
