"""Somebody else writes to Redis: jobs, records and registries that are not ours."""

from __future__ import annotations

import http.server
import json
import pickle
import threading
from typing import Any

from rq.job import JobStatus

from tests.workers.hall import JOB, QUEUE, Hall, until


class Bomb:
    """Unpickled, it imports the trap."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (__import__, ("tests.workers.trap",))


def forge(hall: Hall, job_id: bytes, record: dict[str, Any] | bytes) -> None:
    """Queue a job as an intruder would, past RQ."""
    key = b"rq:job:" + job_id
    if isinstance(record, bytes):
        hall.store.set(key, record)
    else:
        fields: dict[Any, Any] = {"origin": QUEUE, "status": "queued", **record}
        hall.store.hset(key, mapping=fields)
    hall.store.rpush(f"rq:queue:{QUEUE}", job_id)


def name(function: object) -> str:
    return json.dumps([function, None, [], {}])


TRAP = "tests.workers.trap.spring"
PARKED: dict[str, dict[str, Any]] = {
    "another-function": {"data": name(TRAP)},
    "a-function-of-ours-by-another-name": {"data": name("workers.worker.run_worker")},
    "a-pickle": {"data": pickle.dumps((JOB, Bomb(), (), {}))},
    "no-json": {"data": b"\xff\xfe{"},
    "no-job": {"data": "{}"},
    "a-number-as-name": {"data": name(7)},
    "a-list-as-name": {"data": name([JOB])},
    "five-megabytes": {"data": name(JOB) + " " * 5_000_000},
    "no-data": {"description": "x"},
    "callbacks": {
        "data": name(TRAP),
        "failure_callback_name": TRAP,
        "stopped_callback_name": TRAP,
        "failure_callback_timeout": "x",
    },
    "bad-fields": {"data": name(TRAP), "status": "\x00", "timeout": "-9e99", "retries_left": "9999999999999999999999"},
    "retries": {"data": name(TRAP), "retries_left": 5, "retry_intervals": "[0]"},
}


def test_tampered_jobs_are_parked_unimported_and_the_worker_lives(hall: Hall) -> None:
    process = hall.worker()
    hall.store.set("free", 1)

    for job_id, record in PARKED.items():
        forge(hall, job_id.encode(), record)
    forge(hall, b"\xff\xfe", {"data": name(JOB)})
    forge(hall, b"not/an/id", {"data": name(JOB)})
    forge(hall, b"not-a-hash", b"text")
    hall.store.rpush(f"rq:queue:{QUEUE}", "no-record", "")
    (good,) = hall.hint()

    until(lambda: good.get_status() == JobStatus.FINISHED)
    assert set(hall.queue.failed_job_registry.get_job_ids(cleanup=False)) == set(PARKED)
    assert all(hall.field(f"rq:job:{job_id}", "status") == "failed" for job_id in PARKED)
    assert hall.length("ended") == 1
    assert hall.waiting() == hall.intermediate() == hall.executing() == 0
    assert not hall.trap.exists()
    assert process.poll() is None


def test_what_a_forged_record_adds_to_a_hint_is_not_believed(hall: Hall) -> None:
    called = threading.Event()

    class Ear(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            called.set()

    server = http.server.HTTPServer(("127.0.0.1", 0), Ear)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hooks = [{"url": f"http://127.0.0.1:{server.server_port}/", "job_status": "finished"}]
    hall.store.set("free", 1)
    hall.worker()

    forge(
        hall,
        b"gilded",
        {
            "data": name(JOB),
            "success_callback_name": TRAP,
            "webhooks": json.dumps(hooks),
            "result_ttl": -1,
            "origin": "elsewhere",
            "repeats_left": 1000,
            "repeat_intervals": "[0]",
            "rate_limit_key": "k",
            "rate_limit_concurrency": 1,
            "group_id": "g",
        },
    )

    until(lambda: hall.field("rq:job:gilded", "status") == "finished")
    until(lambda: hall.state() == "idle")
    server.shutdown()
    server.server_close()
    assert hall.length("ended") == 1
    assert 0 < hall.store.ttl("rq:job:gilded") <= 60
    assert list(hall.store.scan_iter("*elsewhere*")) == []
    assert not hall.trap.exists()
    assert not called.is_set()


def test_damaged_registries_do_not_stop_the_worker(hall: Hall) -> None:
    hall.store.zadd(f"rq:wip:{QUEUE}", {b"\xff": 1, b"a:b:c": 1, b"loose": 1})
    hall.store.rpush(f"rq:queue:{QUEUE}:intermediate", b"\xfe")
    hall.store.set("free", 1)

    process = hall.worker("w1", "--brief")
    (good,) = hall.hint()

    until(lambda: good.get_status() == JobStatus.FINISHED)
    until(lambda: hall.executing() == 0)
    until(lambda: hall.intermediate() == 0)
    assert process.poll() is None
