"""The tests of the core can fail: no row of the transition table and no check of a script is gone unnoticed.

Each module and each script is a test of its own, so that one can be tried alone and several machines can share them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import pytest

import kernel.stores
from tests.chaos.mutants import Mutant, lua_mutants, python_mutants

ROOT = Path(__file__).parents[2]
LUA = Path(kernel.stores.__path__[0]) / "lua"
SCRIPTS = sorted(file.stem for file in LUA.glob("*.lua"))

MIND = (
    "kernel.session",
    "kernel.gates",
    "kernel.frames",
    "kernel.transitions",
    "kernel.context",
    "kernel.loop",
    "kernel.guards",
)
MIND_TESTS = (
    "tests/kernel/test_session.py",
    "tests/kernel/test_transitions.py",
    "tests/kernel/test_rows.py",
    "tests/kernel/test_awaiting.py",
    "tests/kernel/test_loop.py",
    "tests/kernel/test_guards.py",
    "tests/kernel/test_context.py",
    "tests/kernel/test_interleavings.py::test_the_memory_store_comes_to_the_same_sessions",
)
STORES = "tests/kernel/stores"
TESTS_OF = {
    "outbox": ("_outbox", "add", "done", "draft", "drafts", "fail", "later", "progress", "pull", "working"),
    "triggers": ("_triggers", "dues", "fire", "ring", "triggers"),
    "small_ports": ("_blobs", "blob_keep", "blob_room", "beat", "refuse"),
}
"""Which file of claims is about which scripts; the others are about conversations."""

NEVER_ENDED = "a turn that has ended never runs, and only the one that runs gets here"
EQUIVALENT: dict[str, str] = {
    "kernel.session running: self.active is True": "no turn has an empty id",
    "kernel.session is_waiting: without self.ending is not None": "an ended turn is open only while a claim can move",
    "kernel.session is_waiting: without bool(pending)": "a message whose calls are all answered has closed",
    "kernel.session is_waiting: without filter not gate.is_answered": "an answered call cannot move",
    "kernel.transitions _is_thinking: without turn.ending is None": NEVER_ENDED,
    "kernel.transitions _open_frame: without turn.ending is not None": NEVER_ENDED,
    "kernel.transitions _move_gate: without gate.is_answered": "no event fits an answered call, and ids are distinct",
    "kernel.gates next_gate: without is_live": "an ended turn has no call that waits to start",
    "kernel.transitions _close_if_answered: frames == turn.frames is False": "an equal copy",
    "kernel.transitions _closed: without filter result is not None": "all are there; for the types",
    "kernel.transitions _with_behind: if opened is None: never": "a question is open; for the types",
    "kernel.frames map_top_gates: if opened is None: never": "callers have an open message; for the types",
    "kernel.loop _with_distinct_calls: call_id == part.id is False": "an equal copy",
    "lua/due never: not next(is_due)": "it only saves a look",
    "lua/draft without 'GT'": "a draft outlives every sign of work",
    "lua/progress never: value == ''": "an empty field reads as one that is not there",
    "lua/progress without token ~= ''": "no prompt has an empty token",
    "lua/commit without before": "to forget what is not there changes nothing",
    "lua/commit without before ~= where": "what is forgotten is stored again whole",
}
"""Mutants that nobody could tell from the original, and why."""


def module_mutants(module: str) -> list[Mutant]:
    """Of one module of the mind."""
    file = import_module(module).__file__
    assert file is not None
    return list(python_mutants(module, Path(file).read_text("utf-8")))


def script_mutants(script: str) -> list[Mutant]:
    """Of one Lua script."""
    return list(lua_mutants(script, (LUA / f"{script}.lua").read_text("utf-8")))


def store_tests(mutant: Mutant) -> list[str]:
    """The claims about the script, on Redis alone."""
    script = mutant.where.removeprefix("lua/")
    about = next((name for name, scripts in TESTS_OF.items() if script in scripts), "conversations")
    files = [f"{STORES}/test_mutants.py", f"{STORES}/test_{about}.py", f"{STORES}/test_redis.py"]
    if about == "conversations":
        plays = "tests/kernel/test_interleavings.py::test_redis_comes_to_the_same_sessions"
        files += [f"{STORES}/test_{each}.py" for each in ("history", "memories", "spendings")] + [plays]
    if script.startswith("_") or about == "outbox":
        files += [f"{STORES}/test_{each}.py" for each in ("outbox", "triggers", "small_ports")]
    return ["-k", "not [memory]", *files]


def fates(mutants: Sequence[Mutant], tests: Callable[[Mutant], Sequence[str]], folder: Path) -> list[str]:
    """The first test that fails over each mutant; empty for one that lives."""
    plan = folder / "plan.json"
    plan.write_text(json.dumps([asdict(each) | {"tests": list(tests(each))} for each in mutants]), "utf-8")
    command = [sys.executable, "-m", "tests.chaos.mutation_run", str(plan)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = {line["number"]: str(line["fate"]) for line in map(json.loads, ran.stdout.splitlines())}
    return [told[number] for number in range(len(mutants))]


def check(mutants: Sequence[Mutant], tests: Callable[[Mutant], Sequence[str]], folder: Path) -> None:
    """Try them all; those that live are listed."""
    began = time.monotonic()
    found = fates(mutants, tests, folder)
    lived = [mutant for mutant, fate in zip(mutants, found, strict=True) if not fate]
    killers = Counter(fate.split("::")[0] for fate in found if fate)
    took_s = time.monotonic() - began
    print(f"\n{len(mutants)} mutants in {took_s:.0f} s, {len(lived)} lived; killed by {dict(killers)}")
    surprises = [str(each) for each in lived if f"{each.where} {each.what}" not in EQUIVALENT]
    print("\n".join(surprises))
    assert not surprises


@pytest.mark.chaos
def test_what_is_excused_is_still_there() -> None:
    mutants = [each for module in MIND for each in module_mutants(module)]
    mutants += [each for script in SCRIPTS for each in script_mutants(script)]

    assert EQUIVALENT.keys() <= {f"{each.where} {each.what}" for each in mutants}


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("module", MIND)
def test_every_row_and_check_of_the_mind_is_needed(module: str, tmp_path: Path) -> None:
    check(module_mutants(module), lambda _: MIND_TESTS, tmp_path)


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_check_of_a_script_is_needed(script: str, tmp_path: Path) -> None:
    check(script_mutants(script), store_tests, tmp_path)
