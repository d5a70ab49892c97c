"""No secret of the bots reaches a chat, whoever wrote it there."""

from __future__ import annotations

import pytest

from bots.masking import masked
from kernel.chat import Choice, MessageRef, Notice, Outbound, Prompt, PromptClosed, Reply
from kernel.logs import MASK, Mask
from tests.bots.bench import D1, DraftingAdapter, running

SECRET = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
MASKED = Mask([SECRET])


@pytest.mark.parametrize(
    "outbound",
    [
        Reply(D1, f"it is {SECRET}"),
        Prompt(D1, f"send {SECRET}?", "token", (Choice("1", f"Send {SECRET}"),)),
        PromptClosed(D1, "token", f"sent {SECRET}", (Choice("1", SECRET),)),
        Notice(D1, "press", "1", SECRET),
    ],
)
def test_no_text_and_no_label_shows_it(outbound: Outbound) -> None:
    shown = masked(outbound, MASKED)

    assert SECRET not in repr(shown)
    assert MASK in repr(shown)


def test_everything_else_stays_as_it_was() -> None:
    reply = Reply(D1, "nothing here", quote=MessageRef(D1, "1"))

    assert masked(reply, MASKED) == reply


async def test_neither_a_message_nor_its_draft_shows_it() -> None:
    adapter = DraftingAdapter()
    async with running(adapter, MASKED) as bench:
        await bench.writes(f"the key is {SECRET}", 1)
        await bench.passes(1)
        await bench.goes(Reply(D1, f"the key is {SECRET}"))

    assert [text for _, text, _ in adapter.drafts] == [f"the key is {MASK}"]
    assert bench.texts == [f"the key is {MASK}"]
