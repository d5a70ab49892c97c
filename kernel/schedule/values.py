"""What a schedule sentence means, as values: when to fire, what to say, what to ask back.

Nothing here reads a clock. Instants are aware UTC; wall-clock rules carry no zone of their own: the zone stands
beside them (`ScheduleIntent.zone`, `Trigger.zone`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum


class Calendar(Enum):
    """A named calendar that narrows a rule beyond what five cron fields can say."""

    STATUTORY_WORKDAYS = "statutory-workdays"
    """Days worked in mainland China, make-up Saturdays and Sundays included (法定工作日)."""
    STATUTORY_HOLIDAYS = "statutory-holidays"
    """Days off in mainland China by the statutory calendar (法定节假日)."""
    LUNAR = "lunar"
    """The cron fields day and month are read in the Chinese lunar calendar; leap months never match."""
    SOLAR_TERMS = "solar-terms"
    """Only days on which one of the 24 solar terms (冬至, 清明) begins: one from the 3rd to the 9th, one from the 18th
    to the 24th of each month."""


class Unit(Enum):
    """The unit of a wall-clock step."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Step:
    """Only every `n`-th day, week (Monday-based), month or year counts, the one holding `anchor` among them."""

    n: int
    unit: Unit
    anchor: date


@dataclass(frozen=True, slots=True)
class Once:
    """Fires at each of `times` (aware UTC, ascending, at least one) and then has ended."""

    times: tuple[datetime, ...]


@dataclass(frozen=True, slots=True)
class Every:
    """An exact interval: fires at `start`, `start + step`, … in elapsed time, whatever the clocks on the wall do.

    `end` (inclusive) and `count` bound the series; both None means for ever.
    """

    step: timedelta
    start: datetime
    end: datetime | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Cron:
    """A wall-clock rule: fires whenever one of `expressions` (five cron fields) matches in the trigger's zone.

    The day field may be `L` (last day of the month) and a weekday may carry `#n` (nth) or be `L`-prefixed (last), as
    croniter reads them. `start` and `end` (aware UTC, both inclusive) and `count` bound the series; `step` thins
    it; days in `excluded_dates` and weekdays in `excluded_weekdays` (0 = Monday) never fire;
    `calendar` narrows further.
    """

    expressions: tuple[str, ...]
    start: datetime | None = None
    end: datetime | None = None
    count: int | None = None
    step: Step | None = None
    excluded_dates: tuple[date, ...] = ()
    excluded_weekdays: tuple[int, ...] = ()
    calendar: Calendar | None = None


Schedule = Once | Every | Cron


class Manage(Enum):
    """What a message wants done with reminders that exist."""

    CANCEL = "cancel"
    LIST = "list"
    PAUSE = "pause"


class Doubt(Enum):
    """Why a request cannot become a trigger without asking back."""

    NO_TIME = "no-time"
    NO_TASK = "no-task"
    """Nothing was said but that there is to be a reminder."""
    VAGUE_PERIOD = "vague-period"
    PAST = "past"
    INVALID_DATE = "invalid-date"
    INVALID_TIME = "invalid-time"
    AMBIGUOUS = "ambiguous"
    EVENT = "event"
    """The time is an event ("after the meeting"), not a clock time."""
    BEYOND_CALENDAR = "beyond-calendar"
    """The statutory calendar is not published for that year yet."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to complete an unclear request: `label` is shown on a button, `schedule` is what pressing it means."""

    label: str
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask back; `choices` may be empty when only the person's own words can complete the request."""

    doubt: Doubt
    text: str
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class ScheduleIntent:
    """What one message asks for.

    Exactly one of four shapes: not a request (`schedule`, `question` and `manage` all None); a request that is
    understood (`schedule`); a request to ask back about (`question`); words that manage existing reminders (`manage`).
    `confidence` (0 to 1) is calibrated: from 0.8 on a trigger is created, below that the person is asked or the model
    decides. `mentions` are people as written, without the at sign. `lead` is how long before the named event it fires
    (already subtracted in `schedule`). `zone` is an IANA name: the message's own zone word, else the chat's zone.
    """

    zone: str
    confidence: float
    body: str = ""
    schedule: Schedule | None = None
    question: Question | None = None
    manage: Manage | None = None
    mentions: tuple[str, ...] = ()
    lead: timedelta | None = None
    is_agent_run: bool = False
    """The message asks the assistant to do work at that time ("每天8点搜医学新闻发给我"), not to say a text."""
    is_narrowed: bool = False
    """Of `manage`: the words name a time too (取消今晚8点的提醒), which `body`, the task they name, leaves out."""
    is_all: bool = False
    """Of `manage`: all of them were named (取消所有提醒), or all that are called `body`."""
    places: tuple[int, ...] = ()
    """Of `manage`: which of them were named by their place in the list (取消第2个提醒), 1 the first, -1 the last.

    Without `manage` and no request (删第二个): which, if the list was of reminders."""
    hint: str = ""
    """Without `manage` and no request: what a verb of cancelling names without the word reminder (取消查房, cancel
    rent). An order only where a stored reminder is called so; `is_narrowed` then says that a time was named too."""

    @property
    def is_request(self) -> bool:
        """The message asks for something later or repeatedly, be it clear or not."""
        return self.schedule is not None or self.question is not None


CREATE_FROM = 0.8
"""From this confidence on a clear request becomes a trigger without asking."""
