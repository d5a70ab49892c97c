"""What both stores must agree on, as pure functions: reading order, priority, bounds, where a history may be cut."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

from kernel.chat import (
    MAX_FILE_BYTES,
    Attachment,
    ConversationId,
    Expired,
    Inbound,
    MessageRef,
    Notice,
    Outbound,
    Prompt,
    PromptClosed,
    Reply,
    UserMessage,
    command_of,
)
from kernel.errors import BadArguments, StoreUnfit
from kernel.ports import FETCH_WITHIN, Alarm
from kernel.session import Session

REMEMBER_EVENTS = timedelta(hours=48)
"""How long the event of an inbound is known, so that its copies are dropped."""
REFUSE_AGAIN = timedelta(hours=24)
KEEP_OLD_HISTORY = timedelta(days=30)
KEEP_CLOSED_PROMPTS = timedelta(days=30)
KEEP_PARKED = timedelta(days=30)
KEEP_LEDGER = timedelta(days=90)
KEEP_PEOPLE = timedelta(days=400)
KEEP_SPENDINGS = timedelta(days=400)
KEEP_BLOBS = timedelta(hours=24)
"""Of a blob that nothing holds."""
DRAFT_LIVES = timedelta(seconds=60)
WORKING_LIVES = timedelta(seconds=10)
BEAT_LIVES = timedelta(seconds=60)
WAKE_LIVES = timedelta(seconds=5)
"""How long a hint counts as unread when nobody clears its flag."""

MAX_NOTES = 20
MAX_NOTE_CHARS = 200
MAX_PARKED = 100
MAX_SPENDERS = 1000
"""Persons of a platform whose sums of one day are kept apart; what the others spend is one sum."""
MAX_LEDGER = 1000
"""Lines kept of one trigger."""
HISTORY_KEPT = 400
"""Messages kept before the oldest point that a turn still needs."""
HISTORY_SLACK = 100
"""How many more there may be before the history is cut, so that most commits only append."""
HISTORY_LIMIT = 2000
"""However long a turn waits, older messages go."""
MAX_BLOB_BYTES = MAX_FILE_BYTES
BLOB_TOTAL_BYTES = 1_000_000_000
"""Of all blobs together; the oldest that nothing holds make room."""
BLOB_PIECE_BYTES = 1_000_000

ORDER_LIMIT = 2**53
"""Orders are scores of a sorted set: whole numbers that a double holds exactly."""

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def stamp(instant: datetime) -> int:
    """Whole microseconds since 1970: exact, unlike `timestamp()`, so that a due time comes back as it was put."""
    return (instant - _EPOCH) // _MICROSECOND


def instant(stamped: int) -> datetime:
    """The instant that `stamp` was given, aware UTC."""
    return _EPOCH + stamped * _MICROSECOND


def window_of(now: datetime, window: timedelta) -> int:
    """The number of the window that `now` is in; they begin at 1970 and follow each other without a gap."""
    return (now - _EPOCH) // window


def is_urgent(inbound: Inbound) -> bool:
    """Read by arrival and before messages: presses, commands, expiries."""
    return not isinstance(inbound, UserMessage) or command_of(inbound.text) is not None


def order_of(inbound: Inbound) -> int:
    """The place in which `inbound` is read: smaller first, equal ones by arrival; below 0 for what is urgent."""
    if isinstance(inbound, UserMessage) and not is_urgent(inbound):
        return min(max(inbound.order, 0), ORDER_LIMIT - 1)
    return -1


def album_of(inbound: Inbound) -> str:
    """The album that `inbound` is part of, empty for most."""
    return inbound.album if isinstance(inbound, UserMessage) else ""


def waits_until(inbound: Inbound, now: datetime) -> datetime | None:
    """Until when it waits for its files when it is put now; None for what has none to wait for, and for commands."""
    if not isinstance(inbound, UserMessage) or is_urgent(inbound):
        return None
    return now + FETCH_WITHIN if inbound.waits_for_files else None


def blobs_of(message: UserMessage) -> tuple[str, ...]:
    """What was fetched of what came with it."""
    return tuple(each.blob for each in message.attachments if each.blob)


def is_prior(outbound: Outbound) -> bool:
    """Goes before other conversations' replies: reminders, prompts, and notices, which somebody's press waits for."""
    return isinstance(outbound, Prompt | Notice)


def edits(outbound: Outbound) -> str:
    """The token of the prompt that `outbound` changes wherever it was shown, empty when it changes none."""
    return outbound.token if isinstance(outbound, PromptClosed) else ""


def closes(outbound: Outbound) -> bool:
    """Whether that prompt is closed: a button that is left may still be pressed."""
    return isinstance(outbound, PromptClosed) and not outbound.choices


def shows(outbound: Outbound) -> str:
    """The token on the buttons of `outbound`, empty when it has none."""
    return outbound.token if isinstance(outbound, Prompt) else ""


def attachments_of(outbound: Outbound) -> tuple[Attachment, ...]:
    """What goes out with it."""
    return outbound.attachments if isinstance(outbound, Reply) else ()


def ends_drafts(outbound: Outbound) -> bool:
    """Once it is on its way, what was being written is no longer shown."""
    return isinstance(outbound, Reply | Prompt)


def witness(outbound: tuple[Outbound, ...]) -> int | None:
    """Which of a firing's deliveries proves that it arrived: the first that people read; None when none is."""
    return next((number for number, each in enumerate(outbound) if isinstance(each, Reply | Prompt)), None)


