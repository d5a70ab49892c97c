from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel.config import (
    HANDED_FD,
    AccessRule,
    BotSettings,
    CommonSettings,
    Given,
    Language,
    ListenAddress,
    ModelChoice,
    PlatformId,
    SchedulerSettings,
    Secret,
    ThinkingMode,
    WorkerSettings,
    child_environment,
    conceal,
    machine_language,
    mistaken_names,
    read,
    secret_values,
)
from kernel.errors import BadSettings
from kernel.messages import Effort, Thinking

CANARY = "xoxb-canary-7f31"

GivenFrom = Callable[..., Given]


@pytest.fixture
def given_from(tmp_path: Path) -> GivenFrom:
    """Reads settings from an environment and the text of a `zclaw.toml` in the working folder."""

    def given(environ: dict[str, str], toml: str = "") -> Given:
        if toml:
            (tmp_path / "zclaw.toml").write_text(toml, encoding="utf-8")
        return read({"ZCLAW_DATA_DIR": str(tmp_path / "data"), **environ}, tmp_path)

    return given


def read_for_every_role(given: Given) -> None:
    for kind in (BotSettings, WorkerSettings, SchedulerSettings):
        given.settings(kind)


def test_nothing_set_gives_defaults_for_every_role(given_from: GivenFrom) -> None:
    given = given_from({})

    bots, worker = given.settings(BotSettings), given.settings(WorkerSettings)

    assert bots.redis_url is None
    assert bots.access is AccessRule.PAIRING
    assert bots.lang is Language.AUTO
    assert bots.listen == ListenAddress("127.0.0.1", 8377)
    assert worker.model == ()
    assert worker.chat_fold is True


def test_every_setting_is_read_from_the_environment(given_from: GivenFrom) -> None:
    given = given_from(
        {
            "ZCLAW_REDIS_URL": "redis://:pw@127.0.0.1:6379/3",
            "ZCLAW_TIMEZONE": "Asia/Shanghai",
            "ZCLAW_LANG": "zh",
            "ZCLAW_ALLOW": "telegram:1001, telegram:-100123 ,slack:U012AB3CD",
            "ZCLAW_OWNERS": "telegram:1001",
            "ZCLAW_ACCESS": "allowlist",
            "ZCLAW_MODEL": "anthropic:claude-x,openai:qwen3:8b",
            "ANTHROPIC_API_KEY": "k1",
            "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1",
            "TELEGRAM_BOT_TOKEN": "123:abc",
            "SLACK_BOT_TOKEN": "xoxb-1",
            "SLACK_APP_TOKEN": "xapp-1",
            "SLACK_API_URL": "http://127.0.0.1:1/api/",
        }
    )

    bots, worker = given.settings(BotSettings), given.settings(WorkerSettings)

    assert bots.redis_url == Secret("redis://:pw@127.0.0.1:6379/3")
    assert bots.timezone.key == "Asia/Shanghai"
    assert bots.allow == {
        PlatformId("telegram", "1001"),
        PlatformId("telegram", "-100123"),
        PlatformId("slack", "U012AB3CD"),
    }
    assert bots.telegram_bot_token == Secret("123:abc")
    assert bots.slack_api_url == "http://127.0.0.1:1/api/"
    assert worker.model == (ModelChoice("anthropic", "claude-x"), ModelChoice("openai", "qwen3:8b"))
    assert worker.anthropic_api_key == Secret("k1")


def test_the_file_says_the_same_by_key_and_by_table(given_from: GivenFrom) -> None:
    given = given_from(
        {},
        """
        timezone = "Europe/Berlin"
        allow = ["telegram:5", "slack:C0123456"]
        openai_base_url = "http://127.0.0.1:8000/v1"
        [chat]
        fold = false
        history = 50
        [model]
        name = "openai:m"
        max_iterations = 7
        thinking = "plan"
        effort = "high"
        """,
    )

    worker = given.settings(WorkerSettings)

    assert worker.timezone.key == "Europe/Berlin"
    assert worker.allow == {PlatformId("telegram", "5"), PlatformId("slack", "C0123456")}
    assert (worker.chat_fold, worker.chat_history, worker.model_max_iterations) == (False, 50, 7)
    assert (worker.model_thinking, worker.model_effort) == (ThinkingMode.PLAN, Effort.HIGH)
    assert worker.model == (ModelChoice("openai", "m"),)


