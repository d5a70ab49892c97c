"""Which variables are taken for ours, written otherwise; a false alarm is worse than none."""

from __future__ import annotations

import pytest

from kernel.config import setting_names
from kernel.misspelt import meant_by

OURS = [name for name in setting_names() if not name.startswith("[")]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("OPENAI_BASEURL", "OPENAI_BASE_URL"),
        ("OPENIA_BASE_URL", "OPENAI_BASE_URL"),
        ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
        ("openai_api_key", "OPENAI_API_KEY"),
        ("ANTHROPIC_KEY", "ANTHROPIC_API_KEY"),
        ("ANTHROPIC_APIKEY", "ANTHROPIC_API_KEY"),
        ("TELEGRAM_TOKEN", "TELEGRAM_BOT_TOKEN"),
        ("TELEGRAM_BOT_TOKENS", "TELEGRAM_BOT_TOKEN"),
        ("SLACK_TOKEN", "SLACK_BOT_TOKEN"),
        ("SLACK_API_TOKEN", "SLACK_BOT_TOKEN"),
        ("SLACK_APP_TOKN", "SLACK_APP_TOKEN"),
        ("ZLCAW_TIMEZONE", "ZCLAW_TIMEZONE"),
    ],
)
def test_a_name_near_to_ours_or_known_for_it_is_told(written: str, meant: str) -> None:
    assert meant_by(written, OURS) == meant


@pytest.mark.parametrize(
    "written",
    [
        *("HOME", "PATH", "TZ", "LANG", "TOKEN", "API_KEY", "BASE_URL", "LOG", "MODEL", "REDIS_URL", "TIMEZONE"),
        *("OPENAI_ORG_ID", "OPENAI_API_TYPE", "OPENAI_API_VERSION", "OPENAI_MODEL", "OPENAPI_BASE_URL"),
        *("AZURE_OPENAI_API_KEY", "ANTHROPIC_MODEL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_VERSION"),
        *("SLACK_WEBHOOK", "SLACK_CHANNEL", "SLACK_USER_TOKEN", "SLACK_BOT_ID", "SLACK_CLIENT_SECRET"),
        *("TELEGRAM_CHAT_ID", "TELEGRAM_API_ID", "TELEGRAM_API_HASH", ""),
    ],
)
def test_what_others_read_is_no_mistake(written: str) -> None:
    assert meant_by(written, OURS) is None


def test_none_of_ours_is_taken_for_another() -> None:
    assert [name for name in OURS if meant_by(name, OURS) is not None] == []
