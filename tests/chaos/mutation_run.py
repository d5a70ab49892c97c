"""Runs tests over many mutants: everything is imported once, each mutant gets a fork of its own.

`python -m tests.chaos.mutation_run PLAN`: PLAN is JSON, a list of mutants each with the `tests` that shall fail
over it. One JSON line a mutant goes to stdout: the first test that failed, empty when the mutant lives.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

AT_ONCE = max(2, os.cpu_count() or 2)
LONGEST_S = 150.0
_WARM = ("tests.twins.interleaving", "tests.kernel.stores.words", "kernel.stores.redis.stores", "zclaw.store")


@dataclass(slots=True)
class _Run:
    number: int
    pid: int
    told: Path
    ends: float


def main(plan: Path) -> None:
    """Try every mutant of the plan."""
    for name in _WARM:
        __import__(name)
    mutants = json.loads(plan.read_text("utf-8"))
    waiting, running = list(enumerate(mutants)), list[_Run]()
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                number, mutant = waiting.pop(0)
                running.append(_fork(number, mutant, Path(folder)))
            time.sleep(0.02)
            for run in list(running):
                fate = _fate(run)
                if fate is not None:
                    running.remove(run)
                    print(json.dumps({"number": run.number, "fate": fate}), flush=True)


def _fork(number: int, mutant: dict[str, object], folder: Path) -> _Run:
    file, told = folder / f"{number}.json", folder / f"{number}.txt"
    file.write_text(json.dumps(mutant), "utf-8")
    pid = os.fork()
    if pid == 0:
        os.setsid()
        out = os.open(told, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        tests = mutant["tests"]
        assert isinstance(tests, list)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "tests.chaos.mutants", "--mutant", str(file)]
        options += ["--timeout", "60", "-m", "not chaos", "--basetemp", str(folder / str(number))]
        code = 70
        try:
            code = int(pytest.main([*options, *tests]))
        finally:
            sys.stdout.flush()
            os._exit(code)
    return _Run(number, pid, told, time.monotonic() + LONGEST_S)


def _fate(run: _Run) -> str | None:
    """None while it runs."""
    done, status = os.waitpid(run.pid, os.WNOHANG)
    if not done:
        if time.monotonic() < run.ends:
            return None
        _end(run.pid)
        return "it never ended"
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return ""
    text = run.told.read_text("utf-8", "replace")
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    return str(failed[0]) if failed else f"exit {code}: {text[-300:]}"


def _end(pid: int) -> None:
    """As Ctrl-C does, so that fixtures end the stores that they started; by force when that is not heard."""
    os.kill(pid, signal.SIGINT)
    for _ in range(100):
        time.sleep(0.1)
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