@pytest.mark.parametrize(("written", "micro_dollars"), [("2", 2_000_000), ("0.5", 500_000), ('"1.25"', 1_250_000)])
def test_a_chat_may_be_limited_for_a_day(given_from: GivenFrom, written: str, micro_dollars: int) -> None:
    free = given_from({}).settings(WorkerSettings)
    limited = given_from({}, f"[limits]\ndaily_tokens = 500000\ndaily_money = {written}").settings(WorkerSettings)

    assert (limited.limits_daily_tokens, limited.limits_daily_money) == (500_000, micro_dollars)
    assert (free.limits_daily_tokens, free.limits_daily_money) == (None, None)


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "1e9", "true", '"much"', '["1"]'])
def test_an_amount_of_money_is_dollars_above_none(given_from: GivenFrom, wrong: str) -> None:
    with pytest.raises(BadSettings, match="daily_money"):
        given_from({}, f"[limits]\ndaily_money = {wrong}").settings(WorkerSettings)


def test_a_way_of_thinking_says_what_models_are_told() -> None:
    assert [mode.of_model for mode in ThinkingMode] == [Thinking.OFF, Thinking.ON, Thinking.OWN]


def test_the_environment_wins_over_the_file(given_from: GivenFrom) -> None:
    given = given_from({"ZCLAW_LANG": "en"}, 'lang = "zh"\nlog = "debug"')

    assert given.settings(CommonSettings).lang is Language.EN
    assert given.settings(CommonSettings).log.value == "debug"


@pytest.mark.parametrize(
    ("environment", "file", "wins"),
    [
        ("open", "allowlist", AccessRule.ALLOWLIST),
        ("allowlist", "open", AccessRule.ALLOWLIST),
        ("open", "pairing", AccessRule.PAIRING),
    ],
)
def test_of_two_access_values_the_stricter_wins(
    given_from: GivenFrom, environment: str, file: str, wins: AccessRule
) -> None:
    given = given_from({"ZCLAW_ACCESS": environment}, f'access = "{file}"')

    assert given.settings(CommonSettings).access is wins


def test_an_empty_variable_counts_as_not_set(given_from: GivenFrom) -> None:
    assert given_from({"TELEGRAM_BOT_TOKEN": ""}).settings(BotSettings).telegram_bot_token is None


