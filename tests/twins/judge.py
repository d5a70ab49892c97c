"""Watches one conversation from outside: every change of the session, every commit, every run, every request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kernel.loop import CallModel, Effect, RunCall
from kernel.messages import Message, Opaque, Role, Text, ToolResult
from kernel.session import Session, Turn
from kernel.session_events import (
    Calling,
    Claimed,
    ModelReplied,
    Opened,
    Restored,
    Resumed,
    Returned,
    SessionEvent,
    Spoken,
    Voted,
    Worded,
)
from tests.twins.invariants import (
    ANSWERED,
    ANSWERS,
    ASKED,
    CLAIMED,
    DENIED,
    MOVES,
    OPENED,
    READ_ONLY,
    READY,
    Calls,
    Pairs,
    Seen,
    Went,
    answered_calls,
    calls_of,
    check_shape,
    has_work,
    is_over,
    may_run,
)


class Judge:
    """Watches one conversation from outside. `needs` says how many votes a call of a tool needs (0: none)."""

    def __init__(self, needs: dict[str, int], opens: frozenset[str], tally: Counter[str]) -> None:
        self.tally = tally
        self._needs = needs
        self._opens = opens
        self._calls: tuple[Session, Calls] | None = None
        self._known: dict[int, tuple[tuple[Message, ...], Pairs]] = {}
        self._votes: dict[tuple[str, str], set[str]] = {}
        self._refused: set[tuple[str, str]] = set()
        self._names: dict[tuple[str, str], str] = {}
        self._runs: Counter[tuple[str, str]] = Counter()
        self._history: tuple[Message, ...] = ()
        self._revision = 0
        self._put: list[tuple[int, str]] = []
        self._read: list[str] = []
        self._requests: dict[str, tuple[str, tuple[Message, ...]]] = {}
        self._paused: list[Message] = []
        self._inner_words: set[str] = set()
        self._heard: set[str] = set()
        self._left: set[str] = set()
        self._ended: dict[str, str] = {}

    # --- one change ------------------------------------------------------------------------------------------------

    def changed(self, before: Session, event: SessionEvent | Went, after: Session) -> None:
        """The session went from `before` to `after`."""
        if after is before:
            return
        assert after != before, "an equal session that is not the same"
        check_shape(after)
        olds, news = self._calls_of(before), self._calls_of(after)
        cause = type(event)
        for key in olds.keys() | news.keys():
            old, new = olds.get(key), news.get(key)
            if new is None:
                assert old is not None
                self._gone(old, cause)
            elif old is None:
                assert cause in (ModelReplied, Restored), f"{cause.__name__} brought a call"
                if cause is Restored:
                    assert new.gate is not None
                    assert (new.gate.state, new.gate.votes) == (ASKED, ()), "it came back decided"
                assert new.gate is None or new.gate.state in (ASKED, READY, DENIED, ANSWERED)
            elif old.result is not None:
                assert new.result == old.result, "a second answer"
            else:
                self._moved(old, new, event)
        self._check_turns(before, event, after)
        if isinstance(event, ModelReplied) and event.is_pause:
            self._paused.append(event.message)

    def _gone(self, old: Seen, cause: type) -> None:
        assert old.depth > 0, "a call of the turn itself is gone"
        is_given_up = cause is Spoken and old.gate is not None and old.gate.state in (ASKED, READY, OPENED)
        assert old.result is not None or is_given_up, f"{cause.__name__} made a call vanish"

    def _moved(self, old: Seen, new: Seen, event: SessionEvent | Went) -> None:
        gate, cause = old.gate, type(event)
        assert gate is not None
        if new.result is not None:
            self.tally[f"{gate.state.value}, {cause.__name__}: answered"] += 1
            assert cause in ANSWERS[gate.state], f"{cause.__name__} answered a call that is {gate.state.value}"
            if gate.state is READY and cause is Returned:
                assert gate.concurrency is READ_ONLY, "an outcome without a claim"
            if cause is Returned:
                assert isinstance(event, Returned)
                assert (new.result.text, event.claim) == (event.result.text, gate.claim), "another claim's outcome"
            if cause is Resumed:
                assert isinstance(event, Resumed)
                assert gate.fence < event.fence, "a claim was given up whose claimer holds the lease"
            if gate.state is ASKED and cause in (Worded, Spoken) and gate.is_question:
                assert not new.result.is_error
            return
        assert new.gate is not None
        if new.gate == gate:
            return
        self.tally[f"{gate.state.value}, {cause.__name__}: {new.gate.state.value}"] += 1
        assert cause in MOVES.get((gate.state, new.gate.state), ()), (
            f"{cause.__name__}: {gate.state.value} became {new.gate.state.value}"
        )
        is_opener = gate.call.name in self._opens
        if new.gate.state is CLAIMED:
            assert new.gate.claim == gate.claim + 1
            assert not is_opener, "a call that opens a frame was claimed"
        if new.gate.state is OPENED:
            assert is_opener, "a call that runs was opened"
        if cause is Voted:
            assert isinstance(event, Voted)
            assert not gate.is_question, "a question was put to the vote"
            assert event.digest == gate.digest, "a vote for something else"
            assert event.person not in gate.votes, "a second vote of one person"

    def _check_turns(self, before: Session, event: SessionEvent | Went, after: Session) -> None:
        known = {turn.id: turn for turn in before.turns}
        assert [turn.id for turn in after.turns][: len(known)] == list(known), "turns went or changed places"
        for turn in after.turns:
            old = known.get(turn.id)
            if old is None:
                assert isinstance(event, Spoken | Restored), "a turn that nobody opened"
                continue
            if old.is_calling and turn.is_calling and old.effect == turn.effect:
                said = [[frame.messages for frame in each.frames] for each in (old, turn)]
                assert said[0] == said[1], "the history grew while the model was asked"
            if old.ending is not None:
                assert turn.ending is old.ending, "a second ending"
                assert len(turn.frames) == len(old.frames)
            if turn.id != before.active and isinstance(event, Calling | Claimed | Opened | Went):
                is_freed = before.turn(before.active) != after.turn(before.active)
                assert turn == old or is_freed, "a turn that does not run went on"
            assert turn.effect >= old.effect, "model calls are numbered backwards"

    def refused(self, session: Session, event: SessionEvent, after: Session) -> None:
        """`event` does not fit `session`."""
        assert after is session, f"it took {event}"

    def spoke(self, words: str, before: Session, after: Session) -> None:
        """`words` were read: they stand in `after` once, in the root of a turn or as the answer to a question."""
        assert not _depths_of(before, words)
        depths = _depths_of(after, words)
        assert len(depths) == 1, f"{words} stands in {len(depths)} places"
        if depths[0] > 0:
            self._inner_words.add(words)
        else:
            self._inner_words.discard(words)  # A holder that died before its commit had read them elsewhere.

    # --- the store -------------------------------------------------------------------------------------------------

    def put(self, words: str, order: int) -> None:
        """A person's words for the model were stored."""
        self._put.append((order, words))
        self._left.add(words)

    def put_other(self, event: str) -> None:
        """Something else was stored."""
        self._left.add(event)

    def committed(
        self,
        stored: Session,
        history: Sequence[Message],
        *,
        read: Sequence[str],
        others: Sequence[str],
        votes: Sequence[Voted],
        parked: Sequence[str] = (),
    ) -> None:
        """A step was stored: `history` was appended; words, other inbounds and votes that were read with it."""
        assert stored.revision == self._revision + 1
        self._revision += 1
        self._history += tuple(history)
        assert stored.history_length == len(self._history)
        if history:
            list(answered_calls(self._history))
        for turn in stored.turns:
            assert not is_over(turn), "a finished turn stayed"
            assert turn.base <= stored.history_length
        for event in (*read, *others, *parked):
            assert event in self._left, f"{event} was read twice"
            self._left.remove(event)
        self._read += read
        assert self._read == [words for _, words in sorted(self._put) if words in set(self._read)], "out of order"
        for vote in votes:
            self._votes.setdefault((vote.turn, vote.call), set()).add(vote.person)
        for key, seen in self._calls_of(stored).items():
            self._note(key, seen)

    def _note(self, key: tuple[str, str], seen: Seen) -> None:
        if seen.gate is not None:
            self._names[key] = seen.gate.call.name
            if seen.gate.state is DENIED:
                self._refused.add(key)
            if seen.gate.state in (CLAIMED, OPENED):
                self._check_grant(key)

    def ready(self, session: Session, *, is_ready: bool) -> None:
        """Whether somebody may take the conversation now or later."""
        assert is_ready == (has_work(session) or bool(self._left)), f"ready {is_ready}, left {sorted(self._left)}"

    # --- the world -------------------------------------------------------------------------------------------------

    def ran(self, turn: str, call: str) -> None:
        """The tool of the call is run, and it has effects."""
        key = (turn, call)
        self._runs[key] += 1
        assert self._runs[key] == 1, f"{self._names.get(key)} ran twice"
        assert key in self._names, "a call ran that was never stored"
        assert self._names[key] not in self._opens, "a call that opens a frame ran"
        assert key not in self._refused, "a refused call ran"
        self._check_grant(key)

    def looked(self, turn: str, call: str, name: str) -> None:
        """The READ_ONLY tool `name` is run."""
        assert name not in self._opens, "a call that opens a frame ran"
        self._names.setdefault((turn, call), name)
        self._check_grant((turn, call))

    def _check_grant(self, key: tuple[str, str]) -> None:
        votes = self._votes.get(key, set())
        assert len(votes) >= self._needs.get(self._names[key], 0), f"{self._names[key]} ran with {len(votes)} votes"

    def going(self, session: Session, effects: Sequence[Effect], fence: int) -> None:
        """`effects` are under way for the holder of `fence`: everything that may go on, and nothing else."""
        turn = session.turn(session.active)
        wanted: set[Effect] = set()
        if turn is not None and turn.is_calling:
            wanted.add(CallModel(turn.id, turn.effect))
        for frame in turn.frames if turn is not None else ():
            gates = frame.open.gates if frame.open else ()
            for place, gate in enumerate(gates):
                is_free = gate.state is READY and gate.concurrency is READ_ONLY and may_run(gates, place)
                is_mine = gate.state is CLAIMED and gate.fence == fence
                if (is_free and gate.call.name not in self._opens) or is_mine:
                    wanted.add(RunCall(turn.id if turn else "", gate.call.id, gate.claim))
        assert len(effects) == len(wanted), f"{effects} go on instead of {wanted}"
        assert set(effects) == wanted, f"{effects} go on instead of {wanted}"
        if turn is not None and not effects:
            assert not turn.frames[-1].open, "nothing goes on in a turn that runs"

    def asked(self, turn: Turn, messages: tuple[Message, ...]) -> None:
        """The model is asked with `messages`."""
        list(answered_calls(messages))
        is_fresh = messages[-1].role is Role.USER
        assert is_fresh or messages[-1] in self._paused, "a request that ends with the model's words"
        if len(turn.frames) == 1:
            past, own = messages[: len(messages) - len(turn.frames[0].messages)], turn.frames[0].messages
            assert messages[len(past) :] == own
            assert [_plain(message) for message in past if _plain(message)] == [
                plain for message in self._history[: turn.base] if (plain := _plain(message))
            ], "the past of the turn has changed"
        for number, message in enumerate(messages):
            for part in message.parts:
                if isinstance(part, Opaque):
                    bound = self._requests[part.payload]
                    assert bound == (turn.frames[-1].prefix, messages[:number]), "thinking is shown another past"
                elif isinstance(part, Text | ToolResult):
                    self._heard.add(part.text)

    def thought(self, payload: str, turn: Turn, messages: tuple[Message, ...]) -> None:
        """The model's reply to that request carries thinking, bound to it."""
        self._requests[payload] = (turn.frames[-1].prefix, messages)

    def ended(self, turn: Turn) -> None:
        """The turn left the session."""
        assert is_over(turn)
        assert turn.ending is not None
        assert turn.id not in self._ended, "it ended twice"
        self._ended[turn.id] = turn.ending.value
        words = [part.text for message in turn.frames[0].messages for part in message.parts if isinstance(part, Text)]
        if turn.ending.value == "answered":
            unheard = [each for each in words if each.startswith("words-") and each not in self._heard]
            assert not unheard, f"{unheard} were answered unread"

    def over(self, session: Session, history: Sequence[Message], parked: set[str]) -> None:
        """Everybody has said and decided everything, and time enough has passed."""
        assert session.turns == (), "turns are left"
        assert tuple(history) == self._history, "the stored history is not what was appended"
        assert not self._left, f"never read: {sorted(self._left)}"
        stands = Counter(
            part.text
            for message in history
            for part in message.parts
            if isinstance(part, Text | ToolResult) and part.text.startswith("words-")
        )
        wanted = {words for _, words in self._put} - self._inner_words - parked
        assert stands == dict.fromkeys(wanted, 1), "messages are not read exactly once"

    @property
    def runs(self) -> int:
        """How many calls with effects ran."""
        return self._runs.total()

    def _calls_of(self, session: Session) -> Calls:
        if self._calls is None or self._calls[0] is not session:
            self._calls = (session, calls_of(session, self._known))
        return self._calls[1]


def _depths_of(session: Session, words: str) -> list[int]:
    found = []
    for turn in session.turns:
        for depth, frame in enumerate(turn.frames):
            said = [part for message in frame.messages for part in message.parts]
            said += [gate.result for gate in frame.open.gates if gate.result] if frame.open else []
            found += [depth for part in said if isinstance(part, Text | ToolResult) and part.text == words]
    return found


def _plain(message: Message) -> tuple[object, ...]:
    return tuple(part for part in message.parts if not isinstance(part, Opaque))
