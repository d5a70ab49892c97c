"""The post in which an answer is written, until the answer takes its place (docs/decisions/0012).

A draft is an ordinary post of ours, marked as a draft, changed by `chat.update`. Who knows of it:

    the post                                      becomes the answer, or goes
    -------------------------------------------   --------------------------------------------------------------
    ours, and we send the answer                  changed into it; where that fails, deleted before it is posted
    ours, and another process sends               deleted by that process before, and by us when we hear of it
    its process died, or never heard Slack's      found by its mark and deleted before the next message of ours
      answer
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

import structlog

from bots.adapter import AnswerLost
from bots.layout import width_of
from bots.slack import wording
from bots.slack.calls import Calls, Refused
from bots.slack.history import Kind, Marked, mark, marked_in
from kernel.chat import ConversationId, Draft
from kernel.errors import OperatorError, RetryError, RetryLater
from kernel.ports import Clock

log = structlog.get_logger(__name__)

DRAFT_EVERY: Final = timedelta(seconds=2)
_WORTH_COLUMNS: Final = 80
"""Shorter drafts are not shown: a post makes a phone ring, and most words before tools are short."""
_YOUNG: Final = timedelta(minutes=30)
"""As long as a turn may take: one that our predecessor showed can end in this time."""
_MAY_LAND: Final = timedelta(seconds=15)
"""After that, what another process had on its way is there."""
_LOOK_PATIENCE_S: Final = 1.5
_MAX_HEARD: Final = 10_000
_GONE: Final = frozenset(["message_not_found", "thread_not_found", "channel_not_found"])


class DraftPosts:
    """The draft posts of one bot."""

    def __init__(self, calls: Calls, clock: Clock) -> None:
        self._calls = calls
        self._clock = clock
        self._placed: dict[ConversationId, str] = {}
        self._heard: OrderedDict[ConversationId, str] = OrderedDict()
        """Where we took in what a person said, and the turn that it came to: of several processes one shows it."""
        self._born = clock.now()
        self._visited: set[ConversationId] = set()
        self._unsure: dict[ConversationId, datetime] = {}
        """Where there may be a post that we do not know, and since when there is no newer one."""

    def heard(self, conversation: ConversationId) -> None:
        """A person spoke there, and this process heard it: it shows the draft."""
        self._heard[conversation] = ""
        self._heard.move_to_end(conversation)
        if len(self._heard) > _MAX_HEARD:
            self._heard.popitem(last=False)

    async def show(self, draft: Draft) -> None:
        """See `HasDrafts.show_draft`."""
        place = draft.conversation
        if not (place.chat.startswith("D") or place.thread):
            # At the top of a channel all its people would see it come and go.
            return
        if not draft.text:
            await self.drop(place)
        elif place in self._placed:
            await self._change(place, draft)
        elif width_of(draft.text) >= _WORTH_COLUMNS:
            if self._is_ours(draft):
                await self._place(place, draft)
            else:
                self._unsure[place] = self._clock.now()

    async def drop(self, place: ConversationId) -> None:
        """See `HasDrafts.drop_draft`."""
        if ts := self.take(place):
            await self.remove(place, [ts])

    def take(self, place: ConversationId) -> str:
        """The post that shows a draft there, which is the caller's from now on; empty when we know of none."""
        return self._placed.pop(place, "")

    async def strays(self, place: ConversationId, seen: Iterable[Marked] | None = None) -> list[str]:
        """Draft posts there that we have lost sight of, and never one in `take`.

        `seen` is what a look just found; without it Slack is asked only when there is a reason, and a look that fails
        finds nothing: a message is not held up for this, and the next one looks again.
        """
        if seen is None:
            if not self._must_look(place):
                return []
            try:
                # Where we know that another process writes, an answer would stand behind its draft.
                no_reason = place not in self._unsure
                seen = await marked_in(place, self._calls, self._clock, _LOOK_PATIENCE_S, is_draft=no_reason)
            except (RetryError, OperatorError) as error:
                log.info("cannot look for drafts", error=str(error))
                return []
        self._visited.add(place)
        if self._unsure.get(place, self._clock.now()) < self._clock.now() - _MAY_LAND:
            del self._unsure[place]
        own = self._placed.get(place)
        return [each.ts for each in seen if each.kind is Kind.DRAFT and each.ts != own]

    async def remove(self, place: ConversationId, posts: Iterable[str]) -> None:
        """Delete these; what cannot be deleted now is found again before the next message."""
        for ts in posts:
            try:
                with self._in_doubt(place):
                    await self._calls.ask("chat.delete", {"channel": place.chat, "ts": ts})
            except RetryError as error:
                log.info("draft not deleted", error=str(error))
                self.lost(place)
            except Refused as error:
                if error.code not in _GONE:
                    log.warning("draft not deleted", code=error.code)

    def lost(self, place: ConversationId) -> None:
        """There may be a draft post there that we do not know."""
        self._unsure[place] = self._clock.now()

    def _is_ours(self, draft: Draft) -> bool:
        turn = self._heard.get(draft.conversation)
        if turn is None or turn not in ("", draft.turn):
            return False
        self._heard[draft.conversation] = draft.turn
        return True

    def _must_look(self, place: ConversationId) -> bool:
        is_new = place not in self._visited and self._clock.now() < self._born + _YOUNG
        return is_new or place in self._unsure

    async def _place(self, place: ConversationId, draft: Draft) -> None:
        await self.remove(place, await self.strays(place))
        said = _said(draft) | {"thread_ts": place.thread or None, "unfurl_links": False, "unfurl_media": False}
        with self._in_doubt(place):
            answer = await self._calls.ask("chat.postMessage", said, bucket=place.chat, is_draft=True)
        ts = answer.get("ts")
        if not isinstance(ts, str):
            self.lost(place)
            raise AnswerLost("chat.postMessage: an answer without ts")
        self._placed[place] = ts

    async def _change(self, place: ConversationId, draft: Draft) -> None:
        # Ours again only when the answer is known: a change still on its way would overwrite the answer.
        ts = self.take(place)
        try:
            with self._in_doubt(place):
                await self._calls.ask("chat.update", _said(draft) | {"ts": ts}, is_draft=True)
        except RetryLater:
            self._placed[place] = ts
            raise
        except Refused as error:
            if error.code not in _GONE:
                self._placed[place] = ts
                raise
        else:
            self._placed[place] = ts

    @contextmanager
    def _in_doubt(self, place: ConversationId) -> Iterator[None]:
        """A call that may be cancelled or lost, and then there may be a post that we do not know."""
        before = self._unsure.get(place)
        self.lost(place)
        try:
            yield
        except (RetryLater, Refused):
            self._restore(place, before)
            raise
        self._restore(place, before)

    def _restore(self, place: ConversationId, before: datetime | None) -> None:
        if before is None:
            self._unsure.pop(place, None)
        else:
            self._unsure[place] = before


def _said(draft: Draft) -> dict[str, object]:
    """Of a text that fills messages, the one that is being written."""
    text = f"{wording.parts_of(draft.text)[-1]} …"
    return {
        "channel": draft.conversation.chat,
        "text": wording.preview(text),
        "blocks": [wording.markdown_block(text)],
        "metadata": mark(Kind.DRAFT, draft.turn),
    }
