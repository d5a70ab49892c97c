"""What a worker still has in its hands when a conversation is forgotten."""

from __future__ import annotations

from datetime import timedelta

from kernel.changes import Changes
from kernel.chat import Reply
from kernel.messages import Message, Role, Text
from kernel.ports import Checkout, Forgetting, Item, Lease, Outcome, Shelf, Spending, Spent, Step
from kernel.providers.scripted import Gate, Held
from kernel.reaction import Reaction
from kernel.session import Session
from tests.twins.clock import START
from tests.workers.shift import chat, shift, until
from workers.pending import Pending
from workers.stock import Stock

WORDS = "写到柠檬紫了"
SHELF = Shelf("twin", "1001", is_private=True)


def said(words: str) -> Message:
    return Message(Role.USER, (Text(words),))


async def test_a_draft_is_not_written_behind_a_commit_whose_answer_was_lost() -> None:
    async with shift() as here:
        gate = Gate()
        here.model.then(Held("不会说完", gate, WORDS))
        await here.says("讲个故事")
        draining = here.drain(here.worker())
        await gate.reached()
        await here.says("/forget")
        await until(lambda: any("忘掉这个聊天吗" in said for said in here.said()))
        here.conversations.away["answer of commit"] = 4

        await here.presses(here.card(), "forget")
        await here.passes_until(draining)

        assert here.conversations.raised == ["answer of commit"] * 4
        assert WORDS not in str(here.memory.lines)
        assert WORDS not in str(here.memory.records)


async def test_what_was_to_be_committed_is_forgotten_too_but_for_what_was_used_up() -> None:
    async with shift() as here:
        item = Item("0000000007", await here.says("按了"))
        used = Spending("1001", START.date(), Spent(10, 5))
        reply = Changes(outbound=(Reply(chat(), WORDS),), notes=(WORDS,), spendings=(used,))
        pending = Pending(
            taken=("0000000005",),
            parked=("0000000006",),
            changes=reply,
            notes_used=1,
            new_history=True,
            rewritten=(said(WORDS),),
            history=(said(WORDS),),
        )
        done = Changes(outbound=(Reply(chat(), "好了"),))

        pending.accept(item, Reaction(Session(chat()), done, forgets=Forgetting(SHELF)))
        step = pending.step(Session(chat()))

        assert WORDS not in str(step)
        assert step.taken == ("0000000005", "0000000006", "0000000007")
        assert step.spendings == (used,)
        assert step.outbound == done.outbound
        assert step.forgets == Forgetting(SHELF, "0000000007")


async def test_a_worker_goes_on_with_a_history_that_begins_anew() -> None:
    async with shift() as here:
        await here.says("口令是柠檬紫")
        await here.works()
        await here.says("/forget")
        await here.works()
        await here.presses(here.card(), "forget")
        await here.says("你好")

        await here.works()

        assert len(here.history()) == 2
        assert here.session().history_length == 2
        assert "柠檬紫" not in str(here.model.requests[-1].messages)
        assert here.clock.now() - START < timedelta(minutes=1)


async def test_who_holds_a_conversation_that_was_forgotten_has_nothing_left_of_it() -> None:
    lease = Lease(chat(), "w", 1, 1)
    stock = Stock(Checkout(lease, Session(chat()), (said(WORDS),), (WORDS,), {"a.txt": "blob"}))

    stock.take(Step(Session(chat()), Outcome.DONE, notes=("之后",), forgets=Forgetting(SHELF)))

    assert (stock.history, stock.notes, stock.files) == ([], ["之后"], {})


async def test_what_was_taken_back_before_its_commit_is_not_written_either() -> None:
    async with shift() as here:
        item = Item("0000000007", await here.says("/undo"))
        pending = Pending(history=(said("一"), said("二")))

        pending.accept(item, Reaction(Session(chat()), rewritten=(said("一"),)))

        step = pending.step(Session(chat()))
        assert (step.new_history, step.history) == (True, (said("一"),))


async def test_what_ended_before_a_new_history_is_not_its_beginning() -> None:
    """`/stop` and `/new` read together: the stored history had one message more than the session knew, for ever."""
    async with shift() as here:
        item = Item("0000000007", await here.says("/new"))
        pending = Pending(history=(said("一"),))

        pending.accept(item, Reaction(Session(chat()), new_history=True))

        step = pending.step(Session(chat()))
        assert (step.new_history, step.history) == (True, ())
