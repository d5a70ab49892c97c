"""One conversation under its lease: a mailbox with one writer.

Inbounds, results of effects and the loss of the lease arrive as events; each is applied to the session, the session is
committed, and only then the next effects are started. Effects never hold or write the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import assert_never

import structlog

from kernel import questions
from kernel.changes import Changes
from kernel.chat import ButtonPress, Reply, UserMessage
from kernel.context import harvest, known_before
from kernel.endings import last_words, parked, turn_language
from kernel.errors import LeaseLost, RetryLater
from kernel.exchanges import same_end
from kernel.loop import CallModel, Effect, RunCall, advance, find_gate
from kernel.messages import Message
from kernel.patience import patiently
from kernel.ports import MAX_TRIES, Checkout, Item, Release
from kernel.reaction import Reaction
from kernel.session import FORGOTTEN, Ending, Session, Turn
from kernel.session_events import Broken, Compacted, Resumed
from kernel.transitions import apply
from workers.compactor import Shortened, Upkeep
from workers.effects import Done
from workers.mailbox import Mailbox
from workers.pending import Pending
from workers.place import Place
from workers.purse import Purse
from workers.sign import WorkSign
from workers.stock import Stock
from workers.surroundings import Surroundings
from workers.tenure import Tenure
from workers.underway import Over, Signal, Underway, Work

log = structlog.get_logger()

MAX_STEPS = 20
MAX_TIME = timedelta(seconds=60)
"""A conversation that is busy for longer goes to the end of the queue, so that one chat cannot starve others."""


class Actor:
    """Works for one conversation from checkout to release."""

    def __init__(self, checkout: Checkout, around: Surroundings, *, asked_at: float) -> None:
        """`asked_at` is the boot time before the checkout was asked for."""
        self._around = around
        self.lease = checkout.lease
        self._tenure = Tenure(checkout.lease, around.conversations, around.clock, asked_at=asked_at)
        self._session = checkout.session
        self._stored = checkout.session
        self._stock = Stock(checkout)
        self._purse = Purse(checkout, around.manners.allowance, around.clock, zone=around.manners.zone)
        self._pending = Pending()
        self._mail: Mailbox[Done | Over | Signal | Shortened] = Mailbox()
        self._upkeep = Upkeep(around.compactor, self._mail.put)
        self._underway = Underway(checkout.lease.conversation, self._tenure, around.clock, self._mail.put)
        self._steps = 0
        self._has_progressed = False
        self._has_left_words = False
        self._words: set[str] = set()  # Items that wait and are known to be words for the model: not parsed again.
        self._deaf: Session | None = None  # The session that could not take words when it was last asked.
        self._sign = WorkSign(around.outbox, checkout.lease.conversation)
        self._began = around.clock.boottime()

    def look(self) -> None:
        """Something was put into the inbox."""
        self._mail.put(Signal.LOOK)

    def hand_back(self) -> None:
        """Stop as soon as possible; what is under way is broken off and resumed by somebody else."""
        self._mail.put(Signal.HAND_BACK)

    async def run(self) -> Release:
        """Work until nothing is due or under way, then release. Raises `LeaseLost` when somebody else took over."""
        renewing = asyncio.create_task(self._keep())
        try:
            return await self._work()
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, self._underway.break_off(), self._upkeep.end(), return_exceptions=True)

    async def _work(self) -> Release:
        self._session = apply(self._session, Resumed(self.lease.fence))
        if self.lease.tries > MAX_TRIES:
            await self._park()
        is_due = True
        while True:
            if is_due:
                is_due = await patiently(self._around.clock, self._read_inbox)
            await self._go_on()
            if is_due:
                continue
            if self._is_idle and (self._is_tired or not self._begin_upkeep()):
                released = await self._release(keep=not self._is_tired)
                if released is not Release.AGAIN:
                    return released
                is_due = True
                continue
            match await self._mail.get():
                case Done() as done:
                    await self._take(done)
                    is_due = self._has_left_words
                case Shortened() as shortened:
                    await self._shorten(shortened)
                case Over(effect):
                    self._underway.forget(effect)
                case Signal.LOOK:
                    is_due = True
                case Signal.HAND_BACK:
                    return await self._give_back()
                case Signal.LOST:
                    raise LeaseLost("the lease or a permit is void")

    # --- inbox ---------------------------------------------------------------------------------------------------

    async def _read_inbox(self) -> bool:
        """Take what is due and can be taken now; True when more may be due that must not be read before a commit.

        Words for the model that cannot be taken yet stay in the inbox, and so do all words behind them; presses,
        commands and requests for reminders are answered all the same.
        """
        if self._pending.changes.prompts:
            # What comes next may end a card, and looks at it as it is stored.
            await self._commit()
        items = await self._due()
        may_speak = True
        self._has_left_words = False
        for number, item in enumerate(items, start=1):
            if self._pending.holds(item):
                continue
            can_speak = may_speak and self._may_open_turn() and self._session is not self._deaf
            if item.id in self._words and not can_speak:
                may_speak, self._has_left_words = False, True
                continue
            try:
                reaction = await self._receive(item, may_speak=can_speak)
            except (LeaseLost, RetryLater):
                raise
            except Exception:  # The boundary of one input: what cannot be read is put aside, the rest goes on.
                log.exception("input parked", conversation=self.lease.conversation)
                self._pending.parked += (item.id,)
                self._say_parked(None, (item,))
                continue
            if reaction is None:
                self._words.add(item.id)
                self._deaf = self._session if can_speak else self._deaf
                may_speak, self._has_left_words = False, True
                continue
            self._session = reaction.session
            self._pending.accept(item, reaction)
            self._close_turns()
            if isinstance(item.inbound, ButtonPress) or reaction.changes.triggers or reaction.changes.prompts:
                # What comes next looks at cards and reminders as they are stored.
                return number < len(items)
            may_speak = may_speak and (self._around.fold or not reaction.is_speech)
        return False

    async def _receive(self, item: Item, *, may_speak: bool) -> Reaction | None:
        return await self._around.reception.receive(
            item.inbound,
            self._session,
            notes=self._stock.notes if not self._pending.notes_used else (),
            may_speak=may_speak,
            now=self._around.clock.now(),
            seen=self._known_before(item.inbound) if isinstance(item.inbound, UserMessage) else (),
            past=self._stock.with_pending(self._pending),
            opens=self._purse.opens,
            written=self._around.effects.written,
            files={**self._stock.files, **self._pending.changes.files},
        )

    def _known_before(self, message: UserMessage) -> Sequence[Message]:
        """What the model reads before `message`."""
        past = self._stock.with_pending(self._pending)
        first = self._session.history_length - len(past)
        most = self._around.most_past
        return known_before(self._session, message.sender.id, past, first=first, most=most)

    @property
    def is_last_try(self) -> bool:
        """Two holders died in this step: it is done by itself, so that the third death tells whose fault it was."""
        return self.lease.tries >= MAX_TRIES and not self._has_progressed

    def _may_open_turn(self) -> bool:
        return self._around.fold or self._session.running is None

    async def _due(self) -> tuple[Item, ...]:
        """What is due; on the last try one thing alone: the turn that runs, else the input that came first."""
        around = self._around
        items = await around.conversations.due(self.lease, now=around.clock.now())
        if not self.is_last_try or not items:
            return items
        return () if self._session.running else (min(items, key=lambda item: item.id),)

    async def _park(self) -> None:
        """Three holders died in the same step: put its cause aside, untouched, and tell the person once."""
        running = self._session.running
        items = await patiently(self._around.clock, self._due)
        if running is not None:
            await self._move(apply(self._session, Broken(running.id, Ending.PARKED)))
        self._pending.parked = tuple(item.id for item in items)
        self._pending.has_result = True
        log.error("input parked", conversation=self.lease.conversation, tries=self.lease.tries)
        self._say_parked(running, items)
        self._close_turns()
        await self._commit()

    def _say_parked(self, turn: Turn | None, items: Sequence[Item]) -> None:
        words = parked(turn, [item.inbound for item in items], self._around.manners.language)
        self._pending.changes += Changes(outbound=(Reply(self.lease.conversation, words),))

    # --- steps ---------------------------------------------------------------------------------------------------

    async def _go_on(self) -> None:
        """Write what is about to happen, commit, then start what is not running yet."""
        if self._is_tired and not self._underway:
            await self._commit()
            return
        limits = replace(self._around.limits, may_ask=self._purse.opens is None)
        moved = advance(self._session, self._around.effects.registry, fence=self.lease.fence, limits=limits)
        self._pending.changes += questions.cards(
            self._session, moved.session, self._around.effects.registry, self._language_of, self._around.clock.now()
        )
        await self._move(moved.session)
        self._close_turns()
        await self._commit()
        if self._session.turns:
            self._upkeep.stop()
        for effect in self._underway:
            if effect not in moved.effects:
                self._underway.cancel(effect)
        for effect in moved.effects:
            if effect not in self._underway:
                self._start(effect)

    @property
    def _is_tired(self) -> bool:
        spent = self._around.clock.boottime() - self._began
        return self._steps >= MAX_STEPS or spent >= MAX_TIME.total_seconds()

    def _close_turns(self) -> None:
        """Say the last words of finished turns; their messages are history before anything new is read."""
        reaped = harvest(self._session)
        self._session = reaped.session
        if self._pending.new_history:
            turns = tuple(replace(turn, base=FORGOTTEN) for turn in self._session.turns if turn.ending is not None)
            kept = tuple(turn for turn in self._session.turns if turn.ending is None)
            self._session = replace(self._session, turns=turns + kept, history_length=0, thinking_from=0, exchanges=())
        else:
            self._pending.history += reaped.history
        for turn in reaped.finished:
            names = self._around.effects.registry.names
            closed = self._purse.closed(self._language_of(turn)) if turn.ending is Ending.ALLOWANCE else ""
            words = last_words(turn, self._around.manners.language, names, closed=closed)
            if words:
                self._pending.changes += Changes(outbound=(Reply(self.lease.conversation, words),))
            log.info(
                "turn ended",
                conversation=self.lease.conversation,
                ending=turn.ending,
                model_calls=turn.model_calls,
                tokens=turn.tokens,
                micro_dollars=turn.micro_dollars,
            )

    async def _commit(self) -> None:
        """Write everything that has changed, together; nothing when nothing has. Tries again while Redis is away."""
        pending = self._pending
        if self._session is self._stored and pending == Pending():
            return
        if pending.forgets is not None:
            # Nothing of what is under way may be written down behind it.
            self._upkeep.stop()
            await self._underway.break_off()
        step = pending.step(self._session)
        around = self._around
        stored = await patiently(
            around.clock, lambda: around.conversations.commit(self.lease, step, now=around.clock.now())
        )
        self._pending = Pending()
        self._session = self._stored = stored
        self._purse.take(step.spendings)
        self._steps += 1
        if step.clears_tries and self.is_last_try:
            self._has_progressed = True
            self.look()
        self._stock.take(step)

    # --- effects -------------------------------------------------------------------------------------------------

    def _start(self, effect: Effect) -> None:
        """Start what has just been committed, with everything it needs as it is now."""
        turn = self._session.turn(effect.turn)
        assert turn is not None
        effects, place = self._around.effects, self._place(turn)
        work: Work
        match effect:
            case CallModel():
                history = tuple(self._stock.history)
                first = self._session.history_length - len(history)
                work = partial(effects.call_model, effect, turn, history, first, place)
            case RunCall():
                gate = find_gate(self._session, effect)
                assert gate is not None
                work = partial(effects.run_call, effect, turn, gate, place, self._tenure.has_permit)
            case _:
                assert_never(effect)
        self._sign.begin(effect.turn)
        self._underway.start(effect, work)

    def _place(self, turn: Turn) -> Place:
        language, files = self._language_of(turn), dict(self._stock.files)
        return Place(self.lease.conversation, language, files, self.lease.fence, self._purse.zone, self._session.model)

    def _language_of(self, turn: Turn) -> str:
        return turn_language(turn, self._around.manners.language)

    async def _take(self, done: Done) -> None:
        self._underway.forget(done.effect)
        after = apply(self._session, done.event)
        if after is not self._session:
            self._pending.changes += done.changes
            self._pending.has_result = True
            await self._move(after)
            self._close_turns()

    async def _move(self, after: Session) -> None:
        """The session goes on to `after`; cards whose calls nobody waits for any more are closed."""
        before, self._session = self._session, after
        closed = await patiently(self._around.clock, lambda: self._around.reception.closings(before, after))
        self._pending.changes += closed

    # --- upkeep --------------------------------------------------------------------------------------------------

    @property
    def _is_idle(self) -> bool:
        return not self._underway and not self._upkeep.is_busy and self._mail.is_empty

    def _begin_upkeep(self) -> bool:
        return self._purse.opens is None and self._upkeep.begin(self._session, self._stock.history, self._stock.files)

    async def _shorten(self, shortened: Shortened) -> None:
        """A summary was written; it takes the place of the history if nobody has spoken since."""
        self._pending.changes += self._purse.upkeep(shortened.used)
        await self._commit()
        kept = same_end(self._stock.history, shortened.messages)
        after = apply(self._session, Compacted(shortened.of, len(shortened.messages), kept))
        if shortened.messages and after is not self._session:
            self._session = after
            self._pending.rewritten = shortened.messages
            await self._commit()

    # --- the lease -----------------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Hold the lease, look into the inbox at every renewal, and keep the sign of work alive."""
        try:
            while True:
                if await self._tenure.keep():
                    if self._underway:
                        await self._sign.renew()
                    self.look()
        except LeaseLost:
            self._mail.put(Signal.LOST)
        except Exception:  # The boundary of a tenure: without renewals the lease would lapse in silence.
            log.exception("renewal broke", conversation=self.lease.conversation)
            self._mail.put(Signal.LOST)

    async def _release(self, *, keep: bool) -> Release:
        around = self._around
        return await patiently(
            around.clock, lambda: around.conversations.release(self.lease, now=around.clock.now(), keep=keep)
        )

    async def _give_back(self) -> Release:
        """Break off what is under way; model calls are made again elsewhere, outcomes of claimed calls are recorded."""
        await self._underway.break_off()
        while not self._mail.is_empty:
            mail = self._mail.take()
            if isinstance(mail, Done):
                await self._take(mail)
        self._close_turns()
        await self._commit()
        return await self._release(keep=False)
