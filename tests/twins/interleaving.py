"""One conversation in which everything happens in any order: people, cards, two workers that crash, freeze and wake.

A play is a list of moves, each a word and a number that decides its details. The same play over another store must
come to the same sessions; and whatever is left out of a play, what remains is a play, so that a failing one shrinks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from random import Random

from kernel.chat import ButtonPress, ConversationId, Sender, UserMessage
from kernel.errors import LeaseLost
from kernel.ports import LEASE, MAX_TRIES, Alarm, Release
from kernel.transitions import apply
from tests.twins.clock import START
from tests.twins.holder import PERMIT, Holder, Stage, cards_of
from tests.twins.misfits import misfits
from tests.twins.plain_store import Store

Move = tuple[str, int]

PEOPLE = ("1", "2", "3")
STRANGER = "9"
MOVES: dict[str, float] = {
    "says": 7,
    "says swapped": 1,
    "says again": 1,
    "presses": 12,
    "says stop": 0.5,
    "rings": 0.7,
    "works": 70,
    "renews": 1,
    "crashes": 1,
    "kills": 0.15,
    "freezes": 1.5,
    "hands back": 1,
    "is told twice": 2,
    "misfits": 3,
}
"""What can happen, and how often beside the others."""
TICK = timedelta(milliseconds=50)
SETTLE = timedelta(milliseconds=300)


def plan(seed: int, shortest: int = 8, longest: int = 36) -> list[Move]:
    """A play of that seed."""
    dice = Random(seed)
    words = dice.choices(list(MOVES), list(MOVES.values()), k=dice.randint(shortest, longest))
    return [("says", seed), *((word, dice.getrandbits(32)) for word in words)]


class Scene:
    """One conversation over one store, and everybody around it. Not reusable."""

    def __init__(self, store: Store, chat: str, tally: Counter[str] | None = None) -> None:
        self._stage = Stage(store, ConversationId("twin", chat), tally if tally is not None else Counter())
        self._holders: list[Holder | None] = [None, None]
        self._said: list[UserMessage] = []

    @property
    def trace(self) -> list[object]:
        """Everything that the store was told and answered."""
        return self._stage.trace

    async def play(self, moves: Sequence[Move]) -> None:
        """Make the moves, then let everybody finish."""
        for word, number in moves:
            self._stage.now += TICK
            dice = Random(number)
            slot = self._slot(dice)
            try:
                await self._move(word, slot, dice)
            except LeaseLost:
                self.trace.append("lost")
                self._stage.tally["zombie"] += 1
                self._holders[slot] = None
        await self._finish()

    def _slot(self, dice: Random) -> int:
        """Mostly the worker that holds the lease, or believes so."""
        held = [slot for slot, holder in enumerate(self._holders) if holder is not None]
        return dice.choice(held) if held and dice.random() < 0.85 else dice.randrange(2)

    async def _move(self, word: str, slot: int, dice: Random) -> None:
        holder = self._holders[slot]
        match word:
            case "says":
                await self._say(dice)
            case "says swapped":
                await self._say(dice, later=1)
                await self._say(dice, later=-1)
            case "says again" if self._said:
                message = dice.choice(self._said)
                assert not await self._stage.store.put(message, now=self._stage.now), "a copy was stored"
            case "says stop":
                await self._put(self._message(dice.choice(PEOPLE), "/stop", 0))
            case "presses" if self._stage.cards:
                await self._press(dice)
            case "rings" if self._stage.alarms:
                await self._ring(dice.choice(self._stage.alarms))
            case "works" if holder is not None:
                await self._work(slot, holder, dice)
            case "works":
                await self._take(slot)
            case "renews" if holder is not None:
                await holder.renew()
            case "crashes":
                self._stage.tally["crash"] += holder is not None
                self._holders[slot] = None
                self._stage.now += LEASE
            case "kills":
                for _ in range(dice.choice((2, 3, 4))):
                    self._holders = [None, None]
                    self._stage.now += LEASE
                    await self._take(slot)
            case "freezes":
                self._stage.now += LEASE
            case "hands back" if holder is not None:
                await holder.hand_back()
                await self._release(slot, holder, keep=False)
            case "is told twice":
                self._stage.is_told_twice = True
            case "misfits" if holder is not None:
                self._misfit(holder, dice)

    # --- people ----------------------------------------------------------------------------------------------------

    def _message(self, person: str, text: str, order: int) -> UserMessage:
        return UserMessage(self._stage.id(), self._stage.here, Sender(person), order, START, text)

    async def _say(self, dice: Random, later: int = 0) -> None:
        number = next(self._stage.numbers)
        person = dice.choices(PEOPLE, (6, 2, 1))[0]
        message = self._message(person, f"words-{number}", number * 10 + 25 * later)
        settle = SETTLE if later or dice.random() < 0.2 else timedelta()
        self._stage.judge.put(message.text, message.order)
        self._said.append(message)
        assert await self._stage.store.put(message, now=self._stage.now, settle=settle)
        self._stage.tally["message"] += 1

    async def _put(self, inbound: UserMessage | ButtonPress) -> None:
        self._stage.judge.put_other(inbound.event)
        assert await self._stage.store.put(inbound, now=self._stage.now)
        self._stage.tally["stop" if isinstance(inbound, UserMessage) else "press"] += 1

    async def _press(self, dice: Random) -> None:
        aside = list(self._stage.aside)
        token = dice.choice(aside if aside and dice.random() < 0.4 else list(self._stage.cards)[-4:])
        card = self._stage.cards[token]
        person = dice.choice(PEOPLE) if card.name == "both" or dice.random() < 0.2 else card.requester
        choice = dice.choices(("allow", "deny", "wrong", "restore"), (6, 2, 1, 9 * (token in aside)))[0]
        for _ in range(dice.choice((1, 1, 2))):
            await self._put_press(person, token, choice)

    async def _put_press(self, person: str, token: str, choice: str) -> None:
        await self._put(ButtonPress(self._stage.id("p"), self._stage.here, Sender(person), 0, START, token, choice))

    async def _ring(self, alarm: Alarm) -> None:
        rang = await self._stage.store.ring(self._stage.here, alarm, now=self._stage.now)
        self.trace.append(rang)
        if rang:
            self._stage.judge.put_other(f"expiry of {alarm.token}")
            self._stage.tally["expiry"] += 1

    # --- workers ---------------------------------------------------------------------------------------------------

    async def _take(self, slot: int) -> None:
        found = await self._stage.store.checkout(f"worker-{slot}", now=self._stage.now, last_try=True)
        self.trace.append(found)
        if found is None:
            return
        assert found.lease.conversation == self._stage.here, "another conversation was left ready"
        self._stage.tally["checkout"] += 1
        holder = self._holders[slot] = Holder.after(found, self._stage)
        if holder.lease.tries > MAX_TRIES:
            self._stage.tally["parked"] += 1
            await holder.park()

    async def _work(self, slot: int, holder: Holder, dice: Random) -> None:
        """The holder's next step, one of those that are open to it."""
        if self._stage.now >= holder.permit_until and dice.random() < 0.4:
            await holder.renew()
        elif holder.is_idle and dice.random() < 0.3:
            await self._release(slot, holder, keep=True)
        elif holder.running and dice.random() < 0.6:
            if dice.random() < 0.3:
                holder.do(dice)
            else:
                holder.end(dice)
            if dice.random() < 0.7:
                await holder.go_on()
        else:
            await holder.read(dice)
            if dice.random() < 0.8:
                await holder.go_on()

    async def _release(self, slot: int, holder: Holder, *, keep: bool) -> Release:
        released = await holder.release(keep=keep)
        if released is not Release.AGAIN:
            self._holders[slot] = None
        return released

    def _misfit(self, holder: Holder, dice: Random) -> None:
        found = list(misfits(holder.session, holder.lease.fence))
        for event in dice.sample(found, min(len(found), 25)):
            self._stage.judge.refused(holder.session, event, apply(holder.session, event))
            self._stage.tally["misfit"] += 1

    # --- the end ---------------------------------------------------------------------------------------------------

    async def _finish(self) -> None:
        """Everybody decides what waits, the model says only words, and one worker ends what is left."""
        stage, dice = self._stage, Random(0)
        stage.is_calm, stage.is_told_twice = True, False
        self._holders = [None, None]
        stage.now += LEASE
        for _ in range(300):
            holder = self._holders[0]
            if holder is None:
                if not await self._is_more():
                    break
                await self._take(0)
                continue
            stage.now += TICK
            holder.permit_until = stage.now + PERMIT
            await holder.read(dice)
            await holder.go_on()
            while holder.running:
                holder.end(dice)
            await holder.go_on()
            if not holder.running and await self._decide(holder, dice):
                await self._release(0, holder, keep=True)
        assert self._holders[0] is None, "it never came to rest"
        await self._close()

    async def _is_more(self) -> bool:
        """Wait for what is ready; when only people can go on, make somebody look at it again."""
        stage = self._stage
        ready = await stage.store.next_ready(now=stage.now)
        if ready is None and not await stage.store.alarms():
            return False
        if ready is None:
            await self._put_press(STRANGER, next(iter(stage.cards)), "wrong")
        stage.now = max(stage.now, ready or stage.now)
        return True

    async def _decide(self, holder: Holder, dice: Random) -> bool:
        """Decide what waits; True when nothing does."""
        cards = cards_of(holder.session)
        for token in sorted(cards):
            if dice.random() < 0.5:
                await self._ring(next(alarm for alarm in reversed(self._stage.alarms) if alarm.token == token))
            else:
                await self._put_press(cards[token].requester, token, "deny")
        return not cards

    async def _close(self) -> None:
        """What is stored now is what the judge has seen, and nothing more is to be done."""
        stage = self._stage
        await self._put(self._message("1", "/stop", 0))
        await self._take(0)
        holder = self._holders[0]
        assert holder is not None
        await holder.read(Random(0))
        await holder.commit()
        stage.judge.over(holder.session, holder.history, stage.parked)
        assert await self._release(0, holder, keep=True) is Release.IDLE
        assert await stage.store.next_ready(now=stage.now) is None, "it is ready after all was read"
