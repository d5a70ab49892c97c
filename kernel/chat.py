"""The words between bots and workers: who, where, what came in, what goes out.

All instants are aware UTC. Strings that name people, chats and messages are the platform's own ids; the kernel
compares them and never looks inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum


@dataclass(frozen=True, slots=True, order=True)
class ConversationId:
    """One history: a chat of a platform, or a thread (topic) in it; `thread` is empty outside threads."""

    platform: str
    chat: str
    thread: str = ""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who did something, as the platform vouches for it. Only `id` ever grants a right; `name` is for showing."""

    id: str
    name: str = ""
    language: str | None = None
    """`zh` or `en` when the platform told us."""
    zone: str | None = None
    """IANA name when the platform told us."""
    team: str = ""
    """The workspace that the bot is installed in, of its full members; empty for everybody else."""
    is_bot: bool = False
    """Another program."""
    is_guest: bool = False
    """On a platform of workspaces: not known to be a full member of the bot's."""


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message on its platform: where it stands and its id there."""

    conversation: ConversationId
    id: str


class AttachmentKind(Enum):
    """What an attachment is to a person."""

    PICTURE = "picture"
    FILE = "file"
    VOICE = "voice"
    VIDEO = "video"


class Fetch(Enum):
    """Where the bytes of an attachment are."""

    DONE = "done"
    """Among our blobs."""
    WAITING = "waiting"
    """Still at the platform, to be fetched."""
    LARGE = "large"
    """Left there: more than `MAX_FILE_BYTES`."""
    GONE = "gone"
    """The platform does not give them."""
    FAILED = "failed"
    """They could not be fetched in time."""
    LINK = "link"
    """Kept somewhere else, at the address `source`; nobody looks there."""


MAX_FILE_BYTES = 20_000_000
"""Of one file that somebody sends: Telegram gives bots no larger ones."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something that came or goes with a message: a reference, never the bytes.

    `blob` names them once `fetch` is DONE; until then `source` is the platform's own word for them. Of what people
    send, `name`, `mime` and `size_bytes` are what their platform says; a size of 0 is unknown.
    """

    kind: AttachmentKind
    blob: str
    name: str
    mime: str
    size_bytes: int
    source: str = ""
    fetch: Fetch = Fetch.DONE


class Address(Enum):
    """Whether words that many read are meant for the bot."""

    DIRECT = "direct"
    """A private chat, a mention, a reply to the bot, a command for it."""
    THREAD = "thread"
    """Said in a thread without a mention: for the bot when their writer asked it something there before."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person wrote. `order` is the platform's own order within the chat; `event` its id of the update."""

    event: str
    conversation: ConversationId
    sender: Sender
    order: int
    at: datetime
    text: str
    attachments: tuple[Attachment, ...] = ()
    quoted: str = ""
    """Text the person quoted or forwarded: data, never their own words."""
    album: str = ""
    """Messages that share a non-empty album are parts of one."""
    is_private: bool = True
    """A chat with nobody else in it but the bot."""
    ref: MessageRef | None = None
    address: Address = Address.DIRECT
    title: str = ""
    """What people call the chat, where many read it."""

    @property
    def waits_for_files(self) -> bool:
        """Something that came with it is not fetched yet."""
        return any(each.fetch is Fetch.WAITING for each in self.attachments)


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A person pressed a choice. `token` is the opaque word that the button carried, `choice` which one."""

    event: str
    conversation: ConversationId
    sender: Sender
    order: int
    at: datetime
    token: str
    choice: str
    press: str = ""
    """The platform's id of the press itself, needed to answer it with a `Notice`."""
    ref: MessageRef | None = None
    is_private: bool = True
    """Pressed in a chat with nobody else in it but the bot."""


class Change(Enum):
    """What became of a chat."""

    JOINED = "joined"
    """The bot was added, or can be spoken to again."""
    GONE = "gone"
    """The bot was removed or blocked, or the chat was closed."""
    MOVED = "moved"
    """It has another id from now on."""


