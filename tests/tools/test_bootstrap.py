from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "tools" / "bootstrap.py"
GOOD = ((3, 12), "linux", "glibc-2.36", True, "/usr/bin/python3.12")


@pytest.fixture
def bootstrap() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (((3, 12), "windows", "-", True, "py"), "install WSL 2"),
        (((3, 12), "linux", "musl", True, "py"), "docker compose up"),
        (((3, 10), "linux", "glibc-2.36", True, "/usr/bin/python3"), "/usr/bin/python3 is Python 3.10"),
        (((2, 7), "linux2", "glibc-2.36", False, "/usr/bin/python"), "needs Python 3.11, 3.12, 3.13 or 3.14"),
        (((3, 15), "linux", "glibc-2.36", True, "py"), "needs Python 3.11, 3.12, 3.13 or 3.14"),
        (((3, 12), "linux", "glibc-2.17", True, "py"), "glibc 2.28 or newer"),
        (((3, 13), "linux", "glibc-2.36", False, "py"), "apt install python3.13-venv"),
    ],
)
def test_a_machine_that_cannot_carry_it_gets_one_line_that_says_what_to_do(
    bootstrap: ModuleType, facts: tuple[object, ...], line: str
) -> None:
    said = bootstrap.refusal(facts)

    assert line in said
    assert "\n" not in said


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14)])
@pytest.mark.parametrize("system", [("linux", "glibc-2.28"), ("darwin", "-")])
def test_every_supported_python_on_linux_and_macos_will_do(
    bootstrap: ModuleType, version: tuple[int, int], system: tuple[str, str]
) -> None:
    assert bootstrap.refusal((version, *system, True, "py")) is None


@pytest.fixture
def machine(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[object, ...]]:
    """The interpreters that this machine has, by the name they are called with."""
    found: dict[str, tuple[object, ...]] = {}
    monkeypatch.setattr(bootstrap, "probe", found.get)
    return found


def test_the_newest_python_that_can_make_environments_is_taken(
    bootstrap: ModuleType, machine: dict[str, tuple[object, ...]]
) -> None:
    machine["python3.13"] = ((3, 13), "linux", "glibc-2.36", False, "/usr/bin/python3.13")
    machine["python3.11"] = ((3, 11), "linux", "glibc-2.36", True, "/usr/bin/python3.11")
    machine["python3"] = ((3, 9), "linux", "glibc-2.36", True, "/usr/bin/python3.9")

    assert bootstrap.choose("") == ("/usr/bin/python3.11", None)


def test_the_reason_that_is_told_is_the_one_nearest_to_working(
    bootstrap: ModuleType, machine: dict[str, tuple[object, ...]]
) -> None:
    machine["python3.13"] = ((3, 13), "linux", "glibc-2.36", False, "/usr/bin/python3.13")
    machine["python3"] = ((3, 9), "linux", "glibc-2.36", True, "/usr/bin/python3.9")

    assert "apt install python3.13-venv" in bootstrap.choose("")[1]


def test_a_named_python_is_taken_or_refused_but_never_replaced(
    bootstrap: ModuleType, machine: dict[str, tuple[object, ...]]
) -> None:
    machine["mine"], machine["old"] = GOOD, ((3, 9), "linux", "glibc-2.36", True, "old")
    machine["python3.13"] = ((3, 13), "linux", "glibc-2.36", True, "/usr/bin/python3.13")

    assert bootstrap.choose("mine") == ("/usr/bin/python3.12", None)
    assert "old is Python 3.9" in bootstrap.choose("old")[1]
    assert "PYTHON=absent does not run" in bootstrap.choose("absent")[1]


@pytest.mark.parametrize("python", ["python2.7", "python3.6", "python3.10", "python3"])
def test_any_python_can_say_its_line(python: str) -> None:
    path = shutil.which(python)
    runs = path and subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0
    if not path or not runs:
        pytest.skip(f"{python} is not on this machine")

    said = subprocess.run([path, str(FILE)], capture_output=True, text=True, check=False)

    assert said.returncode == 2
    assert said.stderr.startswith("usage: bootstrap.py")
