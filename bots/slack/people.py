"""What Slack tells of a person: name, language, zone, and whether this is a member who may talk at all."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from bots.splitting import clean
from kernel.chat import Sender
from kernel.ports import Clock

FRESH: Final = timedelta(hours=12)
"""How long a profile is believed when no `user_change` comes (the app may not subscribe to it)."""
RETRY_AFTER: Final = timedelta(minutes=1)
"""How long a person whose profile could not be read is taken without one."""
MAX_PEOPLE: Final = 10_000

ReadUser = Callable[[str], Awaitable[Mapping[str, object] | None]]
"""The user object of an id; None when Slack did not give it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A person as their workspace shows them. Guests, bots, strangers and the departed are no members."""

    name: str = ""
    language: str | None = None
    zone: str | None = None
    is_member: bool = True

    def on(self, sender: Sender) -> Sender:
        """`sender` with what is known of them."""
        return replace(sender, name=self.name, language=self.language, zone=self.zone)


_NOT_MEMBERS: Final = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger")


def profile_of(user: Mapping[str, object], team: str) -> Profile:
    """The profile in a user object of `users.info` or `user_change`; total."""
    shown = user.get("profile")
    names = shown if isinstance(shown, dict) else {}
    candidates = (names.get("display_name"), names.get("real_name"), user.get("real_name"), user.get("name"))
    home, zone = user.get("team_id"), user.get("tz")
    is_abroad = isinstance(home, str) and home.startswith("T") and home != team
    return Profile(
        name=clean(next((name for name in candidates if isinstance(name, str) and name), ""))[:80],
        language=_language(user.get("locale")),
        zone=zone if isinstance(zone, str) and zone.isascii() and zone else None,
        is_member=not is_abroad and not any(user.get(mark) for mark in _NOT_MEMBERS),
    )


def _language(locale: object) -> str | None:
    word = locale[:2].lower() if isinstance(locale, str) else ""
    return word if word in ("zh", "en") else None


class Profiles:
    """Profiles read once and kept; one request a person at a time is not promised, one a message is avoided."""

    def __init__(self, read_user: ReadUser, clock: Clock) -> None:
        self._read_user = read_user
        self._clock = clock
        self._known: OrderedDict[str, tuple[Profile | None, datetime]] = OrderedDict()

    def cached(self, person: str) -> Profile | None:
        """What is known without asking."""
        profile, _ = self._known.get(person, (None, None))
        return profile

    async def get(self, person: str, team: str) -> Profile | None:
        """The person's profile; None when Slack does not give it now. Raises nothing."""
        now = self._clock.now()
        if person in self._known:
            profile, until = self._known[person]
            if now < until:
                return profile
        user = await self._read_user(person)
        if user is None:
            stale = self.cached(person)
            self._keep(person, stale, now + RETRY_AFTER)
            return stale
        return self.keep(person, user, team)

    def keep(self, person: str, user: Mapping[str, object], team: str) -> Profile:
        """Remember the profile in `user`, and give it. A `user_change` may leave the locale out: the old one stays."""
        profile = profile_of(user, team)
        before = self.cached(person)
        if before and "locale" not in user:
            profile = replace(profile, language=before.language)
        self._keep(person, profile, self._clock.now() + FRESH)
        return profile

    def _keep(self, person: str, profile: Profile | None, until: datetime) -> None:
        self._known[person] = (profile, until)
        self._known.move_to_end(person)
        while len(self._known) > MAX_PEOPLE:
            self._known.popitem(last=False)
