"""Random lives of a conversation, to see that no request in them is one that a strict service refuses (promise 7)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from structlog.testing import capture_logs

from kernel.chat import ConversationId
from kernel.compaction import compacted, cut, summary_request
from kernel.context import harvest, request_messages
from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import (
    Concurrency,
    Effort,
    Message,
    ModelReply,
    ModelRequest,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolWords,
)
from kernel.providers.failover import Failover
from kernel.session import Ending, Gate, GateState, Mode, Session, Turn, can_start
from kernel.session_events import (
    Broken,
    Calling,
    Compacted,
    Denied,
    ModelReplied,
    Opened,
    Resumed,
    Returned,
    Spoken,
    Voted,
)
from kernel.transitions import apply
from tests.twins.bound_thinking import BoundThinking
from tests.twins.conversation import SCHEMA, TOOLS
from tests.twins.hasty import HastyClock
from tests.twins.wire_models import WireModel

CLAUDES = (
    "anthropic:claude-opus-5-5",
    "anthropic:claude-sonnet-5-5",
    "anthropic:claude-haiku-5-5",
    "anthropic:claude-haiku-4-5",
)
CHATS = ("openai:deepseek-reasoner", "openai:deepseek-r1", "openai:qwen3-max", "openai:gpt-5.2")
LATE = ToolWords("brand.new", "came midway", SCHEMA)
PREFIXES = {"a": ("你是助手", TOOLS), "b": ("你是助手", (*TOOLS, LATE)), "c": ("You are terse", ())}


@dataclass
class Tally:
    """What happened in all histories together."""

    histories: int = 0
    requests: int = 0
    refusals: list[str] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)

    def lines(self) -> str:
        """For people."""
        events = ", ".join(f"{count} {what}" for what, count in sorted(self.events.items()))
        return f"{self.histories} histories, {self.requests} requests, {len(self.refusals)} refused; {events}"


class Life:
    """One conversation, from the seed `seed`."""

    def __init__(self, seed: int, tally: Tally) -> None:
        self._chance = random.Random(seed)
        self._tally = tally
        self._bound = BoundThinking()
        self._session = Session(ConversationId("twin", str(seed), ""))
        self._history: tuple[Message, ...] = ()
        self._most = self._chance.choice([10, 20, 200])
        self._thinking = self._chance.choice(list(Thinking))
        self._effort = self._chance.choice([None, *Effort])
        self._prefix = "a"
        self._fence = 1
        self._turns = 0
        self._models: list[WireModel] = []
        self._restart()

    async def live(self, steps: int) -> None:
        """Do so many things at random."""
        for _ in range(steps):
            await self._next()()
            self._keep()
            await self._shorten()
        self._count()
        self._tally.histories += 1

    def _next(self) -> Callable[[], Awaitable[None]]:
        """Mostly what brings the conversation on."""
        turn = self._session.running
        can_think = turn is not None and not turn.is_calling and turn.top.open is None
        draw = self._chance.random()
        if draw < 0.12:
            return self._rare
        if draw < 0.2:
            return self._say
        if can_think and draw < 0.9:
            return self._think
        return self._answer if any(turn.gates for turn in self._session.turns) else self._say

    def _restart(self) -> None:
        """A new process, as the first one and after a crash; now and then with other models."""
        self._count()
        if not self._models or self._chance.random() < 0.3:
            specs = self._chance.sample((*CLAUDES, *CHATS), self._chance.choice([1, 2, 2, 3]))
        else:
            specs = [model.name for model in self._models]
        self._models = [WireModel(spec, self._chance, self._bound) for spec in specs]
        self._clock = HastyClock()
        self._model = Failover(self._models, clock=self._clock, random=self._chance)

    def _count(self) -> None:
        for model in self._models:
            self._tally.requests += model.requests
            self._tally.refusals += model.refusals

    async def _say(self) -> None:
        self._turns += 1
        mode = self._chance.choice([Mode.WORK, Mode.WORK, Mode.PLAN])
        person = self._chance.choice(["p1", "p2"])
        words = Text(self._chance.choice(["你好", "查一下", "快点"]))
        self._session = apply(self._session, Spoken(f"t{self._turns}", person, (words,), self._prefix, mode))

    async def _think(self) -> None:
        turn = self._session.running
        if turn is None or turn.is_calling or turn.top.open is not None:
            return
        self._session = apply(self._session, Calling(turn.id, turn.effect + 1))
        asked = self._session.turn(turn.id)
        assert asked is not None
        fate = self._chance.random()
        if fate < 0.05:
            self._note("stops in a call")
            self._session = apply(self._session, Broken(turn.id, Ending.STOPPED))
        reply = await self._ask(asked)
        if fate > 0.95:
            self._note("crashes in a call")
            self._crash()
            return
        if reply is None:
            self._session = apply(self._session, Broken(turn.id, Ending.FAILED))
            return
        message = _distinct(reply.message, asked)
        gates = tuple(self._gate(call) for call in message.calls)
        self._session = apply(self._session, ModelReplied(turn.id, asked.effect, message, gates))

    async def _ask(self, turn: Turn) -> ModelReply | None:
        system, tools = PREFIXES[turn.top.prefix]
        messages = request_messages(turn, self._history, most=self._most)
        if turn.base > self._most and len(turn.frames) == 1:
            self._note("trimmed requests")
        may_call = turn.top.mode is Mode.WORK
        request = ModelRequest(system, messages, tools, may_call=may_call, thinking=self._thinking, effort=self._effort)
        try:
            reply = await self._model.reply(request)
        except (ProviderFailed, ProviderRefused):  # A refusal is in the tally.
            return None
        kept = [part for message in messages for part in message.parts if isinstance(part, Opaque)]
        if kept and self._models[0].is_away and not self._models[-1].is_away:
            self._note("failovers behind kept thinking")
        return reply

    def _gate(self, call: ToolCall) -> Gate:
        draw = self._chance.random()
        if call.is_cut or draw < 0.1:
            answer = ToolResult(call.id, "cannot run", is_error=True)
            return Gate(call, Concurrency.READ_ONLY, GateState.ANSWERED, result=answer)
        state = GateState.ASKED if draw < 0.3 else GateState.READY
        return Gate(call, Concurrency.READ_ONLY, state, digest="d", token="t" if draw < 0.3 else "")

    async def _answer(self) -> None:
        waiting = [(turn, gate) for turn in self._session.turns for gate in turn.gates if not gate.is_answered]
        if not waiting:
            return
        turn, gate = self._chance.choice(waiting)
        match gate.state:
            case GateState.ASKED if self._chance.random() < 0.5:
                self._session = apply(self._session, Voted(turn.id, gate.call.id, "d", "p1"))
            case GateState.ASKED:
                self._session = apply(self._session, Denied(turn.id, gate.call.id, "不行"))
            case GateState.READY if self._chance.random() < 0.1 and can_start(turn.gates, gate):
                self._note("sub-frames")
                opened = Opened(turn.id, gate.call.id, (Text("做这个"),), turn.top.prefix)
                self._session = apply(self._session, opened)
            case _:
                result = ToolResult(gate.call.id, self._chance.choice(["晴", "", " "]))
                self._session = apply(self._session, Returned(turn.id, gate.call.id, 0, result))

    async def _rare(self) -> None:
        match self._chance.choice(["stop", "crash", "prefix", "outage", "outage", "time"]):
            case "stop" if self._session.turns:
                self._note("stops")
                turn = self._chance.choice(self._session.turns)
                self._session = apply(self._session, Broken(turn.id, Ending.STOPPED))
            case "crash":
                self._note("crashes")
                self._crash()
            case "prefix":
                self._note("new prefixes")
                self._prefix = self._chance.choice(list(PREFIXES))
            case "outage":
                self._note("outages")
                model = self._chance.choice(self._models)
                model.is_away = not model.is_away
            case _:
                self._clock.set(self._clock.now().replace(year=self._clock.now().year + 1))

    def _crash(self) -> None:
        self._fence += 1
        self._session = apply(self._session, Resumed(self._fence))
        self._restart()

    def _keep(self) -> None:
        left = harvest(self._session)
        self._session = left.session
        self._history += left.history

    async def _shorten(self) -> None:
        """Now and then, when nobody speaks; the summary may fail."""
        taken = cut(self._history)
        if self._session.turns or taken is None or self._chance.random() < 0.6:
            return
        try:
            reply = await self._model.reply(summary_request(taken.old, most_tokens=5_000))
        except (ProviderFailed, ProviderRefused):
            return
        if reply.message.text.strip():
            self._note("compactions")
            of, self._history = len(self._history), compacted(reply.message.text, taken, ["现在几点"])
            self._session = apply(self._session, Compacted(of, len(self._history)))

    def _note(self, what: str) -> None:
        self._tally.events[what] += 1


def _distinct(message: Message, turn: Turn) -> Message:
    """As the loop makes the ids of a turn distinct."""
    taken = {call.id for frame in turn.frames for each in frame.messages for call in each.calls}
    taken |= {gate.call.id for gate in turn.gates} | {*turn.spent}
    parts = [
        replace(part, id=f"{part.id}-again") if isinstance(part, ToolCall) and part.id in taken else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))


async def live(count: int, *, first: int = 0, steps: int = 40) -> Tally:
    """So many lives, each from its own seed."""
    tally = Tally()
    for seed in range(first, first + count):
        with capture_logs():  # Every outage is told to the operator.
            await Life(seed, tally).live(steps)
    return tally
