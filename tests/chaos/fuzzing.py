"""Updates as no platform sends them: real ones, with parts of them taken out, exchanged, blown up or made nonsense."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from tests.bots.slack import fake as slack_fake
from tests.bots.slack.fake import BOT_USER, TEAM
from tests.bots.telegram.fake_api import BOT
from tests.chaos.repeating import Json

PEOPLE = 40
"""So many write, each in a chat of their own."""
HUGE_CHARS = 5_000_000
HUGE_EVERY = 400
_ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 7, 2**31, 2**53, 2**63, -(2**63), 10**30, 10**400, 1.5, -0.0, 1e308),
    *("", " ", "\ud800", "a\udfffb", "\x00", "\u202e", "🎩" * 50, "x" * 10_000, "-1", "1e9", "null", "/stop", "@"),
    *([], {}, [None], [[]], {"id": None}, {"": ""}, ["\ud83c"], [{}] * 50),
]


def _nested(depth: int) -> Any:
    value: Any = 0
    for number in range(depth):
        value = [value] if number % 2 else {"text": value}
    return value


class Mutator:
    """Makes nonsense of JSON, always the same of one `dice`; leaves most of it so that it is read for a while."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self._made = 0
        self._before: list[Any] = []

    def of(self, seed: Json) -> Any:
        """A few changes of `seed`, or something that was made before."""
        self._made += 1
        if self._before and self.dice.random() < 0.05:
            return self.dice.choice(self._before)
        made: Any = copy.deepcopy(seed)
        for _ in range(self.dice.choice([1, 1, 1, 2, 2, 4])):
            made = self._changed(made)
        if self._made % HUGE_EVERY == 0:
            made = self._put(made, "x" * HUGE_CHARS)
        else:
            self._before = [*self._before[-50:], made]
        return made

    def _changed(self, whole: Any) -> Any:
        places = list(_places(whole))
        if not places or self.dice.random() < 0.02:
            return self._odd()
        holder, key = self.dice.choice(places)
        match self.dice.randrange(7):
            case 0:
                del holder[key]
            case 1:
                other, name = self.dice.choice(places)
                holder[key] = copy.deepcopy(other[name])
            case 2:
                holder[key] = [holder[key], holder[key]]
            case 3 if isinstance(holder, dict):
                holder[self.dice.choice(["type", "text", "id", "chat", "from", "user", "ts", "event", "?"])] = (
                    self._odd()
                )
            case 4 if isinstance(holder[key], str):
                at = self.dice.randint(0, len(holder[key]))
                holder[key] = holder[key][:at] + self.dice.choice(["\ud800", "\x00", "<@", ".", "9" * 40, "\u202e"])
            case 5 if isinstance(holder[key], int):
                holder[key] = self.dice.choice([-holder[key], holder[key] * 10**12, str(holder[key]), [holder[key]]])
            case _:
                holder[key] = self._odd()
        return whole

    def _odd(self) -> Any:
        return _nested(150) if self.dice.random() < 0.03 else copy.deepcopy(self.dice.choice(_ODD))

    def _put(self, whole: Any, value: Any) -> Any:
        texts = [(holder, key) for holder, key in _places(whole) if isinstance(holder[key], str)]
        if not texts:
            return value
        holder, key = self.dice.choice(texts)
        holder[key] = value
        return whole


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything in it, by what holds it; not deeper than a real update."""
    waiting = [(value, 0)]
    while waiting:
        holder, depth = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            yield holder, key
            if depth < 8:
                waiting.append((holder[key], depth + 1))


def telegram_seeds(number: int) -> list[Json]:
    """Real updates of every kind, of one of the people."""
    who = 900_000 + number % PEOPLE
    user = {"id": who, "is_bot": False, "first_name": "Z", "language_code": "zh"}
    private = {"id": who, "type": "private", "first_name": "Z"}
    group = {"id": -who, "type": "supergroup", "title": "office", "is_forum": True}
    file = {"file_id": f"f{number}", "file_unique_id": "u", "file_size": 100}
    photo = {"photo": [file | {"width": 9, "height": 9}, file | {"width": 90, "height": 90}]}
    base = {"message_id": number, "date": 1796000400, "from": user}
    one, many = base | {"chat": private}, base | {"chat": group}
    name = {"entities": [{"type": "mention", "offset": 0, "length": 9}]}
    earlier = {"message_id": 1, "date": 1, "chat": group, "from": BOT, "text": "earlier"}
    origin = {"type": "user", "date": 1, "sender_user": user}
    messages: list[Json] = [
        one | {"text": "hello"},
        one | {"text": "/help", "entities": [{"type": "bot_command", "offset": 0, "length": 5}]},
        one | photo | {"caption": "look", "media_group_id": f"g{number}"},
        one | {"voice": file | {"duration": 1, "mime_type": "audio/ogg"}},
        one | {"document": file | {"file_name": "a.pdf", "mime_type": "application/pdf"}},
        one | {"sticker": file | {"type": "regular", "width": 1, "height": 1, "is_animated": False, "is_video": False}},
        one | {"location": {"latitude": 1.0, "longitude": 2.0}},
        one | {"contact": {"phone_number": "1", "first_name": "Q"}},
        one | {"text": "fwd", "forward_origin": origin},
        many | {"text": "@zclawbot hello"} | name,
        many | {"text": "hello", "reply_to_message": earlier},
        many | {"text": "hello", "is_topic_message": True, "message_thread_id": 5},
        many | {"text": "x", "quote": {"text": "q", "position": 0}, "reply_to_message": earlier},
        many | {"migrate_to_chat_id": -who - 5_000_000},
        many | {"new_chat_members": [user]},
        many | {"sender_chat": group, "text": "in its name"},
    ]
    shown = {"message_id": 8, "date": 1796000400, "chat": private, "text": "card"}
    pressed = {"id": str(number), "from": user, "chat_instance": "1", "message": shown, "data": "tok:done"}
    member = {"status": "member", "user": BOT}
    changed = {"chat": group, "from": user, "date": 1796000400, "old_chat_member": member, "new_chat_member": member}
    others: list[Json] = [
        {"callback_query": pressed},
        {"my_chat_member": changed | {"new_chat_member": {"status": "kicked", "user": BOT, "until_date": 0}}},
        {"edited_message": one | {"text": "hello", "edit_date": 1796000401}},
        {"channel_post": base | {"chat": group | {"type": "channel"}, "text": "news"}},
        {"poll_answer": {"poll_id": "1", "user": user, "option_ids": [0]}},
    ]
    return [{"update_id": number} | each for each in ({"message": said} for said in messages)] + [
        {"update_id": number} | each for each in others
    ]


def slack_seeds(number: int, files: str) -> list[tuple[str, Json]]:
    """Real payloads of every kind, each with the type of its envelope; files lie at the address `files`."""
    user, ts = f"UZ{number % PEOPLE}", f"1796000400.{number % 1_000_000:06}"
    dm, channel = f"DZ{number % PEOPLE}", f"CZ{number % PEOPLE}"
    inside = {"channel": channel, "channel_type": "channel", "user": user}
    mention = f"<@{BOT_USER}> hello"
    file = {"id": "F1", "name": "a.pdf", "mimetype": "application/pdf", "size": 9, "url_private_download": files}
    events = [
        slack_fake.event(ts, "hello", user=user, channel=dm),
        slack_fake.event(ts, "!help", user=user, channel=dm),
        slack_fake.event(ts, "look", user=user, channel=dm, subtype="file_share", files=[file, file]),
        slack_fake.event(ts, mention, **inside),
        slack_fake.event(ts, mention, **inside, type="app_mention"),
        slack_fake.event(ts, mention, **inside, thread_ts=slack_fake.ROOT),
        slack_fake.event(ts, "hello", **inside, thread_ts=slack_fake.ROOT),
        slack_fake.event(ts, "", **inside, attachments=[{"is_share": True, "text": "shared"}]),
        slack_fake.event(ts, "beep", channel=dm, user=user, subtype="bot_message", bot_id="B9", username="b"),
        slack_fake.event(ts, "", channel=dm, user=user, subtype="message_changed", message={"text": "new", "ts": ts}),
        slack_fake.told("user_change", user=slack_fake.person(user)),
        slack_fake.told("channel_rename", channel={"id": channel, "name": "lab"}),
        slack_fake.told("channel_archive", channel=channel),
        slack_fake.told("member_joined_channel", channel=channel, user=BOT_USER, inviter=user),
        slack_fake.told("channel_id_changed", old_channel_id=channel, new_channel_id=f"CY{number}"),
    ]
    press = slack_fake.press(at=ts, user={"id": user, "team_id": TEAM}, channel={"id": dm})
    slash = slack_fake.slash("status", f"1.{number}.ab", user_id=user, channel_id=dm)
    told = [("events_api", event | {"event_id": f"EvZ{number}"}) for event in events]
    return [*told, ("interactive", press), ("slash_commands", slash)]


def raw_request(dice: random.Random, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """What somebody might write to our port: a request with its lines, lengths and bytes in disorder."""
    lines = [f"{name}: {value}" for name, value in headers.items()]
    method, target, length, version = "POST", path, str(len(body)), "HTTP/1.1"
    match dice.randrange(12):
        case 0:
            method = dice.choice(["GET", "PUT", "BREW", "", "post", "POST POST", "\x00"])
        case 1:
            target = dice.choice(
                ["/", path + "/", path + "?a=%ff", "*", "//", "/" + "a" * 20_000, "/%00", "/../metrics"]
            )
        case 2:
            length = dice.choice(["-1", "1", "0", "x", str(10**12), "5, 5", "+7", " "])
        case 3:
            lines.append("Transfer-Encoding: " + dice.choice(["chunked", "gzip", "chunked, chunked", "x"]))
        case 4:
            lines.append("Content-Encoding: " + dice.choice(["gzip", "deflate", "br", "identity", "zstd", "?"]))
        case 5:
            lines += [dice.choice(lines)] * dice.choice([1, 3, 500])
        case 6:
            lines.append("X-Big: " + "a" * dice.choice([5_000, 20_000, 200_000]))
        case 7:
            version = dice.choice(["HTTP/1.0", "HTTP/2", "HTTP/9.9", "http/1.1", ""])
        case 8:
            lines.append(
                dice.choice(["Expect: 100-continue", "Upgrade: websocket", ": x", "a b: c", "no colon", "é: é"])
            )
        case 9:
            lines = [line for line in lines if dice.random() < 0.5]
        case 10:
            body = dice.choice([b"", b"{" * 20_000, b"[" * 100_000, b"\xff\xfe\x00", body[: len(body) // 2], body * 3])
            length = str(len(body))
        case _:
            pass
    lines += [f"Content-Length: {length}", "Host: x"]
    whole = bytearray(f"{method} {target} {version}\r\n".encode() + "\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    if dice.random() < 0.3 and whole:
        for _ in range(dice.randint(1, 5)):
            whole[dice.randrange(len(whole))] = dice.randrange(256)
    return bytes(whole)


def to_bytes(value: Any) -> bytes:
    """As JSON; half a pair of surrogates stays an escape."""
    return json.dumps(value).encode()
