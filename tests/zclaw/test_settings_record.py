"""A terminal learns that the installation runs with other settings than it was given; nobody learns the secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.config import CommonSettings, Given, Language, read
from zclaw.folder import DataFolder, open_folder
from zclaw.settings_record import as_running, differing, keep


def given(**environment: str) -> Given:
    return read(dict(environment), working_folder=Path("/nowhere"))


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return open_folder(tmp_path)


def test_what_was_given_otherwise_is_named_as_the_person_wrote_it(folder: DataFolder) -> None:
    keep(folder, given(ZCLAW_LANG="zh", ANTHROPIC_API_KEY="sk-one", ZCLAW_LOG="debug"))

    assert differing(folder, given(ZCLAW_LANG="zh", ANTHROPIC_API_KEY="sk-one")) == []
    assert differing(folder, given()) == []
    assert differing(
        folder, given(ZCLAW_LANG="en", ANTHROPIC_API_KEY="sk-two", OPENAI_BASE_URL="http://x.example")
    ) == [
        "ANTHROPIC_API_KEY",
        "OPENAI_BASE_URL",
        "ZCLAW_LANG",
    ]


@pytest.mark.parametrize(
    ("runs", "own", "applies"),
    [("zh", "en", Language.ZH), ("auto", "en", Language.EN), ("en", "auto", Language.EN)],
)
def test_the_zone_and_language_of_what_runs_apply_where_others_join(
    folder: DataFolder, runs: str, own: str, applies: Language
) -> None:
    keep(folder, given(ZCLAW_TIMEZONE="Europe/Berlin", ZCLAW_LANG=runs))

    joined = as_running(folder, given(ZCLAW_TIMEZONE="Asia/Tokyo", ZCLAW_LANG=own).settings(CommonSettings))

    assert (joined.timezone.key, joined.lang) == ("Europe/Berlin", applies)


def test_no_secret_stands_in_the_record_and_only_its_owner_reads_it(folder: DataFolder) -> None:
    keep(folder, given(ANTHROPIC_API_KEY="sk-secret-enough"))

    assert "sk-secret" not in folder.settings_record.read_text()
    assert folder.settings_record.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"salt": 1}', '{"salt": "a", "digests": null}'])
def test_a_record_that_cannot_be_read_differs_in_nothing(folder: DataFolder, content: str | None) -> None:
    if content is not None:
        folder.settings_record.write_text(content)

    assert differing(folder, given(ZCLAW_LANG="zh")) == []
    settings = given(ZCLAW_LANG="zh", ZCLAW_TIMEZONE="Asia/Tokyo").settings(CommonSettings)
    assert as_running(folder, settings) == settings