def test_the_named_file_comes_before_the_working_folders_and_that_before_the_data_folders(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for place, zone in (("data", "UTC"), (".", "Asia/Tokyo")):
        (tmp_path / place / "zclaw.toml").write_text(f'timezone = "{zone}"')
    (tmp_path / "mine.toml").write_text('timezone = "Asia/Seoul"')
    environ = {"ZCLAW_DATA_DIR": str(tmp_path / "data")}

    named = read({**environ, "ZCLAW_CONFIG": str(tmp_path / "mine.toml")}, tmp_path)
    here = read(environ.copy(), tmp_path)
    elsewhere = read(environ.copy(), tmp_path / "data" / "..")
    (tmp_path / "zclaw.toml").unlink()
    data = read(environ.copy(), tmp_path)

    zones = [g.settings(CommonSettings).timezone.key for g in (named, here, elsewhere, data)]
    assert zones == ["Asia/Seoul", "Asia/Tokyo", "Asia/Tokyo", "UTC"]


@pytest.mark.parametrize(
    ("environ", "toml", "said"),
    [
        ({"ZCLAW_ALOW": "x"}, "", "ZCLAW_ALOW is not a setting; did you mean ZCLAW_ALLOW?"),
        ({"ZCLAW_TIME_ZONE": "x"}, "", "did you mean ZCLAW_TIMEZONE?"),
        ({}, 'timezon = "UTC"', "timezon is not a setting; did you mean timezone?"),
        ({}, "[chat]\nfolds = true", "folds in [chat] is not a setting; did you mean fold?"),
        ({}, "[chats]\nfold = true", "chats is not a setting; did you mean chat?"),
        ({}, "lang = [1]", "lang must be text"),
        ({}, "lang = ", "cannot be read"),
        ({"ZCLAW_CONFIG": "/nowhere/z.toml"}, "", "ZCLAW_CONFIG names a file that is not there"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(
    given_from: GivenFrom, environ: dict[str, str], toml: str, said: str
) -> None:
    with pytest.raises(BadSettings) as refused:
        given_from(environ, toml)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ZCLAW_ALLOW", "telegram:@alice", "names are not accepted"),
        ("ZCLAW_ALLOW", "alice", "telegram:<number> or slack:<id>"),
        ("ZCLAW_OWNERS", "slack:alice", "slack:<id> like slack:U012AB3CD"),
        ("ZCLAW_ALLOW", "telegram:１２", "names are not accepted"),
        ("ZCLAW_TIMEZONE", "Asia/Shangai", "did you mean Asia/Shanghai?"),
        ("ZCLAW_TIMEZONE", "../../etc/passwd", "there is no time zone"),
        ("ZCLAW_LANG", "fr", "one of auto, zh, en"),
        ("ZCLAW_ACCESS", "all", "one of allowlist, pairing, open"),
        ("ZCLAW_LISTEN", "8377", "host:port"),
        ("ZCLAW_LISTEN", "127.0.0.1:99999", "host:port"),
        ("ZCLAW_DATA_DIR", "data", "absolute path"),
        ("ZCLAW_REDIS_URL", "localhost:6379", "redis:// or rediss:// or unix://"),
        ("ZCLAW_REDIS_URL", "redis://h:port", "redis:// or rediss:// or unix://"),
        ("ZCLAW_MODEL", "gpt-9", "anthropic:<model> or openai:<model>"),
        ("SLACK_API_URL", "http://127.0.0.1:1/api", "/api/"),
        ("TELEGRAM_API_URL", "127.0.0.1:8081", "http:// or https://"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line_that_names_the_setting(
    given_from: GivenFrom, name: str, value: str, said: str
) -> None:
    with pytest.raises(BadSettings) as refused:
        read_for_every_role(given_from({name: value}))

    assert said in str(refused.value)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, "needs SLACK_APP_TOKEN"),
        ({"SLACK_APP_TOKEN": "xapp-1"}, "needs SLACK_BOT_TOKEN"),
        ({"TELEGRAM_WEBHOOK_URL": "https://h/telegram"}, "needs TELEGRAM_WEBHOOK_SECRET"),
        ({"ZCLAW_MODEL": "anthropic:m"}, "set ANTHROPIC_API_KEY"),
        ({"ZCLAW_MODEL": "openai:m"}, "set OPENAI_API_KEY or OPENAI_BASE_URL"),
    ],
)
def test_half_of_a_pair_is_refused(given_from: GivenFrom, environ: dict[str, str], said: str) -> None:
    with pytest.raises(BadSettings, match=said):
        read_for_every_role(given_from(environ))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://bot.example/telegram", ""),
        ("https://bot.example:8443/one/telegram", ""),
        ("http://127.0.0.1:8377/telegram", ""),
        ("http://localhost/telegram", ""),
        ("http://[::1]:8377/telegram", ""),
        ("http://bot.example/telegram", "https"),
        ("http://127.0.0.1.example/telegram", "https"),
        ("https://bot.example/", "/telegram"),
        ("https://bot.example/telegram/", "/telegram"),
        ("https://bot.example/telegram?x=/telegram", "/telegram"),
    ],
)
def test_a_webhook_is_safe_on_its_way_and_ends_where_we_listen(given_from: GivenFrom, url: str, said: str) -> None:
    given = given_from({"TELEGRAM_WEBHOOK_URL": url, "TELEGRAM_WEBHOOK_SECRET": "a-Z_9"})

    if not said:
        assert given.settings(BotSettings).telegram_webhook_url == url
        return
    with pytest.raises(BadSettings, match=f"TELEGRAM_WEBHOOK_URL must .*{said}"):
        given.settings(BotSettings)


@pytest.mark.parametrize("secret", ["a b", "密", "x" * 257, "a/b"])
def test_a_webhook_secret_is_one_that_telegram_takes(given_from: GivenFrom, secret: str) -> None:
    with pytest.raises(BadSettings, match="Telegram takes letters"):
        given_from({"TELEGRAM_WEBHOOK_SECRET": secret}).settings(BotSettings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TELEGRAM_BOT_TOKEN", CANARY),
        ("SLACK_APP_TOKEN", CANARY),
        ("SLACK_BOT_TOKEN", "xapp-canary-7f31"),
        ("ZCLAW_REDIS_URL", f"http://:{CANARY}@h"),
        ("ANTHROPIC_API_KEY", f"{CANARY}\n{CANARY}"),
        ("OPENAI_BASE_URL", f"ftp://u:{CANARY}@h"),
    ],
)
def test_a_refusal_never_repeats_a_secret(given_from: GivenFrom, name: str, value: str) -> None:
    with pytest.raises(BadSettings) as refused:
        read_for_every_role(given_from({name: value}))

    assert "canary" not in str(refused.value)


