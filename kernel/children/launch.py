"""What happens in a child between its fork and the start of its program."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from kernel.children import linux

_NICE = 10
_CANNOT_START = 127


class Order(NamedTuple):  # Not a dataclass: see kernel/children/processes.py.
    """What a keeper is to start, and how long it may run; `folder` is where, `private` goes to the child's user."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    private: str
    within_s: float | None
    limits: Mapping[str, int]
    is_sandboxed: bool

    @staticmethod
    def from_line(line: bytes) -> Order:
        """The order that the worker wrote."""
        content: dict[str, Any] = json.loads(line)
        return Order(**{**content, "argv": tuple(content["argv"])})


def become(order: Order, streams: tuple[int, int, int], report: int, uid: int | None, tasks: int) -> NoReturn:
    """Turn this process into the child. What fails is written to `report`, which closes when the program starts.

    `tasks` is how many tasks the child's user runs already.
    """
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.dup2(report, 3)
        os.set_inheritable(3, False)
        report = 3
        os.closerange(4, highest_fd())
        os.umask(0o077)
        _limit(order, tasks)
        _expect_the_worst()
        os.nice(_NICE)
        if uid is not None:
            _change_user(uid)
        if not order.is_sandboxed:  # The sandbox sees to it itself, and an old one needs the right until then.
            linux.gain_nothing()
        linux.die_with_parent(signal.SIGKILL)
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.chdir(order.folder)
        os.execvpe(order.argv[0], list(order.argv), dict(order.environment))  # noqa: S606
    except OSError as error:
        os.write(report, f"{error.strerror}: {error.filename or order.argv[0]}".encode()[:500])
    except BaseException as error:  # The boundary of a fork: nothing may return from here.
        os.write(report, type(error).__name__.encode())
    finally:
        os._exit(_CANNOT_START)


def _limit(order: Order, tasks: int) -> None:
    limits = {**order.limits, "NPROC": order.limits["NPROC"] + tasks, "CORE": 0}
    if sys.platform != "linux":
        limits.pop("DATA", None)  # Counts nothing there.
    for name, wanted in limits.items():
        number = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(number)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (value, value))


def _expect_the_worst() -> None:
    """Be the first to go when the machine runs out of memory."""
    linux.hide(is_hidden=False)  # Else the file is root's.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as score:  # noqa: PTH123
        score.write(b"1000")


def _change_user(uid: int) -> None:
    os.setgroups(())
    os.setgid(uid)
    os.setuid(uid)


def highest_fd() -> int:
    """No open file of a guard or keeper has a higher number: they were started under this very limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if 0 < soft < 2**20 else 2**20
