"""Every key in Redis, as data: its name, what type it has, how long it lives, and what bounds it.

A name is `z:<word>:` and then encoded pieces joined by colons; Lua scripts get the same beginnings as a table
(`lua_names`). Pieces are percent-encoded, so that ids with `:*?[`, blanks or line breaks are harmless (T19).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, unquote

from kernel.chat import ConversationId
from kernel.ports.chats import KEEP_ASKERS, KEEP_CHATS
from kernel.ports.floods import LONGEST_REST, LONGEST_WINDOW
from kernel.ports.grants import CODE_LIVES
from kernel.ports.locks import HOLD
from kernel.ports.unanswered import KEEP_UNANSWERED
from kernel.stores import rules

NAMESPACE = "z:"
_CONVERSATION_PIECES = 3


@dataclass(frozen=True, slots=True)
class Key:
    """One kind of key. `pieces` says what follows its `word`; `lifetime` None means until it is deleted."""

    word: str
    pieces: str
    type: str
    lifetime: timedelta | None
    bound: str

    @property
    def head(self) -> str:
        """What every key of this kind begins with."""
        return f"{NAMESPACE}{self.word}:" if self.pieces else f"{NAMESPACE}{self.word}"

    def of(self, *pieces: str) -> str:
        """The key for these pieces, not yet encoded."""
        return self.head + ":".join(encoded(piece) for piece in pieces)


SEEN = Key("seen", "platform:event", "string", rules.REMEMBER_EVENTS, "one an inbound")
INBOX = Key("in", "conversation", "zset", None, "items not yet taken, by reading order")
READY_TIMES = Key("at", "conversation", "zset", None, "items not yet taken, by ready time")
ITEMS = Key("it", "conversation", "hash", None, "items not yet taken")
ALBUMS = Key("al", "conversation", "hash", None, "parts of albums not yet taken")
WAITS = Key("im", "conversation", "hash", None, "three fields an item that waits for files, or for one before it")
FETCHES = Key("fetch", "platform", "zset", None, "messages that wait for files, 30 s each")
READY = Key("ready", "", "zset", None, "conversations with work left")
RECORD = Key("s", "conversation", "hash", None, "one a conversation: lease, session, zone, language")
HISTORY = Key("h", "conversation", "list", None, "to 400 messages before what a turn needs, at most 2,000 + 100")
OLD_HISTORY = Key("old", "conversation:revision", "list", rules.KEEP_OLD_HISTORY, "one each /new")
OLD_HISTORIES = Key("olds", "conversation", "zset", rules.KEEP_OLD_HISTORY, "one each old history")
NOTES = Key("notes", "conversation", "list", None, "20 of 200 characters")
FILES = Key("files", "conversation", "hash", None, "200 paths (kernel.workspace)")
PARKED = Key("parked", "conversation", "list", rules.KEEP_PARKED, "100 items")
TICKET = Key("ticket", "ticket", "string", timedelta(seconds=20), "one a checkout")

LINE = Key("o", "conversation", "hash", None, "one a conversation: lease; 30 days once its outbox is empty")
QUEUE = Key("ox", "conversation", "list", None, "deliveries not yet done")
DELIVERIES = Key("dl", "conversation", "hash", None, "deliveries not yet done")
OUT_FIRST = Key("oxfirst", "platform", "zset", None, "conversations with a prompt or notice to send")
OUT_READY = Key("oxready", "platform", "zset", None, "conversations with something else to send")
PULLED = Key("pulled", "platform:holder", "string", timedelta(seconds=60), "one an adapter: its last pull")
DRAFT = Key("draft", "conversation", "hash", rules.DRAFT_LIVES, "one a conversation")
WORKING = Key("working", "conversation", "string", rules.WORKING_LIVES, "one a conversation")
LIVE = Key("live", "platform", "zset", rules.DRAFT_LIVES, "conversations with a draft or at work")

DUE = Key("due", "", "zset", None, "triggers with a next due time, and alarms")
TRIGGER = Key("tr", "trigger", "hash", None, "one a trigger")
TRIGGERS = Key("trs", "conversation", "set", None, "the conversation's triggers")
WAITING = Key("waiting", "platform", "set", None, "the platform's triggers with a due time")
LEDGER = Key("led", "trigger", "zset", rules.KEEP_LEDGER, "90 days, 1,000 lines")
PROMPT = Key("prompt", "token", "hash", None, "one a prompt; 37 days of a reminder, 30 days once it is closed")
PROMPTS_OF = Key("pts", "conversation", "zset", None, "its prompts, and about as many that are gone")

PERSON = Key("person", "platform:person", "hash", rules.KEEP_PEOPLE, "one a person, from when last seen")
CHATS = Key("chats", "platform", "hash", KEEP_CHATS, "2,000 chats")
MEMORIES = Key("mem", "platform:whose:owner", "list", None, "50 of 200 characters, a person's or a chat's")
SPENT = Key("spent", "platform:chat:day", "hash", rules.KEEP_SPENDINGS, "four sums")
SPENT_BY = Key("spentby", "platform:day", "hash", rules.KEEP_SPENDINGS, "four sums a person, 1,000 persons")
GRANTS = Key("granted", "platform", "hash", None, "one field a right that an owner gave, two a chat that moved")
HOMES = Key("homes", "platform", "hash", None, "one field an owner")
PAIRING = Key("pairing", "", "hash", CODE_LIVES, "one code")
RATE = Key("rate", "what:window", "hash", timedelta(hours=1, seconds=1), "1,000 events; one a person and chat just now")
FLOOD = Key("flood", "what", "list", LONGEST_WINDOW, "200 calls; one a chat or method that was called just now")
REST = Key("rest", "what", "string", LONGEST_REST, "one a chat or method that its platform told us to leave alone")
UNANSWERED = Key("unanswered", "platform:chat", "list", KEEP_UNANSWERED, "20 lines")
ASKERS = Key("askers", "conversation", "zset", KEEP_ASKERS, "100 persons")
REFUSED = Key("refused", "platform:person", "string", rules.REFUSE_AGAIN, "one a stranger")

BLOB = Key("b", "blob", "hash", rules.KEEP_BLOBS, "20 MB; none while something holds it")
BLOB_HOLDERS = Key("bh", "blob", "set", None, "workspaces, deliveries and inboxes that hold it")
BLOB_SIZES = Key("blobsizes", "", "hash", None, "one a blob: its bytes")
BLOB_SPARE = Key("blobspare", "", "zset", None, "blobs that nothing holds, by when they go")
BLOB_TOTAL = Key("blobtotal", "", "string", None, "one number, at most 1 GB")

WAKE = Key("wake", "", "string", rules.WAKE_LIVES, "one")
BEATS = Key("beats", "", "zset", rules.BEAT_LIVES, "one a process")
LOCK = Key("lock", "name", "hash", HOLD, "one a bot that is polled, one a press just answered")

KEYS: tuple[Key, ...] = (
    *(SEEN, INBOX, READY_TIMES, ITEMS, ALBUMS, WAITS, FETCHES),
    *(READY, RECORD, HISTORY, OLD_HISTORY, OLD_HISTORIES, NOTES, FILES, PARKED, TICKET),
    *(LINE, QUEUE, DELIVERIES, OUT_FIRST, OUT_READY, PULLED, DRAFT, WORKING, LIVE),
    *(DUE, TRIGGER, TRIGGERS, WAITING, LEDGER, PROMPT, PROMPTS_OF),
    *(PERSON, CHATS, ASKERS, MEMORIES, SPENT, SPENT_BY),
    *(GRANTS, HOMES, PAIRING, REFUSED, RATE, FLOOD, REST, UNANSWERED),
    *(BLOB, BLOB_HOLDERS, BLOB_SIZES, BLOB_SPARE, BLOB_TOTAL),
    *(WAKE, BEATS, LOCK),
)
"""All of ours. RQ's own begin with `rq:` (`RQ_NAMES`)."""

