"""The RQ worker that runs many turns at once in one event loop.

    main thread      signals, RQ's calls to Redis: take a slot, take a hint, say "started", say "still here"
    second thread    the event loop: `turns.drain()` once for each hint; no RQ call ever runs here
    two more         RQ's own finalisation of jobs that ended

A job is a hint: it names no conversation and carries nothing, so its record is never believed. It is run when its
name is exactly ours, compared as a string; everything else is parked in RQ's failed registry, unimported. Losing a
hint costs seconds (whoever sleeps looks at the ready set), so hints are neither retried nor recovered, only tidied.

RQ's `work()` is not used: outside of its dequeue it ends the process at the first error of Redis. What it does
beside that is here in `serve`, with RQ's own public steps.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import BoundedSemaphore
from types import FrameType
from typing import Any

import structlog
from redis import Redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.exceptions import ConnectionError as RedisAway
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisSilent
from redis.retry import Retry
from rq import Queue, Worker, worker_registration
from rq.exceptions import DequeueTimeout, DeserializationError, NoSuchJobError
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.suspension import is_suspended
from rq.utils import now
from rq.worker import WorkerStatus

from workers.turnloop import OpenTurns, TurnLoop

SLOTS = 64
GRACE = timedelta(seconds=25)
"""How long turns may go on after SIGTERM before they are handed back."""

_POLL_S = 1
"""BLMOVE waits no longer, so that a signal, which only sets a flag, is seen within this time."""
_SILENCE_S = 5
"""An answer of Redis may take this long, the poll included: a signal is not seen before."""
_PAUSE_S = 1.0
"""Before Redis is tried again."""
_TEND_EVERY_S = 5.0
_ALIVE_S = 30
"""A worker and its executions are forgotten so long after their last beat; longer than GRACE or a short outage."""
_RESULT_TTL_S = 60
"""Positive: with 0, RQ 3.0 counts a job that another worker recovered as failed."""
_FAILURE_TTL_S = 24 * 60 * 60
_RECORD_BYTES = 1024
"""Longer data is not looked at: ours has some 40, and compressed text unfolds to a thousand times its length."""

log = structlog.get_logger(__name__)


class Hint(Job):
    """A job record of which only its name, its queue and whether it was started are read.

    RQ's own reading would believe callbacks (imported by name), webhooks (called), dependencies, retries and
    lifetimes that whoever can write to Redis put there. Reading never fails.
    """

    def restore(self, raw_data: Mapping[bytes, bytes]) -> None:
        """Take the values from a Redis hash."""
        data = raw_data.get(b"data", b"")
        super().restore({b"data": data if len(data) <= _RECORD_BYTES else b""})
        self.origin = raw_data.get(b"origin", b"").decode(errors="replace")
        self._status = JobStatus.STARTED if raw_data.get(b"status") == b"started" else JobStatus.QUEUED
        self.result_ttl = _RESULT_TTL_S
        self.failure_ttl = _FAILURE_TTL_S

    def asks_for(self, job: str) -> bool:
        """Whether this names `job`; a payload that is not JSON names nothing."""
        try:
            return bool(self.func_name == job)
        except DeserializationError:
            return False


class StopSignal:
    """The handler of SIGTERM and SIGINT: the first signal sets a flag, the same one again ends the grace.

    Ctrl-C reaches us twice, from the terminal as SIGINT and from a supervisor as SIGTERM: that is one request.
    """

    def __init__(self, turn_loop: TurnLoop) -> None:
        self._loop = turn_loop
        self._seen: set[int] = set()

    @property
    def is_given(self) -> bool:
        """Whether a signal asked for the end."""
        return bool(self._seen)

    def __call__(self, signum: int, _frame: FrameType | None) -> None:
        """Take a signal; blocks nothing and raises nothing."""
        if signum in self._seen:
            self._loop.hurry()
        self._seen.add(signum)
        if not self._loop.is_open:
            self._loop.finish()


class TurnWorker(Worker):
    """Takes hints from one queue and begins a drain for each, at most `slots` at a time.

    One queue: with several, RQ pops without its intermediate list and a kill loses the job. The queue's client
    serves RQ alone: its time-outs and retries are changed.
    """

    job_class = Hint

    def __init__(
        self,
        queue: Queue,
        turn_loop: TurnLoop,
        stop: StopSignal,
        *,
        job: str,
        name: str | None = None,
        slots: int = SLOTS,
    ) -> None:
        # Waiting is done where a signal is seen; the one retry is for a pooled connection that was closed meanwhile.
        queue.connection.set_retry(Retry(NoBackoff(), 1, supported_errors=(RedisAway,)))
        super().__init__([queue], name=name, connection=queue.connection, serializer="json")
        self._queue = queue
        self._job = job
        self._loop = turn_loop
        self._stop = stop
        self._slots = BoundedSemaphore(slots)
        self._settlers = ThreadPoolExecutor(2, thread_name_prefix="settle")
        self._tended_at = 0.0
        self._stuck: frozenset[bytes] = frozenset()
        self._is_away = False
        self.birth_date = now()
        self.log.setLevel(logging.WARNING)  # RQ writes two lines for every job.

    @property
    def dequeue_timeout(self) -> int:
        """Seconds that BLMOVE waits."""
        return _POLL_S

    @property
    def connection_timeout(self) -> int:
        """Seconds after which RQ's client gives a call up."""
        return _SILENCE_S

    # --- the loop of the main thread

    def serve(self) -> None:
        """Take hints until a signal comes or the event loop ends. Redis may go and come back meanwhile."""
        while not self._stop.is_given and self._loop.is_alive:
            with self._patience():
                self._serve_once()

    def wind_down(self) -> None:
        """Have the turns finished or handed back, settle their jobs, sign off."""
        self._loop.finish()
        while not self._loop.wait(_POLL_S) and not self._loop.is_overdue:
            with self._patience():
                self._tend()
        self._settlers.shutdown()
        with suppress(RedisError):  # Else it is forgotten a little later.
            self.register_death()  # type: ignore[no-untyped-call]  # RQ left it without types.

    def _serve_once(self) -> None:
        self._tend()
        if is_suspended(self.connection, self):
            self._show(WorkerStatus.SUSPENDED)
            time.sleep(_POLL_S)
            return
        self._show(WorkerStatus.BUSY if self.executions else WorkerStatus.IDLE)
        if not self._slots.acquire(timeout=_POLL_S):  # Before the pop: what we cannot run, another worker can.
            return
        is_begun = False
        try:
            hint = self._take()
            if hint is not None:
                self._begin(hint)
                is_begun = True
        finally:
            if not is_begun:
                self._slots.release()

    def _take(self) -> Hint | None:
        """The next hint; None when there is none, when it is not ours, or when we are stopping."""
        try:
            _, popped = Queue.lmove(self.connection, self._queue.key, self.dequeue_timeout)
        except DequeueTimeout:
            return None
        if self._stop.is_given:
            self._put_back(popped)
            return None
        try:
            hint = Hint(popped.decode(), connection=self.connection, serializer=self.serializer)
            hint.refresh()  # type: ignore[no-untyped-call]  # RQ left it without types.
        except (NoSuchJobError, ValueError, ResponseError):  # Nothing there, no job id, no hash.
            self._discard(popped)
            return None
        hint.origin = self._queue.name
        if hint.asks_for(self._job):
            return hint
        log.warning("unknown job parked", job=hint.id)
        self.handle_job_failure(hint, self._queue, exc_string=f"Unknown job: this worker runs only {self._job}.")
        self._unlist(self.connection, popped)
        return None

    def _begin(self, hint: Hint) -> None:
        try:
            execution = self.prepare_execution(hint)
            self.prepare_job_execution(hint, remove_from_intermediate_queue=True)
        except RedisError:
            # RQ lists an execution before Redis knows it: the list must not keep a ghost.
            for ghost in [each for each in list(self.executions.values()) if each.job_id == hint.id]:
                self.executions.pop(ghost.id, None)
            raise
        self._loop.begin(lambda error: self._ended(hint, execution, error))

    def _put_back(self, popped: bytes) -> None:
        with self.connection.pipeline() as pipeline:
            self._unlist(pipeline, popped)
            pipeline.lpush(self._queue.key, popped)
            pipeline.execute()

    def _discard(self, popped: bytes) -> None:
        """Forget a queue entry without a readable record."""
        log.warning("hint without a record dropped")
        with self.connection.pipeline() as pipeline:
            self._unlist(pipeline, popped)
            pipeline.delete(Job.redis_job_namespace_prefix.encode() + popped)
            pipeline.execute()

    def _unlist(self, to: Redis, popped: bytes) -> None:
        """Take an entry out of RQ's list of jobs between pop and start."""
        to.lrem(self._queue.intermediate_queue_key, 1, popped)  # type: ignore[arg-type]  # Bytes are fine there.

    @contextmanager
    def _patience(self) -> Iterator[None]:
        """Log an error of Redis once, wait a little, go on."""
        try:
            yield
        except RedisError as error:
            if not self._is_away:
                log.warning("redis away", error=type(error).__name__)
            self._is_away = True
            time.sleep(_PAUSE_S)
        else:
            if self._is_away:
                log.info("redis back")
            self._is_away = False

    # --- a job that ended

    def _ended(self, hint: Hint, execution: Execution, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # The settlers are gone: the loop was overdue when it came to this.
            self._settlers.submit(self._settle, hint, execution, error)

    def _settle(self, hint: Hint, execution: Execution, error: BaseException | None) -> None:
        try:
            hint.ended_at = now()
            while not self._is_settled(hint, execution, error):
                if self._stop.is_given:
                    log.warning("hint left unsettled", job=hint.id)
                    break
                time.sleep(_PAUSE_S)
        except Exception:  # The boundary of a settler: a record that somebody damaged must not cost a slot.
            log.exception("hint cannot be settled", job=hint.id)
        finally:
            self.executions.pop(execution.id, None)
            self._slots.release()

    def _is_settled(self, hint: Hint, execution: Execution, error: BaseException | None) -> bool:
        """Whether RQ's books could be written; False while Redis is away."""
        try:
            if error is None:
                started = self._queue.started_job_registry
                self.handle_job_success(hint, self._queue, started_job_registry=started, execution=execution)
            else:
                # The text of an error may hold what nobody should read in Redis; the log, which masks, has it.
                reason = f"{type(error).__name__}: the worker's log says more."
                self.handle_job_failure(hint, self._queue, exc_string=reason, execution=execution)
        except (RedisAway, RedisSilent, OutOfMemoryError, ReadOnlyError):
            return False
        return True

    # --- signs of life, and tidying

    def procline(self, message: str) -> None:
        """Change nothing: `zclaw status` and people know this process by its command line."""

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:  # noqa: ARG002
        """Seconds after the last beat at which an execution counts as abandoned."""
        return _ALIVE_S

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:  # noqa: ARG002
        """Say that this worker lives. Says all there is to say, for Redis may have forgotten it meanwhile."""
        to = pipeline if pipeline is not None else self.connection
        self.last_heartbeat = now()
        to.hset(self.key, mapping={**self.serialize(), "state": self.get_state()})
        to.expire(self.key, _ALIVE_S)
        to.expire(self.executions_key, _ALIVE_S)
        worker_registration.register(self, pipeline)

    def _show(self, state: WorkerStatus) -> None:
        if self.get_state() != state:
            self.set_state(state)

    def _tend(self) -> None:
        """Every few seconds: keep what we execute alive, tidy up after workers that died."""
        if time.monotonic() < self._tended_at + _TEND_EVERY_S:
            return
        with self.connection.pipeline() as pipeline:
            self.heartbeat(pipeline=pipeline)
            for execution in list(self.executions.values()):
                execution.heartbeat(self._queue.started_job_registry, _ALIVE_S, pipeline=pipeline)
            pipeline.execute()
        self.clean_registries()
        self._tended_at = time.monotonic()

    def clean_registries(self) -> None:
        """Tidy the queue, one worker at a time; the lock of one that was killed meanwhile lapses within a tending."""
        lock = f"{self._queue.key}:tidy"
        if not self.connection.set(lock, self.name, nx=True, px=int(_TEND_EVERY_S * 1000)):
            return
        self._queue.finished_job_registry.cleanup()
        self._queue.failed_job_registry.cleanup()
        self._give_up_abandoned()
        self._drop_stuck()
        worker_registration.clean_worker_registry(self._queue)

    def _give_up_abandoned(self) -> None:
        """Move hints of killed workers to the failed registry."""
        registry = self._queue.started_job_registry
        registry.job_class = Hint  # The queue may know jobs by RQ's class, which believes what it reads.
        try:
            registry.cleanup()
        except (RedisAway, RedisSilent):
            raise
        except Exception:  # The boundary to records that anybody could have written.
            log.exception("abandoned hints cannot be read: dropped")
            self.connection.zremrangebyscore(registry.key, 0, time.time())

    def _drop_stuck(self) -> None:
        """Drop hints whose worker was killed between pop and start: those that an earlier look saw there too."""
        listed = self.connection.lrange(self._queue.intermediate_queue_key, 0, -1)
        there = frozenset(popped for popped in listed if isinstance(popped, bytes))
        for popped in there & self._stuck:
            self._discard(popped)
        self._stuck = there - self._stuck


def run_worker(
    queue: Queue,
    open_turns: OpenTurns,
    *,
    job: str,
    name: str | None = None,
    slots: int = SLOTS,
    grace: timedelta = GRACE,
) -> int:
    """Work on `queue` until SIGTERM or SIGINT; the exit code: 0, or 1 when a turn was left behind or the loop broke.

    `job` is the one name that is run. `name` is how RQ's monitoring calls this worker, and must be its alone.
    `open_turns` is entered and left inside the event loop: what it opens there (clients, sessions) it closes there.
    The first signal lets turns finish for `grace` and then hands them back, the same signal again at once.
    Call it in the main thread. Raises what entering `open_turns` raises.
    """
    turn_loop = TurnLoop(open_turns, grace=grace)
    stop = StopSignal(turn_loop)
    with _handled(stop), turn_loop:
        if turn_loop.is_alive:
            worker = TurnWorker(queue, turn_loop, stop, job=job, name=name, slots=slots)
            log.info("worker started", worker=worker.name)
            worker.serve()
            worker.wind_down()
    log.info("worker stopped", clean=turn_loop.is_clean)
    return 0 if turn_loop.is_clean else 1


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
