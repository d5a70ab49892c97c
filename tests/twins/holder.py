"""Who holds a conversation in an interleaving, or believes to: keeps the protocol of workers one small step at a time.

Commit, then start effects; a permit before anything that has effects; whoever loses the lease drops everything. All
that it does is watched by the stage's `Judge`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from random import Random

from kernel.chat import AccessRequested, ButtonPress, ConversationId, Expired, UserMessage
from kernel.context import harvest, request_messages
from kernel.errors import LeaseLost
from kernel.loop import CallModel, Effect, Limits, RunCall, advance, find_gate, read_reply
from kernel.messages import Message, Text, ToolResult
from kernel.ports import LEASE, Alarm, Checkout, Item, Lease, Outcome, Release, Step
from kernel.session import Ending, Gate, GateState, Session, Turn
from kernel.session_events import (
    Asked,
    Broken,
    Denied,
    Restored,
    Resumed,
    Returned,
    SessionEvent,
    Spoken,
    Voted,
    Worded,
)
from kernel.transitions import apply
from tests.twins.clock import START
from tests.twins.invariants import Went, goes_on, may_run
from tests.twins.judge import Judge
from tests.twins.mixed_tools import NEEDS, OPENERS, QUESTION, REGISTRY, reply
from tests.twins.plain_store import Store

WAITS = timedelta(hours=72)
PERMIT = LEASE - timedelta(seconds=2)
LIMITS = Limits(iterations=4, model_calls=8)


@dataclass(frozen=True, slots=True)
class Card:
    """What a button stands for."""

    turn: str
    call: str
    digest: str
    requester: str
    name: str


class Stage:
    """What everybody in one conversation shares: the store, the time, what is on people's screens, the judge."""

    def __init__(self, store: Store, here: ConversationId, tally: Counter[str]) -> None:
        self.store = store
        self.here = here
        self.tally = tally
        self.judge = Judge(NEEDS, OPENERS, tally)
        self.now: datetime = START
        self.numbers: Iterator[int] = count(1)
        self.trace: list[object] = []
        self.cards: dict[str, Card] = {}
        self.aside: dict[str, Gate] = {}
        """What a person's words put aside, by the token of its card."""
        self.alarms: list[Alarm] = []
        self.parked: set[str] = set()
        self.is_told_twice = False
        """The answer to the next commit is lost, and it is told again."""
        self.is_calm = False
        """Nothing new begins."""

    def id(self, kind: str = "") -> str:
        """An id that nothing else has."""
        return f"{self.here.chat}-{kind}{next(self.numbers)}"


@dataclass(slots=True)
class _Pending:
    """What goes with the next commit."""

    taken: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    votes: tuple[Voted, ...] = ()
    history: tuple[Message, ...] = ()
    ended: tuple[Turn, ...] = ()
    aside: dict[str, Gate] = field(default_factory=dict)
    restored: tuple[str, ...] = ()
    has_result: bool = False


