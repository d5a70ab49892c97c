"""From one chat message to a `ScheduleIntent`, without a model.

fold → tokens → phrases about time → the asking form → which phrases are the schedule → plan → schedule or question,
and the body that is left. Pure: the time of the message and the chat's zone are arguments. When in doubt it asks, or
says that the message is no request, so that the model decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kernel.schedule import about, asks, body, calls, choose, hints, intent, lengths, runs
from kernel.schedule.asks import Ask
from kernel.schedule.changes import is_change
from kernel.schedule.choose import Group
from kernel.schedule.clocks import at
from kernel.schedule.confidence import Seen, confidence
from kernel.schedule.conflicts import conflicts
from kernel.schedule.echoes import is_foreign
from kernel.schedule.folding import fold, without_layout
from kernel.schedule.grammar import find_phrases
from kernel.schedule.manage import managed
from kernel.schedule.pairs import by_lead, resolve_leads, resolve_pairs, split
from kernel.schedule.pastes import is_pasted
from kernel.schedule.phrases import Found, Phrase, Vague
from kernel.schedule.plan import Plan, gather
from kernel.schedule.questions import ask_back, resolve
from kernel.schedule.resolve import Moment, NotYet, refuse_unclear
from kernel.schedule.scan import scan
from kernel.schedule.tokens import Kind, Token, words
from kernel.schedule.values import Doubt, Manage, Schedule, ScheduleIntent

LONGEST = 400
"""Characters of a message that is read at all: whoever writes more has written a text, not a reminder."""
_MOST_TOKENS, _MOST_PHRASES, _MOST_ASKS = 150, 20, 4
"""Beyond these a message is no single request; they also bound the time it takes."""

K = Kind

_WAKING = frozenset(words("wake wakeup awaken 叫醒 起床 起身 闹醒 唤醒 起来"))
_CALLS = frozenset(words("叫 喊 提 唤 催 通知"))
_ASKED = 0.9
"""Confidence of what creates nothing: a question, words that manage, no request at all."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A message as it was read: what it asks for, and the words that an answer may complete or replace."""

    intent: ScheduleIntent
    at: datetime
    """When it was said, aware UTC: "tomorrow" in it counts from then."""
    phrases: tuple[Phrase, ...] = ()
    """What says when, in the order it was said."""
    english: bool = False
    wakes: bool = False
    """Somebody wants to be woken: a bare five o'clock is no afternoon."""


def parse(text: str, *, now: datetime, zone: str) -> ScheduleIntent:
    """What `text`, sent at `now` (aware) in a chat whose zone is the IANA name `zone`, asks for.

    Never raises for any text. Times in the result are aware UTC.
    """
    return understand(text, now=now, zone=zone).intent


def understand(text: str, *, now: datetime, zone: str) -> Understood:
    """Likewise, with the words that made it so: what `kernel.schedule.answers` reads an answer against."""
    now = now.astimezone(UTC)
    read = _read(text, now, zone)
    return Understood(read, now) if isinstance(read, ScheduleIntent) else read


def _read(text: str, now: datetime, zone: str) -> Understood | ScheduleIntent:
    if len(text) > LONGEST:
        return _nothing(zone)
    text = without_layout(text)
    folded = fold(text)
    if is_foreign(folded) or is_pasted(folded):
        return _nothing(zone)
    tokens = scan(folded)
    if not 0 < len(tokens) <= _MOST_TOKENS:
        return _nothing(zone)
    english = text.isascii() or not any("㐀" <= c <= "鿿" for c in text)
    if is_change(tokens, folded, english=english):
        return _nothing(zone)
    manage = managed(tokens, folded)
    if manage is not None:
        called = about.named(text, folded, tokens)
        return ScheduleIntent(
            zone=zone,
            confidence=_ASKED,
            manage=manage,
            body=called.body,
            is_narrowed=called.has_time,
            is_all=called.is_all,
            places=called.places,
        )
    found = find_phrases(tokens)
    asked = asks.find_asks(tokens, folded)
    if len(found) > _MOST_PHRASES or len(asked) > _MOST_ASKS:
        return _nothing(zone)
    message = _Message(
        text=text,
        folded=folded,
        tokens=tokens,
        groups=choose.group(found, tokens),
        asks=asked,
        english=english,
        now=now,
        zone=zone,
    )
    return _order(message) or _reminder(message) or _hint(message) or _nothing(zone)


def _hint(message: _Message) -> ScheduleIntent | None:
    """What would be an order if it named a reminder; places in a list are one by themselves."""
    found = hints.hinted(message.text, message.folded, message.tokens)
    if found is None:
        return None
    return ScheduleIntent(
        zone=message.zone,
        confidence=_ASKED,
        manage=Manage.CANCEL if found.is_order else None,
        is_narrowed=found.has_time,
        places=found.places,
        hint=found.body,
    )


def _nothing(zone: str) -> ScheduleIntent:
    return ScheduleIntent(zone=zone, confidence=_ASKED)


