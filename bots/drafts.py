"""Showing what a turn writes while it writes; the message that follows takes its place.

What a person sees of one conversation (a call is one `show_draft` or `drop_draft`):

    the store says                        and it shows        so
    -----------------------------------   -----------------   -----------------------------------------
    a text                                another, or none    the text is shown, once a `draft_every`
    no text, a turn works                 a text              it is taken back
    nothing: the turn's message was       a text              dropped, unless our own message ended it
      pulled, or its writer is gone
    anything, while a message is sent     -                   nothing: that message comes first
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import structlog

from bots.adapter import Adapter, HasDrafts, Undeliverable
from bots.masking import Mask
from bots.moves import Moves
from bots.waiting import first_of
from kernel.chat import ConversationId, Draft
from kernel.errors import RetryLater, ZclawError
from kernel.patience import patiently
from kernel.ports import Clock, Outbox

log = structlog.get_logger(__name__)

LOOK_AGAIN = timedelta(seconds=5)
"""How long a missed wake-up can cost."""
_LOOK_EVERY = timedelta(seconds=0.25)
"""However many turns write: one look finds what all of them wrote."""
_REFUSED_PAUSE = timedelta(minutes=1)
_KEPT = timedelta(minutes=2)
"""A line that shows nothing is forgotten; by then the store holds no older draft either."""
_CALL_TIMEOUT_S = 5.0
_LET_FINISH_S = 1.0
"""How long a message waits for a draft on its way, so that the draft cannot arrive behind it."""
_PUT_AWAY_S = 3.0
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Line:
    """What is shown in one conversation; no text: nothing."""

    turn: str
    sequence: int
    text: str
    not_before: datetime
    """When the next call may be made."""
    drop_not_before: datetime = _NEVER
    """When it may be dropped; a limit on what is shown is none on that."""
    since: datetime = _NEVER
    """When the platform was last asked to show a text of this conversation, and did not say that it must wait."""


class Drafts:
    """Shows the live drafts of one platform; does nothing where the platform has none (`HasDrafts`)."""

    def __init__(self, adapter: Adapter, outbox: Outbox, clock: Clock, mask: Mask, moves: Moves) -> None:
        self._platform = adapter.platform
        self._adapter = adapter if isinstance(adapter, HasDrafts) else None
        self._outbox = outbox
        self._clock = clock
        self._mask = mask
        self._moves = moves
        self._lines: dict[ConversationId, _Line] = {}
        self._calls: dict[ConversationId, asyncio.Task[None]] = {}
        self._silent: set[ConversationId] = set()
        self._spoken: set[ConversationId] = set()
        """Had a message since the last look began: what the look says of them may be older."""
        self.woken = asyncio.Event()
        """Set by whoever hears that drafts have changed."""

    @asynccontextmanager
    async def silenced(self, conversation: ConversationId) -> AsyncIterator[None]:
        """While a message is sent: no draft is shown, and none is on its way any more."""
        self._silent.add(conversation)
        try:
            if call := self._calls.get(conversation):
                await asyncio.wait([call], timeout=_LET_FINISH_S)
                call.cancel()
                await asyncio.wait([call])
            yield
        finally:
            self._silent.discard(conversation)
            self._spoken.add(conversation)
            self.woken.set()

    def spoke(self, conversation: ConversationId) -> None:
        """A message of ours went out: the adapter has put it in the place of the draft."""
        if line := self._lines.get(conversation):
            self._lines[conversation] = replace(line, text="")

    async def run(self) -> None:
        """Show drafts until cancelled; then none stays behind."""
        if self._adapter is None:
            return
        try:
            async with asyncio.TaskGroup() as calls:
                while True:
                    await self._look(self._adapter, calls)
        finally:
            await self._put_away(self._adapter)

    async def _look(self, adapter: HasDrafts, calls: asyncio.TaskGroup) -> None:
        self.woken.clear()
        self._spoken.clear()
        drafts = await patiently(self._clock, lambda: self._outbox.drafts(self._platform))
        now = self._clock.now()
        live = {draft.conversation: replace(draft, text=self._mask(draft.text)) for draft in drafts}
        self._lines = {c: line for c, line in self._lines.items() if line.text or line.not_before > now - _KEPT}
        waits = [now + LOOK_AGAIN]
        changeable = {*live, *self._lines} - self._silent - self._spoken - set(self._calls)
        # Where there is not room for all, each gets its turn.
        for conversation in sorted(changeable, key=self._last_shown):
            line = self._lines.get(conversation)
            draft = live.get(conversation)
            if not _differs(line, draft):
                continue
            if line is not None and (at := line.drop_not_before if draft is None else line.not_before) > now:
                waits.append(at)
            else:
                self._start(calls, conversation, self._turn_to(adapter, conversation, line, draft))
        await first_of(self.woken.wait(), self._clock.sleep_until(min(waits)))
        await self._clock.sleep_until(now + _LOOK_EVERY)

    def _last_shown(self, conversation: ConversationId) -> datetime:
        line = self._lines.get(conversation)
        return line.since if line is not None else _NEVER

    def _start(
        self, calls: asyncio.TaskGroup, conversation: ConversationId, call: Coroutine[object, object, None]
    ) -> None:
        def ended(_: asyncio.Task[None]) -> None:
            self._calls.pop(conversation, None)
            self.woken.set()

        task = calls.create_task(call)
        self._calls[conversation] = task
        task.add_done_callback(ended)

    async def _turn_to(
        self, adapter: HasDrafts, conversation: ConversationId, line: _Line | None, draft: Draft | None
    ) -> None:
        if draft is None:
            await self._drop(adapter, conversation)
        else:
            await self._show(adapter, draft, line)

    async def _show(self, adapter: HasDrafts, draft: Draft, before: _Line | None) -> None:
        began = self._clock.now()
        line = _Line(draft.turn, draft.sequence, draft.text, began + adapter.draft_every, since=began)
        if before is not None and before.turn == draft.turn:
            line = replace(line, sequence=max(draft.sequence, before.sequence))
        # Before the answer: what is cancelled or lost on its way may be on the platform.
        self._lines[draft.conversation] = line
        try:
            async with asyncio.timeout(_CALL_TIMEOUT_S):
                await adapter.show_draft(replace(draft, conversation=self._moves.there(draft.conversation)))
        except RetryLater as limit:
            log.debug("drafts rest", pause_s=limit.after.total_seconds())
            pause = max(limit.after, adapter.draft_every)
            self._lines[draft.conversation] = replace(
                before or replace(line, text="", since=_NEVER), not_before=began + pause
            )
        except Undeliverable as refusal:
            log.debug("draft refused", why=str(refusal))
            self._lines[draft.conversation] = replace(line, not_before=began + _REFUSED_PAUSE)
        except (ZclawError, TimeoutError) as error:
            log.debug("draft lost", why=str(error) or type(error).__name__)

    async def _drop(self, adapter: HasDrafts, conversation: ConversationId) -> None:
        try:
            async with asyncio.timeout(_CALL_TIMEOUT_S):
                await adapter.drop_draft(self._moves.there(conversation))
        except RetryLater as limit:
            line = self._lines[conversation]
            self._lines[conversation] = replace(line, drop_not_before=self._clock.now() + limit.after)
        except (ZclawError, TimeoutError) as error:
            log.debug("draft not dropped", why=str(error) or type(error).__name__)
            line = self._lines[conversation]
            self._lines[conversation] = replace(line, drop_not_before=self._clock.now() + adapter.draft_every)
        else:
            self.spoke(conversation)

    async def _put_away(self, adapter: HasDrafts) -> None:
        """Told to stop: nobody would finish what is shown now. Whoever sends just now puts it away by that."""
        shown = [c for c, line in self._lines.items() if line.text and c not in self._silent]
        drops = [asyncio.ensure_future(self._drop(adapter, conversation)) for conversation in shown]
        if drops:
            _, late = await asyncio.wait(drops, timeout=_PUT_AWAY_S)
            for drop in late:
                drop.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def _differs(line: _Line | None, draft: Draft | None) -> bool:
    """Whether what the store says is another thing than what is shown, and no older one."""
    shown = line.text if line is not None else ""
    if draft is None or not draft.text:
        # The sign of work alone has no number; it stays when the text before it has lapsed.
        return bool(shown)
    is_older = line is not None and line.turn == draft.turn and draft.sequence < line.sequence
    return draft.text != shown and not is_older