def test_a_secret_shows_itself_only_when_asked(given_from: GivenFrom) -> None:
    given = given_from({"SLACK_BOT_TOKEN": CANARY, "SLACK_APP_TOKEN": "xapp-canary-7f31"})
    settings = given.settings(BotSettings)
    assert settings.slack_bot_token is not None

    shown = f"{settings!r} {settings} {settings.slack_bot_token} {settings.slack_bot_token!r:>40} {given!r}"

    assert "canary" not in shown
    assert settings.slack_bot_token.reveal() == CANARY
    assert set(secret_values(settings)) == {CANARY, "xapp-canary-7f31"}
    with pytest.raises(TypeError):
        pickle.dumps(settings.slack_bot_token)


def test_each_role_is_handed_only_its_own_part(given_from: GivenFrom) -> None:
    given = given_from(
        {
            "TELEGRAM_BOT_TOKEN": "123:canary-telegram",
            "ANTHROPIC_API_KEY": "canary-anthropic",
            "ZCLAW_REDIS_URL": "redis://:canary-redis@h",
        }
    )

    bots, worker, scheduler = (
        given.part(kind).line(leash=True) for kind in (BotSettings, WorkerSettings, SchedulerSettings)
    )

    assert b"canary-telegram" in bots
    assert b"canary-anthropic" not in bots
    assert b"canary-anthropic" in worker
    assert b"canary-telegram" not in worker
    assert scheduler.count(b"canary") == scheduler.count(b"canary-redis") == 1


@pytest.mark.parametrize("leash", [True, False])
def test_a_handed_line_gives_the_same_settings_and_hides_its_pipe_from_children(
    given_from: GivenFrom, leash: bool
) -> None:
    given = given_from({"TELEGRAM_BOT_TOKEN": "123:abc", "ZCLAW_ALLOW": "telegram:5"}, "[chat]\nfold = false")
    reading, writing = os.pipe()
    os.write(writing, given.part(BotSettings).line(leash=leash))
    os.close(writing)
    os.set_inheritable(reading, True)
    environ = {HANDED_FD: str(reading), "ZCLAW_ALLOW": "not read"}

    handed = read(environ)

    assert handed.settings(BotSettings) == given.settings(BotSettings)
    assert HANDED_FD not in environ
    if leash:
        assert handed.pipe == reading
        assert not os.get_inheritable(reading)
        os.close(reading)
    else:
        assert handed.pipe is None
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(reading)


def test_a_child_inherits_no_setting_and_nothing_unknown() -> None:
    environ = {"PATH": "/bin", "LC_ALL": "C", "TELEGRAM_BOT_TOKEN": "1:x", "ZCLAW_LANG": "zh", "AWS_SECRET": "s"}

    assert child_environment(environ) == {"PATH": "/bin", "LC_ALL": "C"}


def test_without_a_secret_in_the_environment_nothing_is_started_again() -> None:
    environ = {"ZCLAW_LANG": "zh", "TELEGRAM_BOT_TOKEN": ""}

    conceal(["/nowhere/python"], environ)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("OPENAI_BASEURL", "OPENAI_BASE_URL"),
        ("openai_api_key", "OPENAI_API_KEY"),
        ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
        ("TELEGRAM_TOKEN", "TELEGRAM_BOT_TOKEN"),
        ("ANTHROPIC_KEY", "ANTHROPIC_API_KEY"),
        ("ZLCAW_ALLOW", "ZCLAW_ALLOW"),
    ],
)
def test_a_variable_that_nobody_reads_is_told_with_the_one_that_was_meant(
    name: str, meant: str, tmp_path: Path
) -> None:
    other = {"ZCLAW_DATA_DIR": str(tmp_path)}

    assert mistaken_names({name: "x", "PATH": "/bin"} | other, tmp_path) == ((name, meant),)
    assert mistaken_names({name: "x", HANDED_FD: "3"}, tmp_path) == ()


def test_a_variable_is_no_mistake_where_the_right_one_is_set_too(tmp_path: Path) -> None:
    environ = {"TELEGRAM_TOKEN": "x", "ZCLAW_DATA_DIR": str(tmp_path)}

    assert mistaken_names(environ | {"TELEGRAM_BOT_TOKEN": "1:x"}, tmp_path) == ()

    (tmp_path / "zclaw.toml").write_text('telegram_bot_token = "1:x"')
    assert mistaken_names(environ, tmp_path) == ()


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "", "LC_ALL": "zh_TW"}, "zh"),
        ({"LANG": "C.UTF-8"}, None),
        ({"LANG": "de_DE.UTF-8"}, None),
        ({}, None),
    ],
)
def test_the_machine_asks_for_the_language_of_its_locale_also_where_that_is_not_installed(
    environ: dict[str, str], language: str | None
) -> None:
    assert machine_language(environ) == language
