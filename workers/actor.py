"""One conversation under its lease: a mailbox with one writer.

Inbounds, results of effects and the loss of the lease arrive as events; each is applied to the session, the session is
committed, and only then the next effects are started. Effects never hold or write the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import Enum
from functools import partial
from typing import assert_never

import structlog

from kernel.changes import Changes
from kernel.chat import ButtonPress, Reply, UserMessage
from kernel.context import harvest
from kernel.endings import last_words, turn_language
from kernel.errors import LeaseLost, RetryLater
from kernel.loop import CallModel, Effect, RunCall, advance, find_gate
from kernel.patience import patiently
from kernel.ports import MAX_TRIES, Checkout, Item, Release
from kernel.reception import Reaction
from kernel.session import FORGOTTEN, Broken, Ending, Resumed, Session, Turn
from kernel.texts import language_of, say
from kernel.transitions import apply
from workers.effects import Done, Place, failed, stopped
from workers.mailbox import Mailbox
from workers.pending import Pending
from workers.sign import WorkSign
from workers.surroundings import Surroundings
from workers.tenure import Tenure

log = structlog.get_logger()

MAX_STEPS = 20
MAX_TIME = timedelta(seconds=60)
"""A conversation that is busy for longer goes to the end of the queue, so that one chat cannot starve others."""


class Signal(Enum):
    """Mail without content."""

    LOOK = "look"
    """Something may be due in the inbox."""
    HAND_BACK = "hand back"
    """The process ends; give the conversation back."""
    LOST = "lost"
    """The lease is gone, or an effect found its permit void."""


@dataclass(frozen=True, slots=True)
class Over:
    """The effect ended and nothing comes of it."""

    effect: Effect


class Actor:
    """Works for one conversation from checkout to release."""

    def __init__(self, checkout: Checkout, around: Surroundings, *, asked_at: float) -> None:
        """`asked_at` is the boot time before the checkout was asked for."""
        self._around = around
        self.lease = checkout.lease
        self._tenure = Tenure(checkout.lease, around.conversations, around.clock, asked_at=asked_at)
        self._session = checkout.session
        self._stored = checkout.session
        self._history = list(checkout.history)
        self._notes = list(checkout.notes)
        self._files = dict(checkout.files)
        self._pending = Pending()
        self._running: dict[Effect, asyncio.Task[Done | Signal]] = {}
        self._mail: Mailbox[Done | Over | Signal] = Mailbox()
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
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(renewing, *self._running.values(), return_exceptions=True)

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
            if not self._running and self._mail.is_empty:
                released = await self._release(keep=not self._is_tired)
                if released is not Release.AGAIN:
                    return released
                is_due = True
                continue
            match await self._mail.get():
                case Done() as done:
                    await self._take(done)
                    is_due = self._has_left_words
                case Over(effect):
                    self._running.pop(effect, None)
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
                self._say_parked(_language((item,), self._around.manners.language))
                continue
            if reaction is None:
                self._words.add(item.id)
                self._deaf = self._session if can_speak else self._deaf
                may_speak, self._has_left_words = False, True
                continue
            self._session = reaction.session
            self._pending.accept(item, reaction)
            self._close_turns()
            if isinstance(item.inbound, ButtonPress) or reaction.changes.triggers:
                # What comes next looks at cards and reminders as they are stored.
                return number < len(items)
            may_speak = may_speak and (self._around.fold or not reaction.is_speech)
        return False

    async def _receive(self, item: Item, *, may_speak: bool) -> Reaction | None:
        return await self._around.reception.receive(
            item.inbound,
            self._session,
            notes=self._notes if not self._pending.notes_used else (),
            may_speak=may_speak,
            now=self._around.clock.now(),
        )

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
        setting = self._around.manners.language
        self._say_parked(turn_language(running, setting) if running else _language(items, setting))
        self._close_turns()
        await self._commit()

    def _say_parked(self, language: str) -> None:
        words = say("turn.parked", language)
        self._pending.changes += Changes(outbound=(Reply(self.lease.conversation, words),))

    # --- steps ---------------------------------------------------------------------------------------------------

    async def _go_on(self) -> None:
        """Write what is about to happen, commit, then start what is not running yet."""
        if self._is_tired and not self._running:
            await self._commit()
            return
        moved = advance(
            self._session, self._around.effects.registry, fence=self.lease.fence, limits=self._around.limits
        )
        await self._move(moved.session)
        self._close_turns()
        await self._commit()
        for effect in [effect for effect in self._running if effect not in moved.effects]:
            self._cancel(effect)
        for effect in moved.effects:
            if effect not in self._running:
                self._start(effect)

    def _cancel(self, effect: Effect) -> None:
        """Break off what the session no longer waits for. A claimed call keeps its place until its outcome is known."""
        task = self._running[effect]
        if not task.cancelling():
            task.cancel()

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
            self._session = replace(self._session, turns=turns + kept, history_length=0, thinking_from=0)
        else:
            self._pending.history += reaped.history
        for turn in reaped.finished:
            words = last_words(turn, self._around.manners.language)
            if words:
                self._pending.changes += Changes(outbound=(Reply(self.lease.conversation, words),))
            log.info(
                "turn ended", conversation=self.lease.conversation, ending=turn.ending, model_calls=turn.model_calls
            )

    async def _commit(self) -> None:
        """Write everything that has changed, together; nothing when nothing has. Tries again while Redis is away."""
        pending = self._pending
        if self._session is self._stored and pending == Pending():
            return
        step = pending.step(self._session)
        around = self._around
        stored = await patiently(
            around.clock, lambda: around.conversations.commit(self.lease, step, now=around.clock.now())
        )
        self._pending = Pending()
        self._session = self._stored = stored
        self._steps += 1
        if step.clears_tries and self.is_last_try:
            self._has_progressed = True
            self.look()
        if step.new_history:
            self._history.clear()
        self._history.extend(step.history)
        self._notes = [*self._notes[step.notes_used :], *step.notes]
        for path, blob in pending.changes.files.items():
            if blob is None:
                self._files.pop(path, None)
            else:
                self._files[path] = blob

    # --- effects -------------------------------------------------------------------------------------------------

    def _start(self, effect: Effect) -> None:
        """Start what has just been committed, with everything it needs as it is now."""
        turn = self._session.turn(effect.turn)
        assert turn is not None
        effects, place = self._around.effects, self._place(turn)
        work: Callable[[], Awaitable[Done]]
        match effect:
            case CallModel():
                history, first = tuple(self._history), self._session.history_length - len(self._history)
                work = partial(effects.call_model, effect, turn, history, first, place)
            case RunCall():
                gate = find_gate(self._session, effect)
                assert gate is not None
                work = partial(effects.run_call, effect, turn, gate, place, self._tenure.has_permit)
            case _:
                assert_never(effect)
        self._sign.begin(effect.turn)
        task = self._running[effect] = asyncio.create_task(self._perform(effect, work))
        task.add_done_callback(partial(self._post, effect))

    def _place(self, turn: Turn) -> Place:
        language = turn_language(turn, self._around.manners.language)
        return Place(self.lease.conversation, language, dict(self._files))

    async def _perform(self, effect: Effect, work: Callable[[], Awaitable[Done]]) -> Done | Signal:
        try:
            if not self._tenure.has_permit():
                await patiently(self._around.clock, self._tenure.refresh)
            return await work()
        except LeaseLost:
            return Signal.LOST
        except Exception:  # The boundary of an effect: its turn ends with words, the conversation goes on.
            log.exception("effect broke", conversation=self.lease.conversation)
            return failed(effect) if isinstance(effect, RunCall) else Done(effect, Broken(effect.turn, Ending.FAILED))

    def _post(self, effect: Effect, task: asyncio.Task[Done | Signal]) -> None:
        """What came of the effect becomes mail, also when it was cancelled before it began."""
        if not task.cancelled():
            self._mail.put(task.result())
        elif not task.cancelling() and isinstance(effect, RunCall):
            # The tool cancelled itself; made again, it would do so for ever.
            self._mail.put(failed(effect))
        elif isinstance(effect, RunCall) and effect.claim:
            self._mail.put(stopped(effect))
        else:
            # What only reads, or asks the model, is made again by whoever goes on.
            self._mail.put(Over(effect))

    async def _take(self, done: Done) -> None:
        self._running.pop(done.effect, None)
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

    # --- the lease -----------------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Hold the lease, look into the inbox at every renewal, and keep the sign of work alive."""

        async def renewed() -> None:
            if self._running:
                await self._sign.renew()
            self.look()

        try:
            await self._tenure.keep(renewed)
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
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        while not self._mail.is_empty:
            mail = self._mail.take()
            if isinstance(mail, Done):
                await self._take(mail)
        self._running.clear()
        self._close_turns()
        await self._commit()
        return await self._release(keep=False)


def _language(items: Sequence[Item], setting: str) -> str:
    """The language of the first words among the items."""
    texts = [item.inbound.text for item in items if isinstance(item.inbound, UserMessage)]
    return language_of(texts[0] if texts else "", setting=setting)
