"""The rules of the house that a machine can check: who imports whom, who reads the environment, what loads when.

The import contracts in pyproject.toml say the coarse half; the table here places every module of the kernel and
says the rest. A new module of the kernel gets its place here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]

WORDS = (
    *(
        "chat",
        "messages",
        "session",
        "session_events",
        "awaiting",
        "frames",
        "gates",
        "transitions",
        "texts",
        "sentences",
        "whole",
        "sentences_of_commands",
        "pairing",
        "pictures",
        "triggers",
    ),
    *("schedule", "errors", "config", "settings", "settings_file", "readers", "misspelt"),
)
PORTS = ("ports",)
CODEC = ("codec",)  # Words for words, and for the values that ports speak of.
MIND = (
    *(
        "loop",
        "tools",
        "workspace",
        "builtin",
        "approvals",
        "questions",
        "open_cards",
        "card_ends",
        "asides",
        "reminders",
        "commands",
        "lookups",
        "pressing",
        "reaction",
        "admission",
        "exchanges",
        "forgetting",
        "models",
        "access",
        "arrivals",
    ),
    *("people", "compaction", "guards", "memories", "narration", "outside", "prompts", "context", "usage", "skills"),
    *("hands", "reception", "resolving", "changes", "endings"),
)
DOORS = ("providers", "stores", "mcp", "net", "children", "clock", "logs", "patience", "persona")

PLACES = {
    f"kernel.{module}": place
    for place, modules in {"words": WORDS, "ports": PORTS, "codec": CODEC, "mind": MIND, "doors": DOORS}.items()
    for module in modules
} | {"kernel": "words", "bots": "bots", "workers": "workers", "zclaw": "zclaw"}

MAY_IMPORT = {
    "words": {"words"},
    "ports": {"words", "ports"},
    "codec": {"words", "ports"},
    "mind": {"words", "ports", "codec", "mind"},
    "doors": {"words", "ports", "codec", "doors"},
    "workers": {"words", "ports", "codec", "mind", "workers"},
    "bots": {"words", "ports", "bots"},
    "zclaw": {"words", "ports", "codec", "mind", "doors", "workers", "bots", "zclaw"},
}

ALSO = {
    *(("bots", "kernel.access"), ("bots", "kernel.logs"), ("bots", "kernel.patience")),
    *(("workers", "kernel.logs"), ("workers", "kernel.patience")),
}
"""Single modules that a place may import beyond its row."""

LIBRARIES_OF_WORDS = {
    "kernel.schedule.calendars": {"borax", "chinese_calendar"},
    "kernel.schedule.cron": {"croniter"},
}


def place(module: str) -> str:
    """Where a module belongs; the kernel's own by its first name below the kernel."""
    top = ".".join(module.split(".")[:2]) if module.startswith("kernel.") else module.partition(".")[0]
    assert top in PLACES, f"{top} has no place in tests/test_house.py"
    return PLACES[top]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("bots", "kernel", "workers", "zclaw", include_external_packages=True, cache_dir=None)


def ours(graph: grimp.ImportGraph) -> list[str]:
    return sorted(m for m in graph.modules if m.split(".")[0] in ("bots", "kernel", "workers", "zclaw"))


def test_every_import_is_allowed_by_the_table(graph: grimp.ImportGraph) -> None:
    modules = ours(graph)

    wrong = [
        f"{module} imports {imported}"
        for module in modules
        for imported in sorted(graph.find_modules_directly_imported_by(module) & set(modules))
        if place(imported) not in MAY_IMPORT[place(module)]
        and not any(place(module) == by and imported.startswith(what) for by, what in ALSO)
    ]

    assert wrong == []


def test_words_and_ports_need_nothing_but_the_standard_library(graph: grimp.ImportGraph) -> None:
    modules = ours(graph)

    wrong = [
        f"{module} imports {imported}"
        for module in modules
        if place(module) in ("words", "ports")
        for imported in sorted(graph.find_modules_directly_imported_by(module) - set(modules))
        if imported.split(".")[0] not in sys.stdlib_module_names
        and imported.split(".")[0] not in LIBRARIES_OF_WORDS.get(module, set())
    ]

    assert wrong == []


@pytest.mark.parametrize("read", ["os.environ['X']", "os.getenv('X')", "os.environ.get('X')"])
@pytest.mark.parametrize(("file", "code"), [("kernel/loop.py", 1), ("zclaw/up.py", 1), ("kernel/config.py", 0)])
def test_only_the_settings_read_the_environment(file: str, code: int, read: str) -> None:
    lint = [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--stdin-filename", str(ROOT / file), "-"]

    found = subprocess.run(
        lint, input=f"import os\n\nX = {read}\n", cwd=ROOT, text=True, capture_output=True, check=False
    )

    assert found.returncode == code, found.stdout + found.stderr


def test_the_command_line_alone_loads_nothing_heavy() -> None:
    script = "import sys, json, zclaw.cli; print(json.dumps(sorted(sys.modules)))"

    loaded = json.loads(subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True))

    heavy = {"kernel.config", "redis", "asyncio", "structlog", "anthropic", "aiogram", "slack_bolt", "rq"}
    assert heavy & set(loaded) == set()
