"""The worker as a process of its own, against a real store."""

from __future__ import annotations

import signal
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
import rq.suspension
from rq import Queue, Worker
from rq.job import JobStatus
from rq.utils import now, utcformat

from kernel.errors import BadSettings
from tests.workers.hall import JOB, QUEUE, Hall, until
from workers.turnloop import OpenTurns
from workers.worker import run_worker
from zclaw.store import start_store

SECRET = "sk-canary-4711"


def test_a_hint_is_drained_and_counted_as_finished(hall: Hall) -> None:
    hall.worker()
    hall.store.set("free", 1)

    (job,) = hall.hint()

    until(lambda: job.get_status() == JobStatus.FINISHED)
    assert hall.length("ended") == 1
    assert 0 < hall.store.ttl(job.key) <= 60
    assert hall.executing() == 0
    assert hall.intermediate() == 0
    lasting = {key for key in hall.store.scan_iter("rq:*") if hall.store.ttl(key) < 0}
    registries = {"rq:queues", "rq:workers", f"rq:workers:{QUEUE}", f"rq:finished:{QUEUE}"}
    assert lasting <= {name.encode() for name in registries}


def test_many_drains_run_at_once_and_rq_info_says_so(hall: Hall) -> None:
    process = hall.worker()

    hall.hint(20)
    until(lambda: hall.length("begun") == 20)

    assert hall.state() == "busy"
    assert f"queue {QUEUE} 0, 20 executing, 0 finished, 0 failed" in hall.info()
    assert f"{process.pid}) busy {QUEUE}" in hall.info()

    hall.store.rpush("go", 1)
    until(lambda: hall.state() == "idle")

    assert f"queue {QUEUE} 0, 0 executing, 20 finished, 0 failed" in hall.info()
    (worker,) = Worker.all(connection=hall.store)
    assert worker.successful_job_count == 20
    assert hall.store.exists("rq:worker:w1:executions") == 0


def test_a_full_worker_leaves_hints_to_others(hall: Hall) -> None:
    hall.worker("w1", "--slots", "2")

    hall.hint(5)
    until(lambda: hall.length("begun") == 2)
    until(lambda: hall.state() == "busy")

    assert hall.waiting() == 3
    assert hall.intermediate() == 0

    hall.worker("w2")
    until(lambda: hall.length("begun") == 5)


def test_a_drain_that_raises_fails_its_job_without_its_words_and_the_next_one_works(hall: Hall) -> None:
    hall.store.set("broken", f"no access with {SECRET}")
    hall.worker()

    (failing,) = hall.hint()
    until(lambda: failing.get_status() == JobStatus.FAILED)
    hall.store.delete("broken")
    hall.store.set("free", 1)
    (good,) = hall.hint()

    until(lambda: good.get_status() == JobStatus.FINISHED)
    assert failing.exc_info == "ValueError: the worker's log says more."
    assert 86000 < hall.store.ttl(failing.key) <= 86400
    assert hall.executing() == 0


# --- the end


def test_sigterm_lets_turns_finish_and_leaves_hints_in_the_queue(hall: Hall) -> None:
    process = hall.worker()
    jobs = hall.hint(10)
    until(lambda: hall.length("begun") == 10)

    process.terminate()
    until(lambda: hall.length("stopping") == 1)
    hall.hint()
    hall.store.rpush("go", 1)

    assert process.wait(10) == 0
    assert hall.length("ended") == 10
    assert hall.length("cancelled") == hall.length("handed-back") == 0
    assert hall.length("closed") == 1
    assert {job.get_status() for job in jobs} == {JobStatus.FINISHED}
    assert hall.waiting() == 1
    assert Worker.all(connection=hall.store) == []
    assert hall.executing() == 0


def test_a_hint_that_comes_with_the_signal_goes_back_into_the_queue(hall: Hall) -> None:
    process = hall.worker()

    process.terminate()
    until(lambda: hall.store.exists("stopping") or hall.queue.enqueue(JOB))

    assert process.wait(10) == 0
    assert hall.intermediate() == 0
    assert hall.length("begun") == 0
    assert hall.waiting() > 0


def test_after_the_grace_turns_are_handed_back(hall: Hall) -> None:
    process = hall.worker("w1", "--grace", "0.3")
    jobs = hall.hint(3)
    until(lambda: hall.length("begun") == 3)

    process.terminate()

    assert process.wait(10) == 0
    assert hall.length("cancelled") == 3
    assert hall.length("handed-back") == 1
    assert hall.length("closed") == 1
    assert {job.get_status() for job in jobs} == {JobStatus.FINISHED}


def test_a_second_sigterm_hands_back_at_once(hall: Hall) -> None:
    process = hall.worker("w1", "--grace", "60")
    hall.hint(3)
    until(lambda: hall.length("begun") == 3)

    process.terminate()
    until(lambda: hall.length("stopping") == 1)
    begin = time.monotonic()
    process.terminate()

    assert process.wait(10) == 0
    assert time.monotonic() - begin < 3
    assert hall.length("handed-back") == 1