@dataclass(slots=True)
class Holder:
    """Works for the conversation from its checkout on; `LeaseLost` from any method means that it is out."""

    stage: Stage
    lease: Lease
    session: Session
    stored: Session
    history: list[Message]
    permit_until: datetime
    running: dict[Effect, bool] = field(default_factory=dict)
    """Effects under way; True once the tool did what it does."""
    pending: _Pending = field(default_factory=_Pending)

    @classmethod
    def after(cls, checkout: Checkout, stage: Stage) -> Holder:
        """Takes over what the one before left."""
        session, history = checkout.session, list(checkout.history)
        holder = cls(stage, checkout.lease, session, session, history, stage.now + PERMIT)
        holder.apply(Resumed(checkout.lease.fence))
        return holder

    @property
    def is_idle(self) -> bool:
        """Nothing is under way and nothing waits to be committed."""
        return not self.running and self.session is self.stored and self.pending == _Pending()

    async def renew(self) -> None:
        """Keep the lease."""
        await self.stage.store.renew(self.lease, now=self.stage.now)
        self.permit_until = self.stage.now + PERMIT

    async def park(self) -> None:
        """Three holders died: put the cause aside."""
        parked: tuple[Item, ...] = ()
        if self.session.running is not None:
            self.apply(Broken(self.session.active, Ending.PARKED))
            self._reap()
        else:
            parked = (await self.stage.store.due(self.lease, now=self.stage.now))[:1]
        self.pending.has_result = True
        await self.commit(parked)

    # --- the inbox -------------------------------------------------------------------------------------------------

    async def read(self, dice: Random) -> None:
        """Read what is due and can be read now, or only the beginning of it."""
        items = await self.stage.store.due(self.lease, now=self.stage.now)
        most = len(items) if self.stage.is_calm else dice.randint(1, 4)
        may_speak = True
        for item in items[:most]:
            if item.id in self.pending.taken:
                continue
            inbound = item.inbound
            if isinstance(inbound, UserMessage) and inbound.text != "/stop":
                may_speak = may_speak and self._hear(inbound)
                if not may_speak:
                    continue
                self.pending.words += (inbound.text,)
            else:
                assert not isinstance(inbound, AccessRequested)
                for event in self._meant(inbound):
                    self.apply(event)
                self.pending.others += (name_of(item),)
            self.pending.taken += (item.id,)
            self._reap()
            if isinstance(inbound, ButtonPress):
                return

    def _hear(self, message: UserMessage) -> bool:
        """False when the words must stay in the inbox."""
        prefix = "q" if message.order % 7 == 0 else "p"
        before = self.session
        self.apply(Spoken(message.event, message.sender.id, (Text(message.text),), prefix=prefix))
        if self.session is before:
            return False
        self.stage.judge.spoke(message.text, before, self.session)
        shown = {gate.token: gate for turn in before.turns for gate in turn.gates if not gate.is_question}
        gone = cards_of(before).keys() - cards_of(self.session).keys()
        # A card of the same step was never shown.
        self.pending.aside |= {token: shown[token] for token in sorted(gone & shown.keys() & self.stage.cards.keys())}
        return True

    def _meant(self, inbound: UserMessage | ButtonPress | Expired) -> list[SessionEvent]:
        if isinstance(inbound, UserMessage):
            return [Broken(turn.id, Ending.STOPPED) for turn in self.session.turns if turn.ending is None]
        card = self.stage.cards[inbound.token]
        if isinstance(inbound, Expired):
            return [Denied(card.turn, card.call, "Nobody decided.")]
        person = inbound.sender.id
        if inbound.choice == "restore":
            return self._restored(inbound.token) if person == card.requester else []
        if card.name != "both" and person != card.requester:
            return []
        if inbound.choice == "deny":
            return [Denied(card.turn, card.call, "Refused.")]
        if card.name == QUESTION:
            return [Worded(card.turn, card.call, "the red one")]
        return [Voted(card.turn, card.call, card.digest if inbound.choice == "allow" else "wrong", person)]

    def _restored(self, token: str) -> list[SessionEvent]:
        """The request that was put aside asks again, once."""
        pending, stage = self.pending, self.stage
        gate = (stage.aside | pending.aside).get(token)
        if gate is None or token in pending.restored:
            return []
        pending.restored += (token,)
        again = replace(gate, call=replace(gate.call, id=stage.id("c")), votes=())
        requester = stage.cards[token].requester
        return [Restored(stage.id(), requester, (Text("taken up again"),), again, prefix="p")]

    # --- steps -----------------------------------------------------------------------------------------------------

    async def go_on(self) -> None:
        """Write what is about to happen, commit, then start it."""
        self._ask()
        moved = advance(self.session, REGISTRY, fence=self.lease.fence, limits=LIMITS)
        self._change(Went(), moved.session)
        self._reap()
        await self.commit()
        self.stage.judge.going(self.session, moved.effects, self.lease.fence)
        for effect in list(self.running):
            if effect not in moved.effects and not (isinstance(effect, RunCall) and effect.claim > 0):
                del self.running[effect]
        for effect in moved.effects:
            if effect not in self.running:
                self.running[effect] = False
                self._start(effect)

    def _ask(self) -> None:
        """Put the question that is next in turn, if there is one, to the person."""
        turn = self.session.running
        gates = turn.top.open.gates if turn is not None and turn.top.open else ()
        for place, gate in enumerate(gates):
            if gate.call.name == QUESTION and gate.state is GateState.READY and may_run(gates, place):
                assert turn is not None
                self.apply(Asked(turn.id, gate.call.id, self.stage.id("q")))

    async def commit(self, parked: tuple[Item, ...] = ()) -> None:
        """Write the step, if there is anything in it, and see whether the conversation is ready when it should be."""
        pending, stage = self.pending, self.stage
        if self.session is self.stored and pending == _Pending() and not parked:
            return
        step = Step(
            session=self.session,
            outcome=self._outcome(),
            taken=pending.taken,
            parked=tuple(item.id for item in parked),
            history=pending.history,
            alarms=self._alarms(),
            clears_tries=pending.has_result or self.session.running is None,
        )
        for _ in range(2 if stage.is_told_twice else 1):
            stored = await stage.store.commit(self.lease, step, now=stage.now)
        stage.is_told_twice = False
        stage.trace.append((step, stored))
        stage.tally["commit"] += 1
        self._tell(stored, [name_of(item) for item in parked])
        self.history += step.history
        self.session = self.stored = stored
        self.pending = _Pending()
        is_ready = await stage.store.next_ready(now=stage.now) is not None
        stage.judge.ready(stored, is_ready=is_ready)

    def _outcome(self) -> Outcome:
        if any(goes_on(turn) or turn.ending is not None for turn in self.session.turns):
            return Outcome.RUN
        return Outcome.WAITING if self.session.turns else Outcome.DONE

    def _tell(self, stored: Session, parked: list[str]) -> None:
        pending, judge = self.pending, self.stage.judge
        self.stage.parked |= set(parked)
        self.stage.aside |= pending.aside
        for token in pending.restored:
            del self.stage.aside[token]
        judge.committed(
            stored, pending.history, read=pending.words, others=pending.others, votes=pending.votes, parked=parked
        )
        for turn in pending.ended:
            judge.ended(turn)

    def _alarms(self) -> tuple[Alarm, ...]:
        """One for every new card; away with those of cards that are decided."""
        before, after = cards_of(self.stored), cards_of(self.session)
        news = sorted(token for token, card in after.items() if before.get(token) != card)
        fresh = tuple(Alarm(token, self.stage.now + WAITS) for token in news)
        self.stage.cards.update((alarm.token, after[alarm.token]) for alarm in fresh)
        self.stage.alarms += fresh
        return fresh + tuple(Alarm(token, None) for token in sorted(before.keys() - after.keys()))

    async def hand_back(self) -> None:
        """Break off what is under way and give the conversation to somebody else."""
        for effect in list(self.running):
            if isinstance(effect, RunCall) and effect.claim > 0:
                self._returned(effect, "Stopped while it ran.")
        self.running.clear()
        self._reap()
        await self.commit()

    async def release(self, *, keep: bool) -> Release:
        """Give it back, or go on when there is more to do and `keep`."""
        released = await self.stage.store.release(self.lease, now=self.stage.now, keep=keep)
        self.stage.trace.append(released)
        return released

    # --- effects ---------------------------------------------------------------------------------------------------

    def _start(self, effect: Effect) -> None:
        if isinstance(effect, RunCall):
            assert find_gate(self.session, effect) is not None, "an effect for no call"
            return
        turn = self.session.turn(effect.turn)
        assert turn is not None
        self.stage.judge.asked(turn, self._request(turn))
        self.stage.tally["request"] += 1

    def _request(self, turn: Turn) -> tuple[Message, ...]:
        return request_messages(turn, self.history, first=self.stored.history_length - len(self.history))

    def do(self, dice: Random) -> None:
        """A tool does what it does; what came of it is not told yet."""
        waiting = [effect for effect, is_done in self.running.items() if isinstance(effect, RunCall) and not is_done]
        if waiting:
            self._run(dice.choice(waiting))

    def _run(self, effect: RunCall) -> None:
        """Run it. Raises `LeaseLost` when the lease may be gone already: nothing with effects is begun then."""
        turn, gate = self.stored.turn(effect.turn), find_gate(self.stored, effect)
        if self.running[effect] or turn is None or gate is None:
            return
        if effect.claim == 0:
            self.stage.judge.looked(effect.turn, effect.call, gate.call.name)
        elif self.stage.now >= self.permit_until:
            raise LeaseLost("no permit")
        else:
            self.stage.judge.ran(effect.turn, effect.call)
        self.running[effect] = True
        self.stage.tally["run"] += 1

    def end(self, dice: Random) -> None:
        """What came of an effect is told."""
        effect = dice.choice(list(self.running))
        if isinstance(effect, CallModel):
            del self.running[effect]
            self._answer(effect, dice)
            return
        turn = self.session.turn(effect.turn)
        if (turn is None or turn.ending is not None) and not self.running[effect]:
            self._returned(effect, "Stopped before it ran.")
        else:
            self._run(effect)
            self._returned(effect, f"did {effect.call} {next(self.stage.numbers)}")

    def _returned(self, effect: RunCall, text: str) -> None:
        self.running.pop(effect, None)
        self._take(Returned(effect.turn, effect.call, effect.claim, ToolResult(effect.call, text)))

    def _answer(self, effect: CallModel, dice: Random) -> None:
        turn = self.stored.turn(effect.turn)
        assert turn is not None
        if dice.random() < 0.03:
            self._take(Broken(turn.id, dice.choice((Ending.FAILED, Ending.REFUSED))))
            return
        stage = self.stage
        thought = f"thought {next(stage.numbers)}" if dice.random() < 0.3 else ""
        if thought:
            stage.judge.thought(thought, turn, self._request(turn))
        said = reply(dice, stage.numbers, thought=thought, is_calm=stage.is_calm)
        told = read_reply(turn, effect.effect, said, REGISTRY, lambda: stage.id("t"))
        gates = tuple(replace(gate, votes_needed=NEEDS.get(gate.call.name, 1)) for gate in told.gates)
        self._take(replace(told, gates=gates))

    def _take(self, event: SessionEvent) -> None:
        """The outcome of an effect."""
        before = self.session
        self.apply(event)
        self.pending.has_result = self.pending.has_result or self.session is not before
        self._reap()

    # --- changes ---------------------------------------------------------------------------------------------------

    def apply(self, event: SessionEvent) -> None:
        """The event happens to the session."""
        before = self.session
        self._change(event, apply(before, event))
        if isinstance(event, Voted) and self.session is not before:
            self.pending.votes += (event,)

    def _change(self, event: SessionEvent | Went, after: Session) -> None:
        before, self.session = self.session, after
        self.stage.judge.changed(before, event, after)
        if after is not before:
            self.stage.tally[type(event).__name__] += 1

    def _reap(self) -> None:
        reaped = harvest(self.session)
        self.session = reaped.session
        self.pending.history += reaped.history
        self.pending.ended += reaped.finished


def cards_of(session: Session) -> dict[str, Card]:
    """The cards that are open in the session, by token."""
    return {
        gate.token: Card(turn.id, gate.call.id, gate.digest, turn.requester, gate.call.name)
        for turn in session.turns
        for gate in turn.gates
        if gate.state is GateState.ASKED
    }


def name_of(item: Item) -> str:
    """What the judge calls an inbound: a person's words by themselves."""
    match item.inbound:
        case Expired(token=token):
            return f"expiry of {token}"
        case UserMessage(text=text) if text != "/stop":
            return text
        case inbound:
            return inbound.event
