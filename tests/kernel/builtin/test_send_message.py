"""Messages to another chat: known ones only, never without a press, and never to another one than the card named."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.access import Access
from kernel.builtin.send_message import MAX_TEXT_CHARS, send_message
from kernel.chat import ConversationId, Reply
from kernel.errors import BadArguments, ModelError
from kernel.messages import Concurrency, Json, ToolCall
from kernel.ports.chats import KnownChat
from kernel.settings import PlatformId
from kernel.stores.memory.blobs import MemoryBlobs
from kernel.stores.memory.chats import MemoryChats
from kernel.stores.memory.state import Memory
from kernel.tools import Approval, Requester, ToolContext, ToolOutcome, ToolRegistry
from kernel.workspace import Workspace
from tests.twins.clock import START, JumpingClock
from tests.twins.rights import rights_of
from tests.twins.sessions import HERE

ANN, BEN, GUEST = "1001", "1002", "1003"
LET_IN = Access(frozenset({PlatformId(HERE.platform, each) for each in (ANN, BEN, "-5")}))


def chat(number: str, title: str, person: str = "") -> KnownChat:
    return KnownChat(ConversationId(HERE.platform, number), title, person or number)


BENS, WARD = chat("d-2", "小李", BEN), chat("-5", "三病区", GUEST)
"""On Slack a private chat has another id than its person."""


@pytest.fixture
def context() -> ToolContext:
    """Ann's call runs."""
    return ToolContext(
        conversation=HERE,
        requester=ANN,
        language="zh",
        zone="Asia/Shanghai",
        now=START,
        deadline=START + timedelta(seconds=20),
        call="t1:c1:1",
        workspace=Workspace({}, MemoryBlobs(Memory(JumpingClock()), 1)),
    )


class Desk:
    """The tool over these known chats, used by Ann in her own."""

    def __init__(self, *known: KnownChat, access: Access = LET_IN) -> None:
        self.chats = MemoryChats(Memory(JumpingClock()))
        self._first = known
        self.tool = send_message(self.chats, rights_of(access))

    async def resolves(self, name: str, requester: str = ANN) -> Json:
        for each in self._first:
            await self.chats.see(each, now=START)
        self._first = ()
        assert self.tool.resolve is not None
        return await self.tool.resolve({"chat": name, "text": "你好"}, Requester(requester, HERE, is_private=True))

    async def runs(self, context: ToolContext, name: str, text: str = "你好") -> ToolOutcome:
        assert self.tool.run is not None
        return await self.tool.run({"chat": name, "text": text}, context)


@pytest.mark.parametrize("name", ["小李", " 小李 ", "d-2", "小李 #d-2"])
async def test_a_chat_is_found_by_name_or_id_and_both_are_written_down(name: str) -> None:
    assert await Desk(BENS, WARD).resolves(name) == {"chat": "小李 #d-2", "text": "你好"}


@pytest.mark.parametrize("name", ["小王", "小", "小王 #d-2", "-100:*"])
async def test_an_unknown_name_is_no_chat_however_near_it_is(name: str) -> None:
    with pytest.raises(ModelError, match="No known chat"):
        await Desk(BENS).resolves(name)


async def test_near_names_are_told_as_far_as_the_requester_may_go_there() -> None:
    with pytest.raises(ModelError, match=r"Perhaps: 小李\. "):
        await Desk(BENS, chat("9", "小李的猫")).resolves("小")


async def test_two_of_one_name_are_told_apart_by_nobody_so_neither_is_written_to() -> None:
    twins = Desk(BENS, replace(WARD, title="小李"))

    for name in ("小李", "d-2", "小李 #d-2"):
        with pytest.raises(ModelError, match="Several chats"):
            await twins.resolves(name)


async def test_a_stranger_gets_nothing_and_a_guest_whom_one_chat_lets_talk_writes_nowhere_else() -> None:
    with pytest.raises(ModelError, match="No known chat"):
        await Desk(chat("777", "老板")).resolves("老板")
    with pytest.raises(ModelError, match="No known chat"):
        await Desk(BENS, WARD).resolves("小李", requester=GUEST)
    with pytest.raises(ModelError, match="No known chat"):
        await Desk(BENS, WARD).resolves("三病区", requester=GUEST)


async def test_this_very_chat_other_platforms_and_chats_without_a_name_are_refused() -> None:
    with pytest.raises(ModelError, match="this very chat"):
        await Desk(replace(BENS, conversation=HERE, person=ANN, title="Ann")).resolves("Ann")
    with pytest.raises(ModelError, match="No known chat"):
        await Desk(replace(BENS, conversation=ConversationId("other", "d-2"))).resolves("小李")
    with pytest.raises(ModelError, match="no name"):
        await Desk(replace(BENS, title="")).resolves("d-2")


def test_it_always_asks_and_the_card_names_the_chat_first_and_hides_no_sign_of_the_text() -> None:
    tool = Desk().tool
    bound = ToolRegistry([tool]).bind(
        ToolCall("c", "send_message", '{"chat": "小\\u202e李 #1002", "text": "明天\\n\\u202e停诊\\u200b"}')
    )

    assert (bound.approval, bound.concurrency) == (Approval.ASK, Concurrency.EXCLUSIVE)
    assert tool.describe(bound.arguments, "zh") == "发到「小⟨U+202E⟩李」：\n│ 明天\n│ ⟨U+202E⟩停诊⟨U+200B⟩"
    assert "1002" not in tool.describe(bound.arguments, "en")


def test_a_text_that_no_card_could_show_whole_is_refused() -> None:
    with pytest.raises(BadArguments):
        ToolRegistry([Desk().tool]).bind(
            ToolCall("c", "send_message", f'{{"chat": "x", "text": "{"a" * (MAX_TEXT_CHARS + 1)}"}}')
        )


async def test_what_was_shown_goes_out_as_it_was_shown(context: ToolContext) -> None:
    desk = Desk(BENS)
    handle = str((await desk.resolves("小李"))["chat"])

    outcome = await desk.runs(context, handle, "**停诊** [详情](https://a.example)")

    (sent,) = outcome.changes.outbound
    assert isinstance(sent, Reply)
    assert sent.conversation == BENS.conversation
    assert sent.text.startswith("\\*\\*停诊")


@pytest.mark.parametrize(
    "meanwhile", [replace(BENS, title="小张"), replace(WARD, title="小李"), replace(BENS, person="777")], ids=str
)
async def test_after_the_card_another_name_a_second_one_or_a_stranger_stops_it(
    context: ToolContext, meanwhile: KnownChat
) -> None:
    desk = Desk(BENS)
    handle = str((await desk.resolves("小李"))["chat"])
    await desk.chats.see(meanwhile, now=START)

    with pytest.raises(ModelError, match=r"Not sent|Several"):
        await desk.runs(context, handle)


async def test_a_name_without_its_id_never_runs(context: ToolContext) -> None:
    desk = Desk(BENS)
    await desk.resolves("小李")

    with pytest.raises(ModelError, match="Not sent"):
        await desk.runs(context, "小李")