@dataclass(frozen=True, slots=True)
class _Message:
    text: str
    folded: str
    tokens: list[Token]
    groups: list[Group]
    asks: list[Ask]
    english: bool
    now: datetime
    zone: str


def _order(message: _Message) -> Understood | None:
    """Work to be done later, when nothing asks for a reminder or only the work itself does."""
    if any(not ask.is_mild or ask.is_noun for ask in message.asks):
        return None
    tokens = message.tokens
    if any(g.j <= ask.i and choose.soft(tokens, g.j, ask.i) for ask in message.asks for g in message.groups[1:]):
        return None  # 下午4点考试，3点半叫我出门
    order = runs.order_after(message.groups, tokens, message.folded, english=message.english)
    if order is not None and message.asks and choose.soft(tokens, order.j, message.asks[0].i):
        return None  # Else a condition inside the work asks (超过80%通知我).
    reports = all(ask.is_mild and at(tokens, ask.i - 1).kind is K.AND for ask in message.asks)
    if order is None and reports:  # check the build every hour and tell me if it fails
        order = runs.order_before(message.groups, tokens, intent.first_word(tokens))
    if order is None or intent.quoted(tokens, order.i):
        return None
    return _intent(message, list(order.found), gather(order.phrases), None)


def _reminder(message: _Message) -> Understood | None:
    """A reminder that was asked for."""
    for ask in _by_weight(message):
        if ask.is_noun and ask.inner is None and any(a.i > ask.i and not a.is_noun for a in message.asks):
            continue
        used, plan = _used(message, ask)
        has_time = plan.has_time or _is_polite(message, ask)
        if intent.vetoed(message.tokens, ask, used, has_time=has_time, english=message.english) and not (
            calls.is_awaited(message.tokens, message.folded, ask)
        ):
            continue
        if calls.is_told(message.tokens, message.folded, ask, used):
            continue
        if ask.is_mild and not (plan.has_time or plan.is_series or plan.unclear) and _is_idle(message, ask, plan, used):
            continue
        if _is_about_one(message, ask) or _wants_news(message, ask, used):
            continue
        return _intent(message, used, plan, ask)
    return None


def _is_polite(message: _Message, ask: Ask) -> bool:
    """能不能明天提醒我交材料？ names a task: a request, of which only the hour is open."""
    tokens = message.tokens
    if message.english or not any(t.kind is K.POLITE for t in tokens[: ask.i]):
        return False
    asked = (t.word for t in tokens if t.kind is K.QUESTION)
    return any(t.kind is K.TEXT for t in tokens[ask.j :]) and all(word in ("吗", "么") for word in asked)


def _by_weight(message: _Message) -> list[Ask]:
    """The firm asks before the mild ones (tell me, 叫我); of several, first those with a time beside them."""
    firm = [ask for ask in message.asks if not ask.is_mild and not _is_task(message, ask)]
    mild = [ask for ask in message.asks if ask.is_mild]
    if len(firm) > 1:
        timed = [a for a in firm if any(g.j <= a.i and choose.soft(message.tokens, g.j, a.i) for g in message.groups)]
        firm = timed + [ask for ask in firm if ask not in timed]
    return firm + mild


def _is_task(message: _Message, ask: Ask) -> bool:
    """remind me at 9pm to set the alarm for 5am: what is made then, not now."""
    made = ask.is_noun and at(message.tokens, ask.i - 1).word == "to"
    return made and any(a.j <= ask.i and a.to_me and not a.is_noun for a in message.asks)


def _is_idle(message: _Message, ask: Ask, plan: Plan, used: list[Found]) -> bool:
    """A mild ask with no day either, or behind a condition: talk, unless it asks by itself (提我買餸)."""
    if not plan.deadline and not plan.days and calls.asks_alone(message.tokens, message.folded, ask):
        return False
    tasked = any(t.kind is K.TEXT for t in message.tokens[ask.j :])
    later = ask.to_me and (tasked and plan.deadline if plan.vague is None else tasked or not plan.vague.event)
    if later and message.tokens[ask.i].word in _CALLS and choose.soft(message.tokens, 0, used[0].i):
        return False  # 晚点儿叫我一下
    conditional = ask.i > 0 and message.tokens[ask.i - 1].kind is K.TEXT
    about = message.tokens[ask.i].word in ("告诉", "告知", "tell") and any(f.i >= ask.j for f in used)
    return plan.deadline or not plan.days or conditional or about


def _is_about_one(message: _Message, ask: Ask) -> bool:
    """8点提醒我的那条删了吧: an existing reminder is named and done away with, or moved."""
    if "那条" not in message.folded and "这条" not in message.folded:
        return False
    rest = message.tokens[ask.j :]
    acts = next((t for t in rest if t.kind in (K.CANCEL, K.CHANGE)), None)
    return acts is not None and any(name in message.folded[: acts.start] for name in ("那条", "这条"))