def proven_outcome(outcome: str) -> str | None:
    """The ledger word for a firing whose delivery got a message id; None when `outcome` waits for no delivery."""
    match outcome:
        case "claimed" | "delivered":
            return "delivered"
        case "late":
            return "late"
        case _:
            return None


def unknown_ref(outbound: Outbound) -> MessageRef:
    """Stands for a part that is out under an id that nobody told us."""
    return MessageRef(outbound.conversation, "")


def proof(word: str, refs: tuple[MessageRef, ...]) -> tuple[str, str]:
    """Outcome and detail for the ledger, once a firing's delivery is done: only a message id proves that it arrived."""
    ids = [ref.id for ref in refs if ref.id]
    return (word, f"message {ids[-1]}") if ids else ("unknown", "sent, without a message id")


def clip_note(text: str) -> str:
    """The note as it is kept."""
    return text[:MAX_NOTE_CHARS]


def days_around(now: datetime) -> tuple[date, date, date]:
    """The days that may be today somewhere on Earth: local dates differ from UTC's by one at most."""
    today, one = now.astimezone(UTC).date(), timedelta(days=1)
    return today - one, today, today + one


def keep_from(session: Session) -> int:
    """The absolute number of the oldest history message that must stay, as far as the limit allows.

    A waiting turn needs the messages before its `base`, so that what it was asked about stays readable.
    """
    needed = min((turn.base for turn in session.turns), default=session.history_length)
    needed = min(needed, session.history_length)
    return max(needed - HISTORY_KEPT, session.history_length - HISTORY_LIMIT, 0)


def expiry_event(alarm: Alarm) -> str:
    """The event id of the `Expired` that `alarm` becomes."""
    return f"alarm:{alarm.token}:{stamp(alarm.at) if alarm.at else 0}"


def expired(conversation: ConversationId, alarm: Alarm) -> Expired:
    """What is put into the conversation when the alarm rings; its `at` is the alarm's."""
    if alarm.at is None:
        raise ValueError("an alarm without a time never rings")
    return Expired(expiry_event(alarm), conversation, alarm.at, alarm.token)


def blob_id(content: bytes) -> str:
    """The name of these bytes: the same for the same bytes."""
    return sha256(content).hexdigest()[:40]


def check_blob_size(size_bytes: int) -> None:
    """Raises `BadArguments` (the model or the fetcher must choose something smaller) above 20 MB."""
    if size_bytes > MAX_BLOB_BYTES:
        raise BadArguments(f"{size_bytes} bytes are too many, at most {MAX_BLOB_BYTES} can be kept")


def blobs_full(total_bytes: int) -> StoreUnfit:
    """What to raise when held blobs leave no room."""
    return StoreUnfit(f"files in use fill the {total_bytes // 1_000_000} MB kept for them; delete some in the chats")
