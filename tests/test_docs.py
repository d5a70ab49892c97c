"""The reference pages name everything there is, and nothing that is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernel.chat import Command
from kernel.config import setting_names
from kernel.stores.keys import KEYS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def test_every_setting_is_in_the_reference_and_no_other() -> None:
    text = (DOCS / "reference/settings.md").read_text()

    named = set(re.findall(r"`((?:ZCLAW|ANTHROPIC|OPENAI|TELEGRAM|SLACK)_[A-Z_]+|\[\w+\] \w+)`", text))

    assert named == set(setting_names())


def test_every_key_is_in_the_reference_with_its_bound() -> None:
    rows = (DOCS / "reference/keys.md").read_text().splitlines()

    for key in KEYS:
        assert any(f"`{key.head}{key.pieces}`" in row and key.bound in row for row in rows), key.word


@pytest.mark.parametrize("page", ["commands.md", "commands.zh-CN.md"])
def test_every_chat_command_is_in_the_reference(page: str) -> None:
    text = (DOCS / "reference" / page).read_text()

    assert [command for command in Command if f"`/{command.value}`" not in text] == []


def test_every_link_inside_the_repository_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]

    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_every_decision_is_in_the_list() -> None:
    listed = (DOCS / "decisions/README.md").read_text()

    assert [page.name for page in DOCS.glob("decisions/0*.md") if page.name not in listed] == []
