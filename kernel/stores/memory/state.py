"""What the in-memory stores share: records, and the changes that more than one port makes.

No method awaits between its first and its last change, so each is one step as a Lua script is.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from kernel.chat import ConversationId, Draft, Inbound, MessageRef, Outbound, Sender
from kernel.errors import RetryLater
from kernel.messages import Message
from kernel.ports import (
    MAX_MEMORIES,
    Alarm,
    Clock,
    ForgetAll,
    Item,
    LedgerLine,
    MemoryChange,
    PromptRecord,
    Put,
    Remember,
    Shelf,
    Spending,
    Spent,
    TriggerChange,
    TriggerPut,
    Unanswered,
)
from kernel.ports.floods import Tally
from kernel.session import Session
from kernel.stores import rules
from kernel.stores.memory.grant_book import GrantBook
from kernel.triggers import Firing, Trigger


@dataclass(slots=True)
class Entry:
    """One item of an inbox: where it is read and when it is due.

    `own` is when it could be read but for others and its files; `until` is set while it waits for these.
    """

    item: Item
    order: int
    own: datetime
    ready_at: datetime
    until: datetime | None = None
    fetch_at: datetime | None = None
    """When somebody may fetch its files."""


@dataclass(slots=True)
class Record:
    """One conversation. `run_since` is set while a turn has work left."""

    session: Session
    fence: int = 0
    tries: int = 0
    worker: str = ""
    until: datetime | None = None
    run_since: datetime | None = None
    arrivals: int = 0
    inbox: list[Entry] = field(default_factory=list)
    history: list[Message] = field(default_factory=list)
    old_histories: list[tuple[datetime, list[Message]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parked: list[Item] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    zone: str | None = None
    language: str | None = None

    @property
    def work_at(self) -> datetime | None:
        """When there is something to do; None when there is nothing."""
        times = [entry.ready_at for entry in self.inbox]
        if self.run_since is not None:
            times.append(self.run_since)
        return min(times, default=None)

    @property
    def free_at(self) -> datetime | None:
        """When somebody may take it: its work is due and no lease is in the way."""
        work_at = self.work_at
        return max(work_at, self.until) if work_at is not None and self.until is not None else work_at

    def is_held(self, now: datetime) -> bool:
        """Somebody holds it and is believed to live."""
        return self.until is not None and self.until > now

    def insert(self, inbound: Inbound, at: datetime, now: datetime) -> None:
        """Add to the inbox."""
        self.arrivals += 1
        entry = Entry(Item(f"{self.arrivals:010d}", inbound), rules.order_of(inbound), at, at)
        if (until := rules.waits_until(inbound, now)) is not None:
            entry.until, entry.fetch_at = until, now
        self.inbox.append(entry)
        self.inbox.sort(key=lambda each: (each.order, each.item.id))
        if album := rules.album_of(inbound):
            for each in self.inbox:
                if rules.album_of(each.item.inbound) == album:
                    each.own = max(each.own, at)
        self.level()

    def level(self) -> None:
        """Ready times never fall along the reading order of messages, so what is due is always its beginning."""
        reached = None
        for each in self.inbox:
            if not rules.is_urgent(each.item.inbound):
                reached = max(at for at in (each.own, each.until, reached) if at is not None)
                each.ready_at = reached

    def note(self, text: str) -> None:
        """Append a note; the newest are kept."""
        if text:
            self.notes = [*self.notes, rules.clip_note(text)][-rules.MAX_NOTES :]


@dataclass(slots=True)
class Parcel:
    """One delivery; `proves` is the firing it proves, with the ledger's word for success."""

    id: str
    outbound: Outbound
    created: datetime
    proves: tuple[Firing, str] | None = None
    attempts: int = 0
    parts: tuple[str, ...] = ()
    refs: tuple[MessageRef, ...] = ()
    in_flight: bool = False


@dataclass(slots=True)
class Line:
    """One conversation's outbox."""

    fence: int = 0
    holder: str = ""
    until: datetime | None = None
    not_before: datetime | None = None
    counted: int = 0
    parcels: list[Parcel] = field(default_factory=list)
    draft: tuple[int, Draft, datetime] | None = None
    working: tuple[str, datetime] | None = None

    @property
    def free_at(self) -> datetime | None:
        """When somebody may send its head."""
        if not self.parcels:
            return None
        times = [self.parcels[0].created, self.until, self.not_before]
        return max(at for at in times if at is not None)

    @property
    def is_prior(self) -> bool:
        """Something in it goes before other conversations' replies."""
        return any(rules.is_prior(parcel.outbound) for parcel in self.parcels)


@dataclass(slots=True)
class Rate:
    """What was counted in one window: how many in all, and which event was the how many-th."""

    number: int = 0
    events: dict[str, int] = field(default_factory=dict)


