"""What our worker leans on in RQ beyond its documented surface; RQ is pinned below 3.1, this says why it broke."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import redis
import rq.suspension
import rq.worker_registration
from rq import Queue, Worker
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.registry import BaseRegistry, StartedJobRegistry
from rq.version import VERSION
from rq.worker import BaseWorker, WorkerStatus

from workers.worker import Hint, TurnWorker

CALLED: dict[Callable[..., Any], list[str]] = {
    BaseWorker.prepare_execution: ["self", "job"],
    BaseWorker.prepare_job_execution: ["self", "job", "remove_from_intermediate_queue"],
    BaseWorker.handle_job_success: ["self", "job", "queue", "started_job_registry", "execution"],
    BaseWorker.handle_job_failure: ["self", "job", "queue", "started_job_registry", "exc_string", "execution"],
    BaseWorker.register_death: ["self"],
    BaseWorker.set_state: ["self", "state", "pipeline"],
    BaseWorker.get_state: ["self"],
    BaseWorker.serialize: ["self"],
    Execution.heartbeat: ["self", "started_job_registry", "ttl", "pipeline"],
    Queue.lmove: ["connection", "queue_key", "timeout"],
    Job.refresh: ["self"],
    StartedJobRegistry.cleanup: ["self", "timestamp", "exception_handlers"],
    rq.suspension.is_suspended: ["connection", "worker"],
    rq.worker_registration.register: ["worker", "pipeline"],
    rq.worker_registration.clean_worker_registry: ["queue"],
}

OVERRIDDEN: dict[Callable[..., Any], list[str]] = {
    BaseWorker.procline: ["self", "message"],
    BaseWorker.get_heartbeat_ttl: ["self", "job", "working_time"],
    BaseWorker.heartbeat: ["self", "timeout", "pipeline"],
    BaseWorker.clean_registries: ["self"],
    Job.restore: ["self", "raw_data"],
}


@pytest.mark.parametrize("method", CALLED | OVERRIDDEN, ids=lambda method: method.__qualname__)
def test_signature_is_the_one_we_know(method: Callable[..., Any]) -> None:
    assert list(inspect.signature(method).parameters) == (CALLED | OVERRIDDEN)[method]


def test_every_method_of_rq_that_we_replace_is_listed() -> None:
    ours = {name for name in vars(TurnWorker) if hasattr(Worker, name) and not name.startswith("__")}

    assert ours == {method.__name__ for method in OVERRIDDEN if "Worker" in method.__qualname__} | {
        "job_class",
        "dequeue_timeout",
        "connection_timeout",
    }


def test_the_client_gets_our_timeout() -> None:
    assert "self.connection_timeout" in inspect.getsource(BaseWorker._set_connection)
    assert isinstance(inspect.getattr_static(BaseWorker, "connection_timeout"), property)
    assert isinstance(inspect.getattr_static(BaseWorker, "dequeue_timeout"), property)


def test_executions_are_a_dict_by_id_that_rq_fills_before_redis_knows() -> None:
    source = inspect.getsource(rq.executions.prepare_execution)

    assert source.index("worker.executions[execution.id] = execution") < source.index("pipeline.execute()")
    assert "executions.pop(execution.id, None)" in inspect.getsource(rq.executions.cleanup_execution)


def test_reading_a_record_takes_only_what_our_hint_allows() -> None:
    unused = redis.Redis()
    hint = Hint("h", connection=unused, serializer="json")
    forged = {
        name.encode(): b"1"
        for name in inspect.getsource(Job.restore).split("'")
        if name.isidentifier() and name not in ("data", "status")
    }

    hint.restore({b"data": b"{}", b"status": b"started", **forged})

    plain = Hint("h", connection=unused, serializer="json")
    plain.restore({b"data": b"{}", b"status": b"started", b"origin": b"1"})
    assert len(forged) > 20
    assert {name for name, value in vars(hint).items() if value != vars(plain)[name]} <= {"created_at"}
    assert hint.get_status(refresh=False) is JobStatus.STARTED


def test_names_that_are_not_methods() -> None:
    assert Job.redis_job_namespace_prefix == "rq:job:"
    assert BaseRegistry.job_class is Job
    assert {WorkerStatus.BUSY, WorkerStatus.IDLE, WorkerStatus.SUSPENDED} <= set(WorkerStatus)
    assert VERSION.startswith("3.0.")
