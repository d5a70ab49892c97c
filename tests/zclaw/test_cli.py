from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

from kernel.config import BotSettings, CommonSettings, Secret, WorkerSettings
from kernel.errors import OperatorError, RetryLater
from zclaw.cli import main
from zclaw.store import start_store

Stage = Callable[[str, Callable[..., int]], None]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Puts a command's module in place: what it would run is the given function."""

    def put(name: str, run: Callable[..., int]) -> None:
        module = ModuleType(name)
        module.run = run  # type: ignore[attr-defined]  # A module made here knows no names.
        monkeypatch.setitem(sys.modules, name, module)

    return put


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZCLAW_DATA_DIR", str(tmp_path / "data"))


@pytest.mark.parametrize("command", ["chat", "parse", "reminders", "status", "doctor"])
def test_a_command_gets_its_own_words_and_gives_its_code(stage: Stage, command: str) -> None:
    heard: list[list[str]] = []

    def run(words: list[str]) -> int:
        heard.append(words)
        return 1

    stage(f"zclaw.{command}", run)

    assert main([command, "--json", "list"]) == 1
    assert heard == [["--json", "list"]]


@pytest.mark.parametrize(
    ("error", "code"),
    [(OperatorError("Change this."), 2), (RetryLater("Redis is away", timedelta(seconds=1)), 2)],
)
def test_an_error_of_ours_is_one_line_and_a_code(
    stage: Stage, capsys: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    def run(_words: list[str]) -> int:
        raise error

    stage("zclaw.status", run)

    assert main(["status"]) == code
    assert capsys.readouterr().err.startswith(str(error))


@pytest.mark.parametrize("words", [[], ["upp"], ["bots", "discord"], ["up", "now"]])
def test_a_command_that_does_not_exist_is_wrong_use(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)

    assert left.value.code == 2
    assert "usage: zclaw" in capsys.readouterr().err


def test_an_unknown_setting_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ZCLAW_ALOW", "telegram:1")

    assert main(["up"]) == 2
    assert capsys.readouterr().err == "ZCLAW_ALOW is not a setting; did you mean ZCLAW_ALLOW?\n"


def test_a_role_without_a_store_says_what_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worker"]) == 2
    assert "set ZCLAW_REDIS_URL, or start `zclaw up` first" in capsys.readouterr().err


def test_a_role_started_by_hand_joins_the_store_of_its_machine(stage: Stage, tmp_path: Path) -> None:
    heard: list[CommonSettings] = []

    def run(settings: CommonSettings) -> int:
        heard.append(settings)
        return 0

    stage("zclaw.wiring.worker", run)
    with start_store(tmp_path / "data") as store:
        assert main(["worker"]) == 0

    assert isinstance(heard[0], WorkerSettings)
    assert heard[0].redis_url == Secret(store.url)


@pytest.mark.parametrize("words", [["bots"], ["bots", "telegram"], ["bots", "slack"]])
def test_bots_without_a_platform_say_what_to_set(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "No platform is set: set " in capsys.readouterr().err


def test_bots_that_no_door_leads_to_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "zclaw.toml").write_text('slack_bot_token = "xoxb-1"\n')

    assert main(["bots"]) == 2

    assert "needs SLACK_APP_TOKEN beside it (Socket Mode), or SLACK_SIGNING_SECRET" in capsys.readouterr().err


def test_a_signing_secret_alone_is_a_door(stage: Stage, tmp_path: Path) -> None:
    stage("zclaw.wiring.bots", lambda _settings: 0)
    (tmp_path / "zclaw.toml").write_text(
        'redis_url = "unix:///tmp/none"\nslack_bot_token = "xoxb-1"\nslack_signing_secret = "0123456789"\n'
    )

    assert main(["bots"]) == 0


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('telegram_webhook_url = "https://h.example/telegram"', "needs TELEGRAM_WEBHOOK_SECRET beside it"),
        ('telegram_webhook_url = "http://h.example/telegram"\ntelegram_webhook_secret = "s"', "start with https://"),
        ('telegram_webhook_url = "https://h.example/bot"\ntelegram_webhook_secret = "s"', "must end in /telegram"),
        ('telegram_webhook_secret = "s p"', "does not look right: Telegram takes"),
    ],
)
def test_a_door_that_stands_open_or_leads_nowhere_is_no_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, said: str
) -> None:
    (tmp_path / "zclaw.toml").write_text(f'telegram_bot_token = "1:x"\n{lines}\n')

    assert main(["bots"]) == 2

    assert said in capsys.readouterr().err


def test_bots_for_one_platform_do_not_know_the_other(stage: Stage, tmp_path: Path) -> None:
    heard: list[BotSettings] = []

    def run(settings: BotSettings) -> int:
        heard.append(settings)
        return 0

    stage("zclaw.wiring.bots", run)
    (tmp_path / "zclaw.toml").write_text(
        'redis_url = "unix:///tmp/none"\ntelegram_bot_token = "1:x"\n'
        'slack_bot_token = "xoxb-1"\nslack_app_token = "xapp-1"\n'
    )

    assert [main(["bots"]), main(["bots", "telegram"]), main(["bots", "slack"])] == [0, 0, 0]

    tokens = [(s.telegram_bot_token is not None, s.slack_bot_token is not None) for s in heard]
    assert tokens == [(True, True), (True, False), (False, True)]


@pytest.mark.parametrize(("command", "is_told"), [("chat", True), ("status", False)])
def test_a_start_tells_which_variable_nobody_reads_and_never_its_value(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    is_told: bool,
) -> None:
    monkeypatch.setenv("OPENAI_KEY", "sk-secret")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    stage(f"zclaw.{command}", lambda _words: 0)

    assert main([command]) == 0

    told = capsys.readouterr().err
    assert ("did you mean OPENAI_API_KEY?" in told) == is_told
    assert "sk-secret" not in told