@dataclass(frozen=True, slots=True)
class ChatChanged:
    """Something became of a whole chat (`conversation.thread` is empty), by `sender` where the platform says so."""

    event: str
    conversation: ConversationId
    change: Change
    at: datetime
    sender: Sender | None = None
    title: str = ""
    is_private: bool = False
    to: str = ""
    """The new id of a chat that moved."""


Heard = UserMessage | ButtonPress | ChatChanged
"""What adapters deliver."""


@dataclass(frozen=True, slots=True)
class AccessRequested:
    """The bot cannot be used yet where `origin` is, and an owner, who reads `conversation`, is asked about it.

    `person` wrote there, or pressed, and may not; or, with `has_joined`, added the bot to that group.
    """

    event: str
    conversation: ConversationId
    at: datetime
    person: Sender
    origin: ConversationId
    title: str = ""
    """What people call the group; empty for a private chat."""
    is_private: bool = True
    """`origin` is a chat with nobody else in it."""
    has_joined: bool = False


@dataclass(frozen=True, slots=True)
class Expired:
    """The alarm that a commit set for `token` has rung; put by the scheduler."""

    event: str
    conversation: ConversationId
    at: datetime
    token: str


Inbound = UserMessage | ButtonPress | Expired | AccessRequested


class Look(Enum):
    """How a choice looks where the platform can show it."""

    PLAIN = "plain"
    GOOD = "good"
    DANGER = "danger"


@dataclass(frozen=True, slots=True)
class Choice:
    """One button: `id` comes back as `ButtonPress.choice`, `label` is what people read."""

    id: str
    label: str
    look: Look = Look.PLAIN


@dataclass(frozen=True, slots=True)
class Reply:
    """Markdown to say in the conversation."""

    conversation: ConversationId
    text: str
    attachments: tuple[Attachment, ...] = ()
    quote: MessageRef | None = None
    """The message this answers, where the platform shows such things."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Markdown with buttons. Presses come back with `token` (at most 48 ASCII characters, random)."""

    conversation: ConversationId
    text: str
    token: str
    choices: tuple[Choice, ...]
    due: datetime | None = None
    """When a reminder that fired was due; who sends it much later says so, in `language`."""
    language: str = "zh"


@dataclass(frozen=True, slots=True)
class PromptClosed:
    """The prompt `token` is decided: wherever it was shown its text becomes `text`, without buttons.

    With `choices` it stays open: these are its buttons now.
    """

    conversation: ConversationId
    token: str
    text: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """A short answer to one press, seen by the person who pressed."""

    conversation: ConversationId
    press: str
    person: str
    text: str


Outbound = Reply | Prompt | PromptClosed | Notice


@dataclass(frozen=True, slots=True)
class Draft:
    """What is being written right now; the only outbound word that may be dropped, and never part of a commit.

    Empty `text` means: working. `turn` and `sequence` order drafts of one conversation.
    """

    conversation: ConversationId
    turn: str
    sequence: int
    text: str = ""


class Command(Enum):
    """What people may say with a slash (Telegram, terminal), `/zclaw …` or `!…` (Slack)."""

    HELP = "help"
    START = "start"
    NEW = "new"
    STOP = "stop"
    RETRY = "retry"
    UNDO = "undo"
    FORGET = "forget"
    STATUS = "status"
    REMINDERS = "reminders"
    TZ = "tz"
    MEMORY = "memory"
    MODEL = "model"
    USAGE = "usage"
    ID = "id"
    ALLOW = "allow"
    PAIR = "pair"
    WHY = "why"


def command_of(text: str) -> tuple[Command, str] | None:
    """The command that `text` opens with and what follows it; None when it is ordinary text.

    Adapters have already turned their platform's spelling (`/stop@bot`, `/zclaw stop`, `!stop`) into `/stop`.
    """
    if not text.startswith("/"):
        return None
    word, *rest = re.split(r"\s", text[1:], maxsplit=1)
    try:
        return Command(word.lower()), "".join(rest).strip()
    except ValueError:
        return None