def _wants_news(message: _Message, ask: Ask, used: list[Found]) -> bool:
    """告诉我明天9点的天气: the time belongs to what is asked for."""
    told = message.tokens[ask.i].word in ("告诉", "告知", "tell")
    if not told or not used or used[0].i < ask.j:
        return False
    return at(message.tokens, used[-1].j).kind is K.OF or at(message.tokens, ask.j).word == "about"


def _used(message: _Message, ask: Ask) -> tuple[list[Found], Plan]:
    """The phrases that say when, with lengths of time read as the asking form wants them, and their plan."""
    used, plan = choose.choose(message.groups, ask, message.tokens, english=message.english)
    if plan.lasting and not plan.aheads and not plan.times and not plan.sub_daily:
        counted = any(
            t.kind is K.TIMES and t.n == 1 for t in (at(message.tokens, ask.j), at(message.tokens, ask.j - 1))
        )
        if counted and not ask.is_noun:
            return _with_plan(lengths.as_cycle(used))
        timed = ask.is_timer or at(message.tokens, used[0].i - 1).word in asks.COUNTDOWNS
        if timed and not plan.cycles:
            return _with_plan(lengths.as_ahead(used))
    return used, plan


def _with_plan(used: list[Found]) -> tuple[list[Found], Plan]:
    return used, gather(f.phrase for f in used)


def _intent(message: _Message, used: list[Found], plan: Plan, ask: Ask | None) -> Understood:
    """The intent of a request; an order to the assistant when there is no asking form."""
    zone = plan.zone or message.zone
    moment = Moment(message.now, zone)
    cut = body.cut_body(message.text, message.tokens, _spoken(message, used, ask), ask, whole=plan.lead is not None)
    lead = None
    if plan.lead is not None:
        span = plan.lead.span
        lead = timedelta(days=span.days + 30 * span.months, seconds=span.seconds)
    schedule, question, sure = None, None, _ASKED
    try:
        schedule = _schedule(message, plan, used, ask, moment)
        known = {f.i for f in used}
        unread = [f for g in message.groups for f in g.found if f.i not in known]
        seen = Seen(message.folded, message.tokens, used, unread, message.asks, ask, plan, schedule)
        sure = confidence(seen)
    except NotYet as reason:
        doubt = Doubt.NO_TASK if reason.doubt is Doubt.NO_TIME and not used and not cut else reason.doubt
        question = ask_back(doubt, plan, moment, english=message.english)
    except (OverflowError, ValueError):
        # A date beyond what datetime can hold.
        question = ask_back(Doubt.INVALID_DATE, plan, moment, english=message.english)
    request = ScheduleIntent(
        zone=zone,
        confidence=sure,
        body=cut,
        schedule=schedule,
        question=question,
        mentions=ask.mentions if ask else (),
        lead=lead,
        is_agent_run=ask is None,
    )
    return Understood(request, message.now, tuple([f.phrase for f in used]), message.english, _wakes(message))


def _schedule(message: _Message, plan: Plan, used: list[Found], ask: Ask | None, moment: Moment) -> Schedule:
    """The schedule that was said. Raises NotYet when it must be asked about."""
    if ask is not None and conflicts(message.groups, used, ask, message.tokens):
        raise NotYet(Doubt.AMBIGUOUS)
    if ask is not None and intent.is_conditional(message.tokens, ask, used):
        raise NotYet(Doubt.EVENT)
    if ask is not None and calls.waits_besides(message.tokens, message.folded, ask, used):
        raise NotYet(Doubt.EVENT)
    if ask is not None and not used and ask.is_mild and calls.waits(message.tokens, message.folded, ask):
        raise NotYet(Doubt.EVENT)
    if is_early(plan) and _wakes(message):
        raise NotYet(Doubt.AMBIGUOUS)
    return resolved([f.phrase for f in used], plan, moment)


def resolved(phrases: list[Phrase], plan: Plan, moment: Moment) -> Schedule:
    """The schedule of the phrases whose plan is `plan`. Raises NotYet when it must be asked about."""
    refuse_unclear(plan)
    if plan.lead is not None and len(led := by_lead(phrases)) > 1:
        return resolve_leads(led, moment)
    pieces = split(phrases)
    return resolve_pairs(pieces, moment) if len(pieces) > 1 else resolve(plan, moment)


def is_early(plan: Plan) -> bool:
    """A bare four, five or six o'clock was read as the afternoon: wrong when someone wants to be woken."""
    return any(w.is_guess and w.moment.hour in (16, 17, 18) for w in plan.times)


def _wakes(message: _Message) -> bool:
    return "睡过" in message.folded or not _WAKING.isdisjoint([t.word for t in message.tokens])


def _spoken(message: _Message, used: Sequence[Found], ask: Ask | None) -> list[Found]:
    """The phrases to cut out: the used ones, and "then" (到时候), which only points at them."""
    if ask is None:
        return list(used)
    then = [
        f
        for g in message.groups
        for f in g.found
        if f not in used and isinstance(f.phrase, Vague) and message.tokens[f.i].n == 1
    ]
    return [*used, *then]
