"""Several models in the order in which they are wanted: the next one answers while one is away (decision 0011).

    a model that       a call to it
    ---------------    --------------------------------------------------------------------------------------------
    works              is made when no model before it in the order works
    has failed         comes last for a rest that doubles with each failure in a row, half a minute to ten
    has rested         is made by one conversation at a time: when it answers, all go back to it
    refuses us (key)   is not made for ten minutes; the operator reads why

A tool loop that is under way stays with the model that thinks in it for as long as that one works. Kept parts never go
to another model: each provider leaves out what is not its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from kernel.errors import ProviderFailed, ProviderRefused
from kernel.messages import ModelReply, ModelRequest, Opaque
from kernel.ports import Clock, Provider
from kernel.providers.status import Refusal
from kernel.providers.tries import Ear, Patience, Persistence

log = structlog.get_logger(__name__)

OF_ONE = Patience(tries=2, silence=timedelta(seconds=60))
"""How long one model of several is borne with in a round: one hiccup."""
OF_ALL = Patience(tries=3, first_pause=timedelta(seconds=30), longest_pause=timedelta(seconds=90))
"""Rounds through all of them: six tries a model, more than two minutes together, as with one model alone."""
FIRST_REST = timedelta(seconds=30)
LONGEST_REST = timedelta(minutes=10)


@dataclass(slots=True, eq=False)
class _Member:
    provider: Provider
    failures: int = 0
    """In a row."""
    rests_until: datetime | None = None
    has_refused: bool = False
    """Rests because it does not want us."""
    is_probed: bool = False
    """Has rested, and one call finds out whether it works again."""

    def is_open(self, now: datetime) -> bool:
        """A call to it may be made now."""
        return self.rests_until is None or (now >= self.rests_until and not self.is_probed)


class Failover:
    """A `Provider` over several, each made with `OF_ONE`. `name` is that of the first; a reply says who it is `by`."""

    def __init__(
        self,
        providers: Sequence[Provider],
        *,
        clock: Clock,
        random: random.Random,
        patience: Patience = OF_ALL,
    ) -> None:
        self._members = [_Member(provider) for provider in providers]
        self._clock = clock
        self._persistence = Persistence(self.name, patience, clock, random)
        self._answering = self._members[0]

    @property
    def name(self) -> str:
        """Of the model that is wanted first."""
        return self._members[0].provider.name

    @property
    def models(self) -> tuple[str, ...]:
        """See `SeveralModels.models`."""
        return tuple(member.provider.name for member in self._members)

    def answering(self, wanted: str = "") -> str:
        """See `SeveralModels.answering`."""
        members, now = self._in_order(wanted), self._clock.now()
        return next((each for each in members if each.is_open(now)), members[0]).provider.name

    async def reply(self, request: ModelRequest, delta: Callable[[str], None] | None = None) -> ModelReply:
        """See `Provider.reply`: the first model that can answers. Raises what the first one met when none can."""
        ear = Ear(delta)
        refused: dict[_Member, ProviderRefused] = {}
        return await self._persistence.keep_trying(partial(self._round, request, ear, refused), ear)

    async def _round(self, request: ModelRequest, ear: Ear, refused: dict[_Member, ProviderRefused]) -> ModelReply:
        failed: ProviderFailed | None = None
        for member in self._order(request, refused):
            try:
                return await self._ask(member, request, ear)
            except ProviderFailed as error:
                # The shortest wish to wait counts: one of them is enough.
                failed = error if failed is None or _wish(error) < _wish(failed) else failed
            except ProviderRefused as error:
                refused[member] = error
        raise failed or next(iter(refused.values()))

    def _order(self, request: ModelRequest, refused: dict[_Member, ProviderRefused]) -> list[_Member]:
        """Those to ask in this round: who works, the thinker of an open loop and who is wanted first; then who rests.

        Who has refused us is asked only when there is nobody else.
        """
        willing = [member for member in self._in_order(request.wanted) if member not in refused]
        now, thinker = self._clock.now(), loop_maker(request)
        awake = sorted(
            (member for member in willing if member.is_open(now)), key=lambda member: member.provider.name != thinker
        )
        resting = [member for member in willing if member not in awake and not member.has_refused]
        return [*awake, *resting] or willing

    def _in_order(self, wanted: str) -> list[_Member]:
        return sorted(self._members, key=lambda member: member.provider.name != wanted)

    async def _ask(self, member: _Member, request: ModelRequest, ear: Ear) -> ModelReply:
        is_probe = member.rests_until is not None
        member.is_probed = member.is_probed or is_probe
        try:
            reply = await member.provider.reply(request, ear.listener)
        except ProviderFailed as error:
            ear.broke_off()
            self._rest(member, error, error.after)
            raise
        except ProviderRefused as error:
            ear.broke_off()
            if isinstance(error, Refusal) and error.is_about_us:
                member.has_refused = True
                self._rest(member, error, LONGEST_REST)
            raise
        else:
            self._welcome(member)
            return reply if reply.by else replace(reply, by=member.provider.name)
        finally:
            if is_probe:
                member.is_probed = False

    def _rest(self, member: _Member, error: Exception, asked: timedelta | None) -> None:
        now = self._clock.now()
        if member.rests_until is not None and now < member.rests_until:
            return  # Another call has met the same.
        rest = min(FIRST_REST * 2 ** min(member.failures, 10), LONGEST_REST)
        member.failures += 1
        member.rests_until = now + min(max(rest, asked or timedelta()), LONGEST_REST)
        rest_s = round((member.rests_until - now).total_seconds())
        log.warning("model rests", provider=member.provider.name, rest_s=rest_s, why=str(error))

    def _welcome(self, member: _Member) -> None:
        if member.rests_until is not None:
            log.warning("model is back", provider=member.provider.name)
        member.failures, member.rests_until, member.has_refused = 0, None, False
        if member is not self._answering:
            log.warning("another model answers", provider=member.provider.name, wanted=self.name)
            self._answering = member

    async def close(self) -> None:
        """Let go of the connections of all."""
        for member in self._members:
            await member.provider.close()


def loop_maker(request: ModelRequest) -> str:
    """Name of the model that thinks in the tool loop with which the request ends; empty when there is none."""
    for message in reversed(request.messages):
        if message.may_begin:
            break
        for part in message.parts:
            if isinstance(part, Opaque):
                return f"{part.provider}:{part.model}"
    return ""


def _wish(failed: ProviderFailed) -> timedelta:
    return failed.after or timedelta()
