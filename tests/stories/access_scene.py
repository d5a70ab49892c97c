"""One installation in which a cell of the access matrix is played: real JSON in, effects out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any

from bots.counters import Counters
from bots.entrance import Entrance
from bots.limits import SpeechLimits
from bots.moves import Moves
from bots.presses import Presses
from bots.slack.people import profile_of
from bots.slack.updates import Workspace, translate
from bots.telegram.updates import read_update
from kernel.access import Access, Rights
from kernel.chat import ButtonPress, ChatChanged, ConversationId, Heard, Outbound, Prompt, Reply, Sender, UserMessage
from kernel.ports import FETCH_WITHIN, Grant, Right, Spending, Spent, TriggerPut
from kernel.providers.scripted import Scripted, call
from kernel.reminders.cards import Card, Kind
from kernel.reminders.firing import fire
from kernel.schedule.values import Once
from kernel.settings import AccessRule, PlatformId
from kernel.stores.memory.state import Memory
from kernel.stores.memory.stores import memory_stores
from kernel.stores.stores import Stores
from kernel.tools import Approval, ToolRegistry
from kernel.triggers import Firing, Trigger
from kernel.usage import day_of
from tests.bots.slack import fake as slack
from tests.bots.telegram.test_groups import marks
from tests.bots.telegram.test_updates import ME, message, press
from tests.kernel.reminders.words import trigger
from tests.stories.access_matrix import Outcome
from tests.twins.clock import JumpingClock
from tests.twins.platform import Platform
from tests.twins.tools import Deeds
from workers.turns import Actors
from zclaw.wiring.bot_ports import bot_ports
from zclaw.wiring.turns import Rules, open_actors

TELEGRAM = {"owner": 9001, "allowed": 1001, "member": 3001, "stranger": 4001, "bot": 77, "nobody": 1087968824}
SLACK = {"owner": "UOWNER", "allowed": "UALLOWED", "member": "UMEMBER", "stranger": "USTRANGER", "bot": "UB0T"}
SLACK |= {"nobody": "UGUEST"}
ANOTHER = {"telegram": "1002", "slack": "UAN0THER"}
NEWCOMER = {"telegram": "5005", "slack": "UNEWC0MER"}
OPENED = {"telegram": "-1001", "slack": "C0PEN"}
CLOSED = {"telegram": "-1002", "slack": "CCL0SED"}
CANARY = "盘点药柜"
SPENT = Spent(input=4_321_987)
FIGURE = "4,321,987"
WORDS = {
    "talk": "你好呀",
    "set": "每天早上9点提醒我查房",
    "list": "/reminders",
    "cancel": f"取消提醒 {CANARY}",
    "new": "/new",
    "usage": "/usage",
}
EFFECTS = {
    "talk": {"model asked"},
    "set": {"reminder set"},
    "list": {"reminders shown"},
    "cancel": {"reminder gone", "reminders shown"},
    "done": {"reminder done", "reminders shown"},
    "other": {"deed done", "model asked"},
    "own": {"deed done", "model asked"},
    "new": {"history gone"},
    "allow": {"let in"},
    "usage": {"usage shown"},
}
"""What changes when the action takes effect, and nothing else does."""


@dataclass
class Scene:
    """One actor on one way in, over an installation of its own."""

    path: str
    actor: str
    clock: JumpingClock = field(default_factory=JumpingClock)
    deeds: Deeds = field(default_factory=Deeds)
    model: Scripted = field(default_factory=Scripted)
    numbers: count[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.platform = "slack" if self.path in ("slash", "action") else "telegram"
        self.person = str((SLACK if self.platform == "slack" else TELEGRAM)[self.actor])
        group = (CLOSED if self.actor == "stranger" else OPENED)[self.platform]
        self.where = ConversationId(self.platform, self.person if self.path == "private" else group)
        self.home = ConversationId(self.platform, self._person("owner"))
        self.memory = Memory(self.clock)
        self.stores: Stores = memory_stores(self.clock, memory=self.memory)
        self.entrance = self._entrance()
        self.actors = self._actors(self.access)
        self.model.when("发公告", call("post", text="公告"))
        self.model.when(".", "好的")
        self.token = "nothing"

    def _person(self, actor: str) -> str:
        return str((SLACK if self.platform == "slack" else TELEGRAM)[actor])

    @property
    def access(self) -> Access:
        """Telegram's people are let in by grants; on Slack only lists count."""
        if self.platform == "telegram":
            return Access()
        listed = (self._person("allowed"), OPENED["slack"])
        owners = frozenset({PlatformId("slack", self._person("owner"))})
        return Access(frozenset(PlatformId("slack", each) for each in listed), owners, AccessRule.ALLOWLIST)

    def _entrance(self) -> Entrance:
        ports, adapter = bot_ports(self.stores, self.clock), Platform(self.clock, self.platform)
        return Entrance(
            self.platform,
            rights=Rights(self.access, self.stores.grants, self.stores.people),
            ports=ports,
            presses=Presses(adapter, self.clock, "zh", self.stores.locks, "bot"),
            moves=Moves(self.stores.grants, self.clock),
            counters=Counters(),
            language="zh",
            limits=SpeechLimits(),
        )

    def _actors(self, access: Access) -> Actors:
        return open_actors(
            self.stores,
            provider=self.model,
            registry=ToolRegistry((self.deeds.tool("post", approval=Approval.ASK),)),
            clock=self.clock,
            worker="w",
            rules=Rules("Asia/Shanghai", access=access),
        )

    # --- before

    async def prepare(self, action: str) -> None:
        """What the action needs: grants, a reminder, something spent, and its card."""
        for right, whose in (
            (Right.OWNER, self._person("owner")),
            (Right.PERSON, self._person("allowed")),
            (Right.PERSON, ANOTHER[self.platform]),
            (Right.CHAT, OPENED[self.platform]),
        ):
            await self.stores.grants.give(Grant(right, PlatformId(self.platform, whose)))
        await self.stores.grants.settle(PlatformId(self.platform, self._person("owner")), self.home)
        self.memory.change_trigger(TriggerPut(self.reminder, None if self.path == "job" else self._next_week))
        day = day_of(self.clock.now(), "Asia/Shanghai")
        self.memory.spend(self.where, Spending(ANOTHER[self.platform], day, SPENT))
        match action:
            case "cancel":
                self.token = "listed"
                card = Card(Kind.CANCEL, (self.reminder,), "zh").record(self.token, self.where)
                self.memory.keep_prompts((card,))
            case "done":
                fired = fire(Firing(self.reminder, self.clock.now()), self.clock.now(), lambda: "fired")
                self.memory.keep_prompts(fired.prompts)
                self.token = "fired"
            case "other":
                await self._asks(ANOTHER[self.platform])
            case "own":
                await self._asks(self.person)
            case "new":
                await self._asks(ANOTHER[self.platform], "早")
        await self._drained()
        self.before = self._state()
        self.model.requests.clear()

    async def _asks(self, person: str, words: str = "发公告") -> None:
        """Somebody said that here while they might talk; a card comes of it, or an answer."""
        number = next(self.numbers)
        said = UserMessage(f"s{number}", self.where, Sender(person, "小本"), number, self.clock.now(), words)
        await self.stores.conversations.put(said, now=self.clock.now())
        await self._actors(Access(rule=AccessRule.OPEN)).drain()
        cards = [each.token for each in self._out(self.where) if isinstance(each, Prompt)]
        self.token = cards[0] if cards else self.token

    @property
    def reminder(self) -> Trigger:
        """What stands in the conversation: somebody else set it."""
        return replace(trigger(CANARY), conversation=self.where, owner=ANOTHER[self.platform])

    @property
    def _next_week(self) -> Any:
        return self.clock.now() + timedelta(days=7)

    # --- what happens

    async def plays(self, action: str) -> None:
        """The actor does it, on this way in."""
        if self.path == "job":
            await self._job(action)
            return
        heard = self._heard(action)
        if heard is not None:
            await self.entrance.deliver(heard)
        self.clock.jump(FETCH_WITHIN)  # Nobody fetches files here: what came with one is read without it by then.
        await self._drained()

    async def _drained(self) -> None:
        while (ready := await self.stores.conversations.next_ready(now=self.clock.now())) is not None:
            assert ready <= self.clock.now()
            await self.actors.drain()

    def words(self, action: str) -> str:
        """How it is written; what belongs to a button is its data, written by hand."""
        if action == "allow":
            return f"/allow {self.platform}:{NEWCOMER[self.platform]}"
        return WORDS.get(action) or self.button(action)

    def button(self, action: str) -> str:
        """The data of its button; of what has none, a forged one that carries the words."""
        choices = {"cancel": "0", "done": "done", "other": "allow", "own": "allow"}
        if action in choices:
            return f"{self.token}:{choices[action]}"
        return f"{self.words(action)}:0"

    def _heard(self, action: str) -> Heard | None:
        makers: dict[str, Callable[[str], dict[str, Any]]] = {
            "private": self._private,
            "group": self._group,
            "edit": self._edit,
            "callback": self._callback,
            "slash": self._slash,
            "action": self._action,
            "file": self._file,
        }
        raw = makers[self.path](action)
        return self._of_slack(raw) if self.platform == "slack" else self._of_telegram(raw)

    def _of_telegram(self, raw: dict[str, Any]) -> Heard | None:
        heard = read_update(raw | {"update_id": 7}, ME, self.clock.now())
        return heard if isinstance(heard, UserMessage | ButtonPress | ChatChanged) else None

    def _of_slack(self, raw: dict[str, Any]) -> Heard | None:
        """As the adapter does: who is no member of the workspace is not let in."""
        heard = translate(raw, Workspace(slack.TEAM, slack.BOT_USER, slack.BOT), self.clock.now())
        if not isinstance(heard, UserMessage | ButtonPress):
            return None
        marks_of = {"bot": {"is_bot": True}, "nobody": {"is_restricted": True}}.get(self.actor, {})
        profile = profile_of(slack.person(self.person, **marks_of), slack.TEAM)
        return replace(heard, sender=profile.on(heard.sender)) if profile.is_member else None

    @property
    def _user(self) -> dict[str, Any]:
        return {"id": int(self.person), "is_bot": self.actor in ("bot", "nobody"), "first_name": "小王"}

    @property
    def _group_chat(self) -> dict[str, Any]:
        return {"id": int(self.where.chat), "type": "supergroup", "title": "三病区"}

    def _private(self, action: str) -> dict[str, Any]:
        chat = {"id": int(self.person), "type": "private", "first_name": "小王"}
        user = self._user | ({"id": 777000, "is_bot": False} if self.actor == "nobody" else {})
        return message(chat=chat, text=self.words(action), **{"from": user})

    def _group(self, action: str) -> dict[str, Any]:
        text = self._called(self.words(action))
        return message(chat=self._group_chat, text=text, entities=marks(text, *self._names(text)), **self._from)

    def _edit(self, action: str) -> dict[str, Any]:
        return {"edited_message": self._group(action)["message"] | {"edit_date": 1796000500}}

    def _file(self, action: str) -> dict[str, Any]:
        text = self._called(self.words(action))
        photo = [{"file_id": "f", "file_unique_id": "f", "width": 9, "height": 9}]
        named = marks(text, *self._names(text))
        return message(chat=self._group_chat, photo=photo, caption=text, caption_entities=named, **self._from)

    @property
    def _from(self) -> dict[str, Any]:
        if self.actor == "nobody":
            return {"from": self._user, "sender_chat": self._group_chat}
        return {"from": self._user}

    def _called(self, words: str) -> str:
        command, *rest = words.split(" ", 1)
        if command.startswith("/"):
            return " ".join((f"{command}@{ME.username}", *rest))
        return f"@{ME.username} {words}"

    def _names(self, text: str) -> tuple[str, ...]:
        return () if text.startswith("/") else (f"@{ME.username}",)

    def _callback(self, action: str) -> dict[str, Any]:
        shown = {"message_id": 8, "date": 1796000400, "chat": self._group_chat, "text": "card"}
        return press(data=self.button(action), message=shown, **{"from": self._user})

    def _slash(self, action: str) -> dict[str, Any]:
        return slack.slash(self.words(action).removeprefix("/"), channel_id=self.where.chat, user_id=self.person)

    def _action(self, action: str) -> dict[str, Any]:
        where, user = self.where.chat, {"id": self.person, "team_id": slack.TEAM}
        container = {"type": "message", "channel_id": where, "message_ts": "1700000005.000000"}
        return slack.press(self.button(action), user=user, channel={"id": where}, container=container)

    async def _job(self, action: str) -> None:
        """The reminder that the actor once set comes; or a card's time is over."""
        if self.actor not in ("bot", "nobody") and action not in ("other", "own"):
            due = self.clock.now() + timedelta(minutes=1)
            theirs = replace(self.reminder, id="theirs", owner=self.person, text=self.words(action))
            theirs = replace(theirs, schedule=Once((due,)))
            self.memory.change_trigger(TriggerPut(theirs, due))
            self.before = self._state()
        self.clock.jump(timedelta(hours=73) if action in ("other", "own") else timedelta(minutes=1))
        for each in await self.stores.triggers.due(now=self.clock.now(), limit=9):
            if isinstance(each, Firing):
                done = fire(each, self.clock.now(), lambda: "theirs")
                out = done.next_due, done.outbound, done.prompts
                await self.stores.triggers.fire(each, *out, outcome=done.outcome, now=self.clock.now())
            else:
                await self.stores.triggers.ring(*each, now=self.clock.now())
        await self._drained()

    # --- what came of it

    def outcome(self, action: str) -> Outcome:
        """What it came to. Raises AssertionError when anything changed that the outcome does not stand for."""
        changed = self._changed()
        if changed == EFFECTS[action]:
            return Outcome.DOES
        if changed == {"model asked"}:
            return Outcome.ENDS if self.path == "job" and self._is_closed() else Outcome.TALK
        assert changed == set()
        said = self._said()
        if self.path == "job":
            if any(isinstance(each, Prompt) and each.token == "theirs" for each in said):
                return Outcome.SAYS
            return Outcome.NOTHING
        assert not self._is_closed()
        return Outcome.TOLD if said else Outcome.NOTHING

    def _is_closed(self) -> bool:
        record = self.memory.prompts.get(self.token)
        return record is not None and not record.is_open

    def _state(self) -> tuple[set[str], int, int, int, set[object]]:
        record = self.memory.record(self.where)
        return (
            set(self.memory.triggers),
            len(self.deeds.done),
            len(record.old_histories),
            len(self._out(self.where)),
            set(self.memory.grants.grants),
        )

    def _changed(self) -> set[str]:
        """The effects so far, by name."""
        triggers, deeds, histories, _, grants = self.before
        now = self._state()
        said = "\n".join(each.text for each in self._said())
        ended = set(triggers) - now[0] - ({"theirs"} if self.path == "job" else set())
        effects = {
            "model asked": bool(self.model.requests),
            "reminder set": bool(now[0] - triggers),
            "reminder gone": bool(ended),
            "reminder done": self.token == "fired" and self._is_closed(),
            "reminders shown": CANARY in said and self.path != "job",
            "deed done": now[1] > deeds,
            "history gone": now[2] > histories,
            "let in": bool(now[4] - grants),
            "usage shown": FIGURE in said,
        }
        assert not grants - now[4]
        return {name for name, has_happened in effects.items() if has_happened}

    def _out(self, where: ConversationId) -> list[Outbound]:
        return [parcel.outbound for parcel in self.memory.lines[where].parcels]

    def _said(self) -> list[Outbound]:
        """What was said here since; elsewhere only an owner is asked."""
        elsewhere = [where for where in list(self.memory.lines) if where not in (self.where, self.home)]
        assert not any(self._out(where) for where in elsewhere)
        asked = self._out(self.home) if self.home != self.where else []
        assert not any(isinstance(each, Reply) for each in asked)
        return self._out(self.where)[self.before[3] :]