RQ_NAMES = "rq:"
"""Jobs and workers of RQ: results 60 s, failures 1 day; hints that nobody reads are not added to."""

WORKER_CHANNEL = NAMESPACE + "w:"
"""Tells a worker of something put into a conversation it holds; the message is the conversation."""
OUTBOX_CHANNEL = NAMESPACE + "out:"
"""Tells adapters of a platform that something is to be sent."""
DUE_CHANNEL = NAMESPACE + "dues"
"""Tells schedulers of a due time that was stored."""


def encoded(piece: str) -> str:
    """`piece` with nothing but letters, digits and `_.-~%`; `decoded` gives it back, whatever was in it."""
    return quote(piece, safe="", errors="surrogatepass")


def decoded(piece: str) -> str:
    """What `encoded` was given."""
    return unquote(piece, errors="surrogatepass")


def conversation_piece(conversation: ConversationId) -> str:
    """The encoded name of a conversation: its three fields, joined by colons."""
    return ":".join(encoded(each) for each in (conversation.platform, conversation.chat, conversation.thread))


def conversation_of(piece: str) -> ConversationId:
    """The conversation that `conversation_piece` named."""
    platform, chat, thread = (decoded(each) for each in piece.split(":"))
    return ConversationId(platform, chat, thread)


def key_of(name: str) -> Key | None:
    """The kind of key that `name` is, None when it is none of ours; RQ's are not."""
    for key in KEYS:
        if not key.pieces:
            if name == key.head:
                return key
        elif name.startswith(key.head) and re.fullmatch(_pattern(key), name.removeprefix(key.head)):
            return key
    return None


def lua_names(keys: Iterable[Key] = KEYS) -> str:
    """The table `K` that every script begins with: a word of the script for each beginning of a key."""
    rows = [f'["{key.word}"]="{key.head}"' for key in keys]
    rows += [f'w_channel="{WORKER_CHANNEL}"', f'out_channel="{OUTBOX_CHANNEL}"', f'due_channel="{DUE_CHANNEL}"']
    return "local K = {" + ",".join(rows) + "}\n"


def _pattern(key: Key) -> str:
    piece = r"[A-Za-z0-9_.~%-]*"
    count = sum(_CONVERSATION_PIECES if each == "conversation" else 1 for each in key.pieces.split(":"))
    return ":".join([piece] * count)