class Memory:
    """Everything the in-memory ports remember. With `is_away` set, every method of theirs raises `RetryLater`."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.is_away = False
        self.records: dict[ConversationId, Record] = {}
        self.seen: dict[tuple[str, str], datetime] = {}
        self.lines: defaultdict[ConversationId, Line] = defaultdict(Line)
        self.triggers: dict[str, Trigger] = {}
        self.due: dict[str | tuple[ConversationId, str], datetime] = {}
        self.ledger: dict[str, dict[datetime, LedgerLine]] = {}
        self.prompts: dict[str, PromptRecord] = {}
        self.forget_prompts: dict[str, datetime] = {}
        self.people: dict[tuple[str, str], Sender] = {}
        self.memories: dict[Shelf, list[str]] = {}
        self.spent: dict[tuple[str, str, date], Spent] = {}
        """By platform, chat and day."""
        self.spent_by: defaultdict[tuple[str, date], dict[str, Spent]] = defaultdict(dict)
        """By platform and day, then by person."""
        self.refused: dict[tuple[str, str], datetime] = {}
        self.grants = GrantBook()
        self.rates: defaultdict[tuple[str, int], Rate] = defaultdict(Rate)
        self.floods = Tally()
        self.unanswered: dict[ConversationId, list[Unanswered]] = {}
        self.askers: dict[ConversationId, dict[str, int]] = {}
        self.blobs: dict[str, tuple[bytes, datetime]] = {}
        self.locks: dict[str, tuple[str, datetime]] = {}
        self.wake_until: datetime | None = None
        self._listeners: defaultdict[str, set[asyncio.Queue[ConversationId | None]]] = defaultdict(set)

    def here(self) -> None:
        """Raise `RetryLater` while the test says that the store is away."""
        if self.is_away:
            raise RetryLater("the store is away", timedelta(seconds=1))

    def record(self, conversation: ConversationId) -> Record:
        """The conversation's record, begun when there is none."""
        return self.records.setdefault(conversation, Record(Session(conversation)))

    def listen(self, channel: str) -> asyncio.Queue[ConversationId | None]:
        """What is told on `channel` from now on."""
        heard: asyncio.Queue[ConversationId | None] = asyncio.Queue()
        self._listeners[channel].add(heard)
        return heard

    def stop_listening(self, channel: str, heard: asyncio.Queue[ConversationId | None]) -> None:
        """The end of `listen`."""
        self._listeners[channel].discard(heard)

    def tell(self, channel: str, conversation: ConversationId | None = None) -> None:
        """Wake everyone who listens to `channel`."""
        for heard in self._listeners[channel]:
            heard.put_nowait(conversation)

    # --- changes that several ports make

    def insert(self, inbound: Inbound, at: datetime, now: datetime) -> Put:
        """Into the inbox, and tell who should know."""
        record = self.record(inbound.conversation)
        record.insert(inbound, at, now)
        return self.announce(record, now)

    def announce(self, record: Record, now: datetime) -> Put:
        """Something was put into the inbox: tell its holder, or say that a hint should be pushed."""
        if record.is_held(now):
            self.tell(f"worker:{record.worker}", record.session.conversation)
            return Put.HELD
        if self.wake_until is None or self.wake_until <= self.clock.now():
            self.wake_until = self.clock.now() + rules.WAKE_LIVES
            return Put.HINTED
        return Put.STORED

    def append(self, outbound: Sequence[Outbound], now: datetime, proves: tuple[Firing, str] | None = None) -> None:
        """Into the outboxes; a firing is proven by the first delivery that people read."""
        proof = rules.witness(tuple(outbound))
        for number, each in enumerate(outbound):
            line = self.lines[each.conversation]
            line.counted += 1
            line.parcels.append(Parcel(str(line.counted), each, now, proves=proves if number == proof else None))
            token = rules.edits(each)
            if token in self.prompts and rules.closes(each):
                self.prompts[token] = replace(self.prompts[token], is_open=False)
                self.forget_prompts[token] = self.clock.now() + rules.KEEP_CLOSED_PROMPTS
            self.tell(f"outbox:{each.conversation.platform}")

    def keep_prompts(self, prompts: Sequence[PromptRecord]) -> None:
        """Store what tokens stand for, open; places that are known already stay."""
        for prompt in prompts:
            known = self.prompts.get(prompt.token)
            places = (*known.places, *prompt.places) if known is not None else prompt.places
            self.prompts[prompt.token] = replace(prompt, places=places, is_open=True)
            self.forget_prompts.pop(prompt.token, None)
            if prompt.kept is not None:
                self.forget_prompts[prompt.token] = self.clock.now() + prompt.kept

    def change_trigger(self, change: TriggerChange) -> None:
        """Store or remove a trigger."""
        if isinstance(change, TriggerPut):
            self.triggers[change.trigger.id] = change.trigger
            self.set_due(change.trigger.id, change.due)
        else:
            self.triggers.pop(change.id, None)
            self.set_due(change.id, None)

    def remember(self, change: MemoryChange) -> None:
        """Put a note on its shelf, or take it or all of them off."""
        if isinstance(change, ForgetAll):
            self.memories.pop(change.shelf, None)
            return
        others = [text for text in self.memories.get(change.shelf, ()) if text != change.text]
        kept = [*others, change.text] if isinstance(change, Remember) else others
        self.memories[change.shelf] = kept[-MAX_MEMORIES:]

    def spend(self, conversation: ConversationId, spending: Spending) -> None:
        """Add to the sums of the chat and of the person."""
        chat_day = (conversation.platform, conversation.chat, spending.day)
        self.spent[chat_day] = self.spent.get(chat_day, Spent()) + spending.spent
        people = self.spent_by[conversation.platform, spending.day]
        is_one_more = spending.person not in people and len(people) >= rules.MAX_SPENDERS
        person = "" if is_one_more else spending.person
        people[person] = people.get(person, Spent()) + spending.spent

    def set_alarm(self, conversation: ConversationId, alarm: Alarm) -> None:
        """Store, move or remove an alarm."""
        self.set_due((conversation, alarm.token), alarm.at)

    def set_due(self, what: str | tuple[ConversationId, str], at: datetime | None) -> None:
        """Into the one list of due times, or out of it."""
        if at is None:
            self.due.pop(what, None)
        else:
            self.due[what] = at
            self.tell("due")

    def write_ledger(self, line: LedgerLine) -> None:
        """The newest word on that due time; lines older than 90 days before it go."""
        lines = self.ledger.setdefault(line.trigger, {})
        lines[line.due] = line
        for due in sorted(lines)[: -rules.MAX_LEDGER]:
            del lines[due]
        for due in [due for due in lines if due < line.due - rules.KEEP_LEDGER]:
            del lines[due]
