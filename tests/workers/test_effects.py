"""What effects really do: ask the model, run a tool at most once; and what comes of every way in which that ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import pytest

from kernel.changes import Changes
from kernel.chat import ConversationId, Prompt
from kernel.errors import LeaseLost, ModelError, ProviderFailed, ProviderRefused, RetryLater
from kernel.logs import MASK, Mask
from kernel.loop import CallModel, Limits, RunCall, advance
from kernel.messages import Concurrency, Json, Message, ModelReply, Role, Stop, Text, ToolResult, Usage
from kernel.ports import Spending, Spent
from kernel.prompts import SYSTEM
from kernel.providers.scripted import Gate, Held, Scripted, call
from kernel.session import Ending, GateState, Session
from kernel.session_events import Broken, ModelReplied, Returned
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from kernel.tools import MAX_RESULT_CHARS, Approval, Tool, ToolContext, ToolOutcome, ToolRegistry
from tests.twins.clock import START, JumpingClock
from tests.twins.rights import everybody_is_allowed
from tests.twins.sessions import ANN, HERE, after, calling, gate_of, spoken, turn_of
from tests.twins.tools import Deeds
from workers.asking import Asker, Asking
from workers.effects import Done, Effects, stopped
from workers.place import Place

READ = Concurrency.READ_ONLY
PLACE = Place(HERE, "zh", {"notes/a.txt": "blob"})


async def in_shanghai(_conversation: ConversationId) -> str:
    return "Asia/Shanghai"


@dataclass
class Bench:
    """Effects of one process with these tools."""

    tools: tuple[Tool, ...] = ()
    model: Scripted = field(default_factory=Scripted)
    clock: JumpingClock = field(default_factory=JumpingClock)
    stores: Stores = field(init=False)
    mask: Callable[[str], str] = str

    def __post_init__(self) -> None:
        self.stores = memory_stores(self.clock, memory=Memory(self.clock))
        tokens = iter(f"token-{number}" for number in range(99))
        registry = ToolRegistry(self.tools)
        self.effects = Effects(
            asker=Asker(
                self.model,
                registry,
                Asking(SYSTEM),
                outbox=self.stores.outbox,
                blobs=self.stores.blobs,
                clock=self.clock,
            ),
            registry=registry,
            blobs=self.stores.blobs,
            clock=self.clock,
            new_id=lambda: next(tokens),
            zone=in_shanghai,
            standing=everybody_is_allowed,
            silences=self.stores.silences,
            mask=self.mask,
        )

    async def asks(self, session: Session, history: tuple[Message, ...] = ()) -> Done:
        """The model is asked for the turn's next message."""
        turn = turn_of(session)
        return await self.effects.call_model(CallModel(turn.id, turn.effect), turn, history, 0, PLACE)

    async def runs(
        self, name: str = "post", *, permit: Callable[[], bool] = lambda: True, known: Effects | None = None
    ) -> Done:
        """The model's call of the tool runs, claimed when it has effects; gated by the process of `known`."""
        registry = (known or self.effects).registry
        model = Scripted(replace(call(name, text="x"), id="c1"))
        asker = Bench(self.tools if known is None else (), model)
        asker.effects.registry = registry
        session = after(spoken("做"), calling())
        done = await asker.asks(session)
        moved = advance(after(done.event, session=session), registry, fence=1, limits=Limits())
        (effect,) = moved.effects
        assert isinstance(effect, RunCall)
        gate = gate_of(moved.session, "c1")
        return await self.effects.run_call(effect, turn_of(moved.session), gate, PLACE, permit)


def tool(run: Callable[[Json, ToolContext], object], concurrency: Concurrency = Concurrency.EXCLUSIVE) -> Tool:
    """`post`, which does that."""

    async def running(arguments: Json, context: ToolContext) -> ToolOutcome:
        outcome = run(arguments, context)
        if asyncio.iscoroutine(outcome):
            outcome = await outcome
        return outcome if isinstance(outcome, ToolOutcome) else ToolOutcome(str(outcome))

    base = Deeds().tool("post", concurrency, timeout=timedelta(seconds=0.05))
    return replace(base, run=running)


def raising(error: Exception) -> Callable[[Json, ToolContext], object]:
    def run(_: Json, __: ToolContext) -> object:
        raise error

    return run


def result(done: Done) -> ToolResult:
    assert isinstance(done.event, Returned)
    return done.event.result


