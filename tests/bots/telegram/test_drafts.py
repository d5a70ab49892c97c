"""An answer while it is written, on Telegram: one draft a turn, in private chats, that gives way to the message."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bots.adapter import HasDrafts
from kernel.chat import Draft, Reply
from kernel.errors import RetryLater
from tests.bots.telegram.fake_api import FakeApi, refuses
from tests.bots.telegram.test_adapter import D1, sending
from tests.twins.clock import JumpingClock


async def test_a_draft_grows_under_one_number_and_looks_like_the_message(api: FakeApi) -> None:
    clock = JumpingClock()
    async with sending(api, clock) as adapter:
        assert isinstance(adapter, HasDrafts)
        for number, text in enumerate(("今", "今天 **查房**", "")):
            await adapter.show_draft(Draft(D1, "turn-1", number, text))
            clock.jump(adapter.draft_every)
        await adapter.show_draft(Draft(D1, "turn-2", 9, "x"))

    drafts = api.of("sendMessageDraft")
    assert [draft.get("text", "") for draft in drafts] == ["今", "今天 查房", "", "x"]
    assert drafts[1]["entities"] == [{"type": "bold", "offset": 3, "length": 2}]
    numbers = [draft["draft_id"] for draft in drafts]
    assert len(set(numbers[:3])) == 1
    assert numbers[3] != numbers[0]
    assert all(isinstance(number, int) and 0 < number < 2**31 for number in numbers)


async def test_of_a_text_that_fills_messages_the_one_being_written_is_shown(api: FakeApi) -> None:
    async with sending(api) as adapter:
        await adapter.show_draft(Draft(D1, "t", 1, "😀" * 2_000 + "\n\n" + "b" * 3_000))

    assert api.of("sendMessageDraft")[0]["text"] == "b" * 3_000


async def test_a_draft_that_is_refused_for_its_looks_goes_plain(api: FakeApi) -> None:
    api.faults["sendMessageDraft"] = [refuses(400, "Bad Request: can't parse entities")]
    async with sending(api) as adapter:
        await adapter.show_draft(Draft(D1, "t", 1, "**a**"))

    assert [draft.get("entities") for draft in api.of("sendMessageDraft")][1] is None


async def test_a_limit_on_drafts_is_obeyed_and_is_none_for_messages(api: FakeApi) -> None:
    api.faults["sendMessageDraft"] = [refuses(429, "Too Many Requests: retry after 9", retry_after=9)]
    clock = JumpingClock()
    async with sending(api, clock) as adapter:
        for _ in range(2):
            with pytest.raises(RetryLater):
                await adapter.show_draft(Draft(D1, "t", 1, "a"))
        await adapter.send(Reply(D1, "b"), "b", key="k", is_doubtful=False, is_last=True)
        clock.jump(timedelta(seconds=9))
        await adapter.show_draft(Draft(D1, "t", 2, "ab"))

    assert len(api.of("sendMessage")) == 1
    assert len(api.of("sendMessageDraft")) == 2


async def test_a_limit_on_messages_rests_drafts_too(api: FakeApi) -> None:
    api.faults["sendMessage"] = [refuses(429, "Too Many Requests: retry after 9", retry_after=9)]
    async with sending(api) as adapter:
        with pytest.raises(RetryLater):
            await adapter.send(Reply(D1, "b"), "b", key="k", is_doubtful=False, is_last=True)
        with pytest.raises(RetryLater):
            await adapter.show_draft(Draft(D1, "t", 1, "a"))

    assert api.of("sendMessageDraft") == []


async def test_a_dropped_draft_of_a_private_chat_goes_by_itself(api: FakeApi) -> None:
    async with sending(api) as adapter:
        await adapter.drop_draft(D1)

    assert api.calls == []
