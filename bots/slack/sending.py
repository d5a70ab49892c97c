"""What we say in Slack: posts with buttons, prompts that close, and notices that one person sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import structlog

from bots.adapter import AnswerLost, ChatGone, Undeliverable, WrongToken
from bots.slack import wording
from bots.slack.calls import PAUSE, Calls, Refused
from bots.slack.drafts import DraftPosts
from bots.slack.history import Kind, Marked, mark, marked_in
from bots.slack.updates import CHOICE_ACTION, from_press
from bots.splitting import clean
from kernel.chat import Choice, ConversationId, Look, MessageRef, Notice, Prompt, PromptClosed, Reply
from kernel.errors import OperatorError, RetryLater
from kernel.ports import Clock

log = structlog.get_logger(__name__)

Block = dict[str, object]

_WRONG_TOKEN_PAUSE: Final = timedelta(minutes=1)
_ACTIONS_IN_BLOCK: Final = 25
_SECTION_LIMIT: Final = 3_000
_STYLES: Final = {Look.PLAIN: None, Look.GOOD: "primary", Look.DANGER: "danger"}

_BLOCKS_REFUSED: Final = frozenset(
    ["invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_blocks_too_many", "invalid_arguments"]
)
"""Slack cannot show it as Markdown: it gets plain text."""
_DELETED: Final = frozenset(["message_not_found", "thread_not_found"])
_CLOSED_TO_US: Final = frozenset(
    [
        "channel_not_found",
        "not_in_channel",
        "is_archived",
        "user_not_found",
        "user_disabled",
        "cannot_dm_bot",
        "messages_tab_disabled",
        "restricted_action",
        "restricted_action_read_only_channel",
    ]
)
"""Nothing that we say will be taken there until somebody lets us in again."""


class Sending:
    """Posts for one bot. `on_wrong_token` hears that the token stopped working: sending itself only waits then."""

    def __init__(self, calls: Calls, clock: Clock, on_wrong_token: Callable[[WrongToken], None]) -> None:
        self._calls = calls
        self._clock = clock
        self._on_wrong_token = on_wrong_token
        self.drafts = DraftPosts(calls, clock)
        """What is written in the place of the next message."""

    async def send(
        self, outbound: Reply | Prompt, part: str, *, key: str, is_doubtful: bool, is_last: bool
    ) -> MessageRef:
        """Post one part, with `key` beside it; a doubtful one is looked for by that key before it is posted again.

        A draft in the conversation becomes a reply. It is deleted before a prompt: that shall ring.
        Raises `ChatGone` where we may not speak any more.
        """
        place = outbound.conversation
        if not part.strip():
            raise Undeliverable("an empty message")
        seen: Sequence[Marked] | None = None
        can_look = True
        if is_doubtful:
            try:
                seen = await marked_in(place, self._calls, self._clock)
            except OperatorError as error:
                log.warning("cannot look for a doubtful post", error=str(error))
                can_look = False
        await self.drafts.remove(place, await self.drafts.strays(place, seen))
        if earlier := next((each for each in seen or () if each.kind is Kind.MESSAGE and each.key == key), None):
            await self.drafts.drop(place)
            return MessageRef(place, earlier.ts)
        buttons: list[Block] = []
        if isinstance(outbound, Prompt) and is_last:
            buttons = _buttons(outbound.token, outbound.choices)
        try:
            if draft := self.drafts.take(place):
                if isinstance(outbound, Reply) and await self._become(place, draft, part, key):
                    return MessageRef(place, draft)
                await self.drafts.remove(place, [draft])
            return MessageRef(place, await self._post(place, part, buttons, key))
        except AnswerLost as error:
            raise AnswerLost(str(error), can_look=can_look) from error
        except Refused as error:
            if error.code in _CLOSED_TO_US:
                raise ChatGone(str(error)) from error
            raise

    async def _become(self, place: ConversationId, draft: str, part: str, key: str) -> bool:
        """Change the draft into the message; False when it stays what it is and the message must be posted."""
        said: Block = {
            "channel": place.chat,
            "ts": draft,
            "text": wording.preview(part),
            "blocks": [wording.markdown_block(part)],
            "metadata": mark(Kind.MESSAGE, key),
        }
        try:
            await self._ask("chat.update", said)
        except AnswerLost:
            # It is the one or the other: the next try finds out by the marks.
            self.drafts.lost(place)
            raise
        except (RetryLater, Refused) as error:
            log.info("draft did not become the message", error=str(error))
            return False
        return True

    async def close(self, closed: PromptClosed, place: MessageRef) -> None:
        """Change the prompt at `place`; safe to repeat, so a lost answer is simply tried again."""
        target: Block = {
            "channel": place.conversation.chat,
            "ts": place.id,
            "text": wording.preview(closed.text, wording.UPDATE_TEXT_LIMIT) or "…",
        }
        buttons = _buttons(closed.token, closed.choices)
        fancy = [_markdown(wording.clipped_markdown(closed.text) or "…"), *buttons]
        try:
            try:
                await self._ask("chat.update", {**target, "blocks": fancy})
            except Refused as error:
                if error.code not in _BLOCKS_REFUSED:
                    raise
                plain = [*_sections(closed.text[: wording.MARKDOWN_LIMIT] or "…"), *buttons]
                await self._ask("chat.update", {**target, "blocks": plain}, is_again=True)
        except AnswerLost as error:
            raise RetryLater(str(error), PAUSE) from error
        except Refused as error:
            if error.code not in _DELETED:
                raise
            log.info("prompt is gone", code=error.code)

    async def notify(self, notice: Notice) -> None:
        """A message that only the person who pressed sees, where they pressed. Refusals are no errors."""
        place = from_press(notice.press) or notice.conversation
        said: Block = {
            "channel": place.chat,
            "user": notice.person,
            "text": wording.preview(notice.text),
            "thread_ts": place.thread or None,
        }
        try:
            await self._ask("chat.postEphemeral", said)
        except Refused as error:
            log.info("notice refused", code=error.code)

    async def _post(self, place: ConversationId, part: str, buttons: Sequence[Block], key: str) -> str:
        said: Block = {
            "channel": place.chat,
            "thread_ts": place.thread or None,
            "metadata": mark(Kind.MESSAGE, key),
            # A preview would make Slack fetch an address that a model wrote.
            "unfurl_links": False,
            "unfurl_media": False,
        }
        fancy = [wording.markdown_block(part), *buttons]
        try:
            posted = {**said, "text": wording.preview(part), "blocks": fancy}
            answer = await self._ask("chat.postMessage", posted, bucket=place.chat)
        except Refused as error:
            if error.code not in _BLOCKS_REFUSED:
                raise
            log.warning("markdown refused", code=error.code)
            plain = {**said, "text": wording.escaped(part), "mrkdwn": False}
            if buttons:
                plain |= {"text": wording.preview(part), "blocks": [*_sections(part), *buttons]}
            answer = await self._ask("chat.postMessage", plain, bucket=place.chat, is_again=True)
        ts = answer.get("ts")
        if not isinstance(ts, str):
            raise AnswerLost("chat.postMessage: an answer without ts")
        return ts

    async def _ask(
        self, method: str, arguments: Mapping[str, object], *, bucket: str = "", is_again: bool = False
    ) -> Mapping[str, object]:
        try:
            return await self._calls.ask(method, arguments, bucket=bucket, is_again=is_again)
        except WrongToken as error:
            # The message is not at fault and stays in the outbox; `run` tells the operator.
            self._on_wrong_token(error)
            raise RetryLater(str(error), _WRONG_TOKEN_PAUSE) from error


def _markdown(text: str) -> Block:
    return {"type": "markdown", "text": text}


def _sections(text: str) -> list[Block]:
    """`text` as plain text in blocks, no character read as anything."""
    plain = clean(text)
    pieces = [plain[at : at + _SECTION_LIMIT] for at in range(0, len(plain), _SECTION_LIMIT)]
    return [
        {"type": "section", "text": {"type": "plain_text", "text": piece, "emoji": False}}
        for piece in pieces
        if piece.strip()
    ]


def _buttons(token: str, choices: Sequence[Choice]) -> list[Block]:
    elements = [_button(number, token, choice) for number, choice in enumerate(choices)]
    rows = [elements[at : at + _ACTIONS_IN_BLOCK] for at in range(0, len(elements), _ACTIONS_IN_BLOCK)]
    return [{"type": "actions", "elements": row} for row in rows]


def _button(number: int, token: str, choice: Choice) -> Block:
    button: Block = {
        "type": "button",
        "action_id": f"{CHOICE_ACTION}{number}",
        "text": {"type": "plain_text", "text": wording.label(choice.label), "emoji": True},
        "value": f"{token}:{choice.id}",
    }
    style = _STYLES[choice.look]
    return button | {"style": style} if style else button