# --- the model ---------------------------------------------------------------------------------------------------


async def test_the_model_reads_the_system_prompt_the_history_the_turn_and_the_tools() -> None:
    bench = Bench((Deeds().tool("post"),))
    history = (Message(Role.USER, (Text("早"),)), Message(Role.ASSISTANT, (Text("早上好"),)))

    done = await bench.asks(replace_base(after(spoken("你好"), calling()), 2), history)

    (request,) = bench.model.requests
    assert request.system == SYSTEM
    assert [message.text for message in request.messages] == ["早", "早上好", "你好"]
    assert [words.name for words in request.tools] == ["post"]
    assert isinstance(done.event, ModelReplied)
    assert done.event.effect == 1


def replace_base(session: Session, base: int) -> Session:
    return replace(session, turns=tuple(replace(turn, base=base) for turn in session.turns))


@pytest.mark.parametrize(
    ("error", "ending"), [(ProviderFailed("overloaded"), Ending.FAILED), (ProviderRefused("key"), Ending.REFUSED)]
)
async def test_a_model_that_cannot_answer_ends_the_turn(error: Exception, ending: Ending) -> None:
    done = await Bench(model=Scripted(error)).asks(after(spoken("你好"), calling()))

    assert done.event == Broken("t1", ending)


async def test_without_a_model_the_turn_ends() -> None:
    bench = Bench()
    effects = Effects(
        asker=None,
        registry=ToolRegistry(),
        blobs=bench.stores.blobs,
        clock=bench.clock,
        new_id=lambda: "",
        zone=in_shanghai,
        standing=everybody_is_allowed,
        silences=bench.stores.silences,
    )
    turn = turn_of(after(spoken("你好"), calling()))

    done = await effects.call_model(CallModel("t1", 1), turn, (), 0, PLACE)

    assert done.event == Broken("t1", Ending.REFUSED)


async def test_a_call_that_asks_brings_its_card_with_the_reply() -> None:
    bench = Bench((Deeds().tool("post", approval=Approval.ASK),), Scripted(call("post", text="你好")))

    done = await bench.asks(after(spoken("发"), calling()))

    (card,) = done.changes.outbound
    assert isinstance(card, Prompt)
    assert isinstance(done.event, ModelReplied)
    assert done.event.gates[0].state is GateState.ASKED
    assert card.token == done.event.gates[0].token == done.changes.prompts[0].token
    assert done.changes.alarms[0].at == START + timedelta(hours=72)


async def test_a_call_brings_what_it_used_up_on_the_day_it_is_there() -> None:
    """At nine in Shanghai it is still Sunday in New York."""
    message = Message(Role.ASSISTANT, (Text("好"),))
    bench = Bench(model=Scripted(ModelReply(message, Stop.END, Usage(1000, 100, 500), by="openai:glm-5")))
    turn = turn_of(after(spoken("你好"), calling()))

    done = await bench.effects.call_model(CallModel("t1", 1), turn, (), 0, replace(PLACE, zone="America/New_York"))

    used = Spent(1000, 100, 500, 500 * 1 + 100 * 1 + 320)
    assert done.changes.spendings == (Spending(ANN, date(2026, 11, 29), used),)


async def test_a_call_that_nobody_counted_used_up_nothing() -> None:
    message = Message(Role.ASSISTANT, (Text("好"),))

    done = await Bench(model=Scripted(ModelReply(message, Stop.END))).asks(after(spoken("你好"), calling()))

    assert done.changes == Changes()


async def test_a_model_call_can_be_broken_off() -> None:
    gate = Gate()
    asking = asyncio.create_task(Bench(model=Scripted(Held("nie", gate))).asks(after(spoken("你好"), calling())))
    await gate.reached()

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking


# --- tools -------------------------------------------------------------------------------------------------------


SECRET = "6f9619ff-8b86-d011-b42d-00c04fc964ff"


@pytest.mark.parametrize("run", [lambda *_: f"key={SECRET}", raising(ModelError(f"no such file: {SECRET}"))])
async def test_a_secret_that_a_tool_finds_is_masked_before_anybody_reads_it(
    run: Callable[[Json, ToolContext], object],
) -> None:
    done = await Bench((tool(run),), mask=Mask([SECRET])).runs()

    assert MASK in result(done).text
    assert SECRET not in repr(done)