def test_ctrl_c_and_the_supervisors_sigterm_are_one_request(hall: Hall) -> None:
    process = hall.worker("w1", "--grace", "60")
    hall.hint()
    until(lambda: hall.length("begun") == 1)

    process.send_signal(signal.SIGINT)
    process.terminate()
    until(lambda: hall.length("stopping") == 1)
    hall.store.rpush("go", 1)

    assert process.wait(10) == 0
    assert hall.length("ended") == 1
    assert hall.length("handed-back") == 0


def test_sigterm_while_turns_are_being_opened_ends_the_worker(hall: Hall) -> None:
    hall.store.set("shut", 1)
    process = hall.start("w1")
    until(lambda: hall.length("knocking"))

    process.terminate()

    assert process.wait(10) == 0
    assert hall.state() == "gone"


# --- deaths


def test_after_kill_9_another_worker_tidies_the_books(hall: Hall) -> None:
    process = hall.worker("w1", "--brief")
    jobs = hall.hint(10)
    until(lambda: hall.length("begun") == 10)

    process.kill()
    process.wait()
    hall.worker("w2", "--brief")

    until(lambda: hall.executing() == 0)
    assert {job.get_status() for job in jobs} == {JobStatus.FAILED}
    assert len(hall.queue.failed_job_registry.get_job_ids(cleanup=False)) == 10
    until(lambda: [worker.name for worker in Worker.all(connection=hall.store)] == ["w2"])
    until(lambda: not list(hall.store.scan_iter("rq:execution:*")))
    assert not hall.store.exists("rq:worker:w1:executions")
    assert all(0 < hall.store.ttl(key) <= 62 for key in hall.store.scan_iter("rq:executions:*"))
    assert all(0 < hall.store.ttl(job.key) <= 86400 for job in jobs)


def test_a_drain_that_outlasts_the_signs_of_life_is_still_executing(hall: Hall) -> None:
    hall.worker("w1", "--brief")
    hall.worker("w2", "--brief")
    jobs = hall.hint(2)
    until(lambda: hall.length("begun") == 2)

    later = utcformat(now() + timedelta(seconds=4))
    until(lambda: (hall.field("rq:worker:w1", "last_heartbeat") or "") > later)

    assert hall.executing() == 2
    assert {job.get_status() for job in jobs} == {JobStatus.STARTED}
    hall.store.rpush("go", 1, 1)
    until(lambda: {job.get_status() for job in jobs} == {JobStatus.FINISHED})


def test_a_hint_popped_by_a_worker_that_died_is_dropped(hall: Hall) -> None:
    (job,) = hall.hint()
    hall.store.lmove(f"rq:queue:{QUEUE}", f"rq:queue:{QUEUE}:intermediate")

    hall.worker("w1", "--brief")

    until(lambda: hall.intermediate() == 0)
    assert hall.store.exists(job.key) == 0


def test_a_worker_that_died_while_tidying_holds_up_nobody_for_long(hall: Hall) -> None:
    hall.store.set(f"rq:queue:{QUEUE}:tidy", "dead", px=500)
    hall.store.set(f"rq:clean_registries:{QUEUE}", 1)
    hall.store.zadd(f"rq:wip:{QUEUE}", {"gone:gone": 1})

    hall.worker("w1", "--brief")

    until(lambda: hall.executing() == 0, within_s=5)


def test_suspend_and_resume_are_obeyed(hall: Hall) -> None:
    hall.store.set("free", 1)
    hall.worker()

    rq.suspension.suspend(hall.store)
    until(lambda: hall.state() == "suspended")
    (job,) = hall.hint()
    pushed = utcformat(now())
    until(lambda: (hall.field("rq:worker:w1", "last_heartbeat") or "") > pushed)
    assert job.get_status() == JobStatus.QUEUED
    rq.suspension.resume(hall.store)

    until(lambda: job.get_status() == JobStatus.FINISHED)


def test_redis_goes_and_comes_back_and_the_worker_goes_on(tmp_path: Path) -> None:
    store = start_store(tmp_path / "store")
    hall = Hall(store.url, tmp_path)
    try:
        process = hall.worker("w1", "--brief")
        hall.store.set("free", 1)

        store.stop()
        time.sleep(3)  # Longer than its signs of life: it must sign on anew.
        store = start_store(tmp_path / "store")
        hall.store.delete("rq:worker:w1", "rq:workers", f"rq:workers:{QUEUE}")

        (job,) = hall.hint()
        until(lambda: job.get_status() == JobStatus.FINISHED)
        until(lambda: [worker.name for worker in Worker.all(connection=hall.store)] == ["w1"])
        assert process.poll() is None
    finally:
        hall.close()
        store.stop()


def test_what_opening_the_turns_raises_reaches_the_caller(redis_url: str) -> None:
    async def fail() -> None:
        raise BadSettings("Set ANTHROPIC_API_KEY.")

    class Closed:
        async def __aenter__(self) -> Any:
            await fail()

        async def __aexit__(self, *_: object) -> None: ...

    open_turns: OpenTurns = Closed
    queue = Queue(QUEUE, connection=redis.Redis.from_url(redis_url), serializer="json")

    with queue.connection, pytest.raises(BadSettings, match="ANTHROPIC_API_KEY"):
        run_worker(queue, open_turns, job=JOB)
