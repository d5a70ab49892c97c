"""What Slack tells of a person: name, language, zone, and whether this is a member who may talk at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bots.slack.payloads import as_name, as_object
from bots.slack.remembered import Lookup, Remembered
from kernel.chat import Sender
from kernel.ports import Clock

FRESH: Final = timedelta(hours=1)
"""How long a profile is believed: `user_change` reaches one process only, and only if the app subscribes to it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A person as their workspace shows them. Guests, bots, strangers and the departed are no members."""

    name: str = ""
    language: str | None = None
    zone: str | None = None
    is_member: bool = True
    team: str = ""
    """The installed workspace's id when Slack says that the person is at home there."""

    def on(self, sender: Sender) -> Sender:
        """`sender` with what is known of them."""
        known = replace(sender, name=self.name, language=self.language, zone=self.zone, team=self.team)
        return replace(known, is_guest=not self.team)


_NOT_MEMBERS: Final = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted", "is_stranger")


def profile_of(user: Mapping[str, object], team: str) -> Profile:
    """The profile in a user object of `users.info` or `user_change`; total."""
    shown = as_object(user.get("profile"))
    candidates = (shown.get("display_name"), shown.get("real_name"), user.get("real_name"), user.get("name"))
    home, zone = user.get("team_id"), user.get("tz")
    is_abroad = isinstance(home, str) and home.startswith("T") and home != team
    is_member = not is_abroad and not any(user.get(mark) for mark in _NOT_MEMBERS)
    return Profile(
        name=next((name for name in map(as_name, candidates) if name), ""),
        language=_language(user.get("locale")),
        zone=zone if isinstance(zone, str) and zone.isascii() and zone else None,
        is_member=is_member,
        team=team if is_member and home == team else "",
    )


def _language(locale: object) -> str | None:
    word = locale[:2].lower() if isinstance(locale, str) else ""
    return word if word in ("zh", "en") else None


class Profiles:
    """Profiles by the ids of their people."""

    def __init__(self, read_user: Lookup, clock: Clock) -> None:
        self._read_user = read_user
        self._known: Remembered[Profile] = Remembered(clock, FRESH)

    def cached(self, person: str) -> Profile | None:
        """What is known without asking."""
        return self._known.last(person)

    async def get(self, person: str, team: str) -> Profile | None:
        """The person's profile; None when Slack does not give it now. Raises nothing."""

        async def ask() -> Profile | None:
            user = await self._read_user(person)
            return None if user is None else self.keep(person, user, team)

        return await self._known.get(person, ask)

    def keep(self, person: str, user: Mapping[str, object], team: str) -> Profile:
        """Remember the profile in `user`, and give it. A `user_change` may leave the locale out: the old one stays."""
        profile = profile_of(user, team)
        before = self.cached(person)
        if before and "locale" not in user:
            profile = replace(profile, language=before.language)
        self._known.keep(person, profile)
        return profile