async def test_a_tool_knows_where_for_whom_and_until_when_it_runs() -> None:
    seen: list[ToolContext] = []

    def look_around(_: Json, context: ToolContext) -> object:
        seen.append(context)
        return "ok"

    bench = Bench((tool(look_around),))

    done = await bench.runs()

    (context,) = seen
    assert (context.conversation, context.requester) == (HERE, "1001")
    assert (context.language, context.zone) == ("zh", "Asia/Shanghai")
    assert context.deadline - context.now == timedelta(seconds=0.05)
    assert context.workspace.paths() == ("notes/a.txt",)
    assert context.call == "t1:c1:1"
    assert result(done) == ToolResult("c1", "ok")


async def test_what_it_changes_and_writes_comes_with_its_result() -> None:
    async def run(_: Json, context: ToolContext) -> ToolOutcome:
        await context.workspace.write("b.txt", b"x")
        context.workspace.delete("notes/a.txt")
        return ToolOutcome("ok", changes=Changes(notes=("noted",)))

    done = await Bench((tool(run),)).runs()

    assert done.changes.notes == ("noted",)
    assert set(done.changes.files) == {"b.txt", "notes/a.txt"}
    assert done.changes.files["notes/a.txt"] is None


async def test_without_a_permit_nothing_with_effects_runs() -> None:
    ran: list[object] = []
    bench = Bench((tool(lambda *_: ran.append(1)),))

    with pytest.raises(LeaseLost):
        await bench.runs(permit=lambda: False)

    assert ran == []


async def test_a_read_only_call_needs_no_permit() -> None:
    done = await Bench((tool(lambda *_: "ok", READ),)).runs(permit=lambda: False)

    assert result(done).text == "ok"


async def test_a_tool_that_changed_between_the_call_and_its_run_does_not_run() -> None:
    """A card was shown by the version before an update; the press comes after it."""
    ran: list[object] = []
    old = Bench((tool(lambda *_: ran.append(1)),))
    words = replace(old.tools[0].words, schema=old.tools[0].words.schema.replace('"text":{', '"text":{"maxLength":5,'))
    new = Bench((replace(old.tools[0], words=words),))

    done = await new.runs(known=old.effects)

    assert result(done).is_error
    assert result(done).text == "Not run: the tool has changed since the call was made."
    assert ran == []


async def test_a_tool_that_is_gone_between_the_call_and_its_run_is_an_answer_for_the_model() -> None:
    old = Bench((tool(lambda *_: "ok"),))

    done = await Bench().runs(known=old.effects)

    assert result(done).is_error
    assert result(done).text.startswith("Not run")


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (raising(ModelError("Give a city.")), "Give a city."),
        (raising(RetryLater("redis", timedelta())), "may have taken effect"),
        (raising(ValueError("token sk-canary in an exception")), "may have taken effect"),
        (lambda *_: asyncio.sleep(60), "took too long"),
    ],
    ids=["model", "store", "bug", "slow"],
)
async def test_every_way_to_fail_is_an_error_result_and_the_turn_goes_on(
    run: Callable[[Json, ToolContext], object], words: str
) -> None:
    done = await Bench((tool(run),)).runs()

    assert result(done).is_error
    assert words in result(done).text
    assert "canary" not in result(done).text
    assert done.changes == Changes()


async def test_what_failed_leaves_no_file_behind() -> None:
    async def run(_: Json, context: ToolContext) -> ToolOutcome:
        await context.workspace.write("half.txt", b"x")
        raise ModelError("no")

    assert (await Bench((tool(run),)).runs()).changes.files == {}


async def test_an_endless_result_is_capped_and_an_empty_one_says_so() -> None:
    long = await Bench((tool(lambda *_: "x" * 3_000_000),)).runs()
    empty = await Bench((tool(lambda *_: ""),)).runs()

    assert len(result(long).text) < MAX_RESULT_CHARS + 100
    assert result(empty).text == "(nothing)"


async def test_a_tool_that_is_broken_off_passes_the_cancellation_on() -> None:
    deeds = Deeds()
    bench = Bench((replace(deeds.tool("post", held=True)),))
    running = asyncio.create_task(bench.runs())
    await deeds.begun.get()

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


def test_what_was_stopped_in_the_middle_may_have_taken_effect() -> None:
    done = stopped(RunCall("t1", "c1", 3))

    assert done.event == Returned(
        "t1", "c1", 3, ToolResult("c1", "Stopped while it ran: it may have taken effect.", is_error=True)
    )
