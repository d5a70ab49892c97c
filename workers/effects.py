"""What a conversation's effects really do: ask the model, run a tool. They never touch the session."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from kernel.access import Standing
from kernel.approvals import cards
from kernel.changes import Changes
from kernel.chat import ConversationId
from kernel.errors import LeaseLost, ModelError, ProviderFailed, ProviderRefused, RetryLater
from kernel.loop import CallModel, Effect, RunCall, read_reply
from kernel.messages import Concurrency, Message, ToolResult
from kernel.patience import patiently
from kernel.ports import Blobs, Clock, Silence, Silences, Spending, Spent, Unanswered
from kernel.resolving import NOT_ALLOWED, resolved
from kernel.session import Ending, Gate, Mode, Turn
from kernel.session_events import Broken, ModelReplied, Returned, SessionEvent
from kernel.tools import BoundCall, Run, ToolContext, ToolOutcome, ToolRegistry, capped
from kernel.usage import day_of, spent
from kernel.workspace import Workspace
from workers.asking import Asker
from workers.place import Place

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Done:
    """An effect is over: the event it comes to, and what is committed with it."""

    effect: Effect
    event: SessionEvent
    changes: Changes = Changes()


class Effects:
    """Performs effects for all conversations of one worker process."""

    def __init__(
        self,
        *,
        asker: Asker | None,
        registry: ToolRegistry,
        blobs: Blobs,
        clock: Clock,
        new_id: Callable[[], str],
        zone: Callable[[ConversationId], Awaitable[str]],
        standing: Callable[[str, ConversationId], Awaitable[Standing]],
        silences: Silences,
        mask: Callable[[str], str] = str,
    ) -> None:
        """`standing` says who a person is in a conversation just now.

        `mask` takes the secrets of this process out of what tools give, before anybody reads it.
        """
        self._asker = asker
        self.registry = registry
        self._blobs = blobs
        self._clock = clock
        self._new_id = new_id
        self._zone = zone
        self._standing = standing
        self._silences = silences
        self._mask = mask

    def written(self, turn: str) -> str:
        """What people have seen of the answer that the turn is writing; empty for none."""
        return self._asker.written(turn) if self._asker else ""

    async def call_model(
        self, effect: CallModel, turn: Turn, history: Sequence[Message], first: int, place: Place
    ) -> Done:
        """Ask the model for the turn's next message. `history` begins at absolute message number `first`."""
        if self._asker is None:
            return Done(effect, Broken(turn.id, Ending.REFUSED))
        began = self._clock.boottime()
        try:
            reply = await self._asker.ask(effect, turn, history, first, place)
        except ProviderRefused as error:
            log.error("model refused", provider=self._asker.provider.name, why=str(error))
            await self._note_failure(place)
            return Done(effect, Broken(turn.id, Ending.REFUSED))
        except ProviderFailed as error:
            log.warning("model failed", provider=self._asker.provider.name, why=str(error))
            await self._note_failure(place)
            return Done(effect, Broken(turn.id, Ending.FAILED))
        event = read_reply(turn, effect.effect, reply, self.registry, self._new_id)
        if event.gates:
            may = await self._standing_of(turn, place)
            looked_up = partial(resolved, event, turn, place.conversation, self.registry, self._new_id, may)
            event = self._masked(await patiently(self._clock, looked_up))
        event = replace(event, took_ms=self._ms_since(began))
        by = reply.by or self._asker.provider.name
        log.info("model answered", provider=by, calls=len(event.gates), tokens=reply.usage.output)
        # Calls of a reply that was to be the last words never wait for anybody.
        waiting = event if turn.top.mode is not Mode.CLOSE else replace(event, gates=())
        asked = cards(waiting, place.conversation, self.registry, place.language, self._clock.now())
        used = spent(by, reply.usage)
        event = replace(event, tokens=used.tokens, micro_dollars=used.micro_dollars)
        return Done(effect, event, asked + self._spending(used, turn, place))

    async def _standing_of(self, turn: Turn, place: Place) -> Standing:
        """Who the one that the turn works for is just now."""
        return await patiently(self._clock, partial(self._standing, turn.requester, place.conversation))

    async def _note_failure(self, place: Place) -> None:
        """For who asks why there was no answer."""
        failed = Unanswered(self._clock.now(), Silence.MODEL_FAILED, "")
        await patiently(self._clock, lambda: self._silences.note(place.conversation, failed))

    def _masked(self, event: ModelReplied) -> ModelReplied:
        """The event with the secrets taken out of what looking up arguments has answered already."""
        gates = tuple(
            replace(gate, result=replace(gate.result, text=self._mask(gate.result.text))) if gate.result else gate
            for gate in event.gates
        )
        return replace(event, gates=gates)

    def _spending(self, used: Spent, turn: Turn, place: Place) -> Changes:
        """What the call used up, when its provider counted it."""
        day = day_of(self._clock.now(), place.zone)
        return Changes(spendings=(Spending(turn.requester, day, used),) if used.tokens else ())

    async def run_call(self, effect: RunCall, turn: Turn, gate: Gate, place: Place, permit: Callable[[], bool]) -> Done:
        """Run the call's tool, at most once unless it is READ_ONLY: `permit` is asked last before it starts.

        Raises `LeaseLost` when the permit is void. A run that times out may have taken effect, and its result says so.
        """
        try:
            bound = self.registry.within(turn.reach_of(gate)).bind(gate.call)
        except ModelError as error:
            return _returned(effect, f"Not run: {error}", is_error=True)
        if bound.digest != gate.digest:
            return _returned(effect, "Not run: the tool has changed since the call was made.", is_error=True)
        run = bound.tool.run
        if run is None:
            return _returned(effect, "Not run: this tool starts a sub-task.", is_error=True)
        if await self._standing_of(turn, place) < bound.tool.needs:
            return _returned(effect, NOT_ALLOWED, is_error=True)
        workspace = Workspace(place.files, self._blobs)
        now = self._clock.now()
        context = ToolContext(
            conversation=place.conversation,
            requester=turn.requester,
            language=place.language,
            # Nothing has been run yet that may be in doubt: the store may be waited for.
            zone=await patiently(self._clock, partial(self._zone, place.conversation)),
            now=now,
            deadline=now + bound.tool.timeout,
            call=f"{turn.id}:{gate.call.id}:{effect.claim}",
            workspace=workspace,
            is_private=turn.is_private,
        )
        if bound.concurrency is not Concurrency.READ_ONLY and not permit():
            raise LeaseLost("frozen past the lease: nothing was run")
        began = self._clock.boottime()
        done = await self._run(effect, bound, run, context)
        assert isinstance(done.event, Returned)
        return replace(done, event=replace(done.event, took_ms=self._ms_since(began)))

    async def _run(self, effect: RunCall, bound: BoundCall, run: Run, context: ToolContext) -> Done:
        try:
            async with asyncio.timeout(bound.tool.timeout.total_seconds()):
                outcome = await run(bound.arguments, context)
        except TimeoutError:
            return _returned(effect, f"It took too long and was broken off{_maybe(bound)}.", is_error=True)
        except ModelError as error:
            return _returned(effect, self._mask(str(error)), is_error=True)
        except RetryLater:
            return _returned(effect, f"Our store was away while it ran{_maybe(bound)}.", is_error=True)
        except Exception:  # The boundary of a tool's run: whatever it does, the turn goes on.
            log.exception("tool failed", tool=bound.call.name)
            return _returned(effect, f"The tool failed{_maybe(bound)}.", is_error=True)
        return _outcome(effect, bound, replace(outcome, text=self._mask(outcome.text)), context.workspace)

    def _ms_since(self, began: float) -> int:
        return int((self._clock.boottime() - began) * 1000)


def failed(effect: RunCall) -> Done:
    """What comes of a run that broke in a way nobody foresaw."""
    return _returned(effect, "The call failed: it may have taken effect.", is_error=True)


def stopped(effect: RunCall) -> Done:
    """What comes of a claimed run that was cancelled in the middle."""
    return _returned(effect, "Stopped while it ran: it may have taken effect.", is_error=True)


def _outcome(effect: RunCall, bound: BoundCall, outcome: ToolOutcome, workspace: Workspace) -> Done:
    result = ToolResult(effect.call, capped(outcome.text) or "(nothing)", outcome.is_error)
    log.info("tool ran", tool=bound.call.name, is_error=outcome.is_error)
    changes = outcome.changes + Changes(files=workspace.changes)
    return Done(effect, Returned(effect.turn, effect.call, effect.claim, result), changes)


def _maybe(bound: BoundCall) -> str:
    return "" if bound.concurrency is Concurrency.READ_ONLY else ": it may have taken effect"


def _returned(effect: RunCall, text: str, *, is_error: bool) -> Done:
    result = ToolResult(effect.call, capped(text), is_error)
    return Done(effect, Returned(effect.turn, effect.call, effect.claim, result))
