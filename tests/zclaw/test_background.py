from __future__ import annotations

import plistlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.zclaw.keeper import words_of
from tests.zclaw.sight import reached
from zclaw import background
from zclaw.background import Launchd, Systemd
from zclaw.cli import main
from zclaw.folder import open_folder
from zclaw.locks import is_locked, try_lock

ROOT = Path(__file__).parents[2]
SECRETS = ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "SLACK_BOT_TOKEN", "ZCLAW_REDIS_URL")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with blanks in its path and a systemd of tests; the data folder is in it."""
    home = tmp_path / 'my "home" 100% $HOME'
    binaries = home / "bin"
    binaries.mkdir(parents=True)
    command = binaries / "systemctl"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.zclaw.keeper "$@"\n')
    command.chmod(0o755)
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{binaries}:/usr/bin:/bin")
    monkeypatch.setenv("ZCLAW_DATA_DIR", str(home / "数据"))
    for name in SECRETS:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def unit(home: Path) -> Path:
    return home / ".config/systemd/user/zclaw.service"


@pytest.fixture
def ended(home: Path) -> Iterator[None]:
    """Whatever was started has ended when the test has."""
    yield
    if (home / "pids").exists():
        main(["down"])


def calls(home: Path) -> list[str]:
    return (home / "calls").read_text().splitlines()


@pytest.mark.usefixtures("ended")
def test_it_runs_is_shown_and_ends_as_one_in_the_foreground(
    home: Path, unit: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZCLAW_TIMEZONE", "Asia/Shanghai")
    (home / "zclaw.toml").write_text('openai_base_url = "http://127.0.0.1:9/v1"\n[model]\nname = "openai:m"\n')

    assert main(["up", "--background"]) == 0

    told = capsys.readouterr().out
    assert "zclaw runs in the background" in told
    assert "`systemctl --user disable zclaw` keeps it from starting" in told
    assert "`loginctl enable-linger` lets it stay" in told
    assert "--user daemon-reload" in calls(home)
    assert is_locked(open_folder(home / "数据").owner_lock)

    assert reached(lambda: main(["status"]) == 0)
    assert "service    active, starts when you log in" in capsys.readouterr().out.splitlines()[-1]
    assert main(["up", "--background"]) == 2
    assert "already runs" in capsys.readouterr().err

    assert main(["down"]) == 0
    assert "It starts again at your next login: `systemctl --user disable zclaw` keeps it" in capsys.readouterr().out
    assert not is_locked(open_folder(home / "数据").owner_lock)
    assert unit.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("TELEGRAM_BOT_TOKEN", "1:canary"), ("ANTHROPIC_API_KEY", "canary"), ("ZCLAW_REDIS_URL", "redis://:canary@h")],
)
def test_a_secret_of_the_terminal_is_not_written_down_but_asked_for(
    home: Path,
    unit: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    value: str,
) -> None:
    monkeypatch.setenv(name, value)

    assert main(["up", "--background"]) == 2

    told = capsys.readouterr().err
    assert f"Only this terminal has {name}" in told
    assert f"write it into {home / '数据' / 'zclaw.toml'} (chmod 600), like {name.lower()} = " in told
    assert "canary" not in told
    assert not unit.exists()


def test_the_unit_names_the_settings_file_and_holds_none_of_its_secrets(
    home: Path, unit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(background, "STARTS_WITHIN_S", 0.0)
    (home / "forgets").touch()
    (home / "zclaw.toml").write_text('telegram_bot_token = "1:canary"\n')
    monkeypatch.setenv("ZCLAW_LANG", "zh")

    assert main(["up", "--background"]) == 1

    lines = unit.read_text().splitlines()
    environment = [words_of(line.removeprefix("Environment="))[0] for line in lines if line.startswith("Environment=")]
    assert environment == [
        f"ZCLAW_CONFIG={home / 'zclaw.toml'}",
        f"ZCLAW_DATA_DIR={home / '数据'}",
        "ZCLAW_LANG=zh",
    ]
    assert "canary" not in unit.read_text()
    assert "`journalctl --user -u zclaw` says why" in capsys.readouterr().err


def test_where_nobody_keeps_services_that_is_said_with_what_to_do(
    home: Path, unit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "nobody").touch()

    assert main(["up", "--background"]) == 1

    told = capsys.readouterr().err
    assert "Run `zclaw up` in the foreground; in a container" in told
    assert not unit.exists()


def test_where_there_is_no_systemd_at_all_the_same_is_said(
    home: Path, unit: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(home))

    assert main(["up", "--background"]) == 1

    assert "Nobody here keeps services" in capsys.readouterr().err
    assert not unit.exists()


def test_a_keeper_that_refuses_is_quoted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "refuses").touch()

    assert main(["up", "--background"]) == 2

    told = capsys.readouterr().err
    assert "`systemctl --user enable --now zclaw.service` failed: Failed to enable unit: Access denied" in told


def test_wrong_settings_are_said_here_and_not_in_a_log(
    home: Path, unit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "zclaw.toml").write_text('timezone = "Mars/Base"\n')

    assert main(["up", "--background"]) == 2

    assert "there is no time zone" in capsys.readouterr().err
    assert not unit.exists()


def test_one_that_runs_in_the_foreground_is_not_doubled(
    home: Path, unit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = try_lock(open_folder(home / "数据").owner_lock)
    assert owner is not None

    assert main(["up", "--background"]) == 2

    owner.release()
    assert "already runs" in capsys.readouterr().err
    assert not unit.exists()


def test_the_service_of_another_installation_is_not_taken_for_ours(home: Path, unit: Path) -> None:
    ours, other = open_folder(home / "数据"), open_folder(home / "other")
    unit.parent.mkdir(parents=True)
    unit.write_bytes(Systemd(home).described(["zclaw"], {"ZCLAW_DATA_DIR": str(other.root)}, other))

    assert background.installed(ours) is None
    assert background.installed(other) is not None


def test_whatever_is_in_a_path_comes_through_as_it_is(home: Path) -> None:
    words, value = ['/a "b" 100% $HOME\\n/python', "-m", "zclaw"], '/c "d" 50% $x\\'

    lines = Systemd(home).described(words, {"ZCLAW_CONFIG": value}, open_folder(home / "数据")).decode().splitlines()

    command = next(line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart="))
    setting = next(line.removeprefix("Environment=") for line in lines if line.startswith("Environment="))
    assert words_of(command, is_command=True) == words
    assert words_of(setting) == [f"ZCLAW_CONFIG={value}"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd's own reader of units")
def test_systemd_reads_the_unit_without_a_complaint(home: Path, unit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unit.parent.mkdir(parents=True)
    words = [sys.executable, "-P", "-m", "zclaw", 'a "b" 100% $x\\y']
    unit.write_bytes(Systemd(home).described(words, {"ZCLAW_DATA_DIR": str(home)}, open_folder(home / "数据")))

    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    read = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)], capture_output=True, text=True, check=False
    )

    assert [line for line in read.stderr.splitlines() if unit.name in line] == []
    assert read.returncode == 0


def test_a_mac_is_told_the_same_in_its_own_words(home: Path) -> None:
    folder = open_folder(home / "数据")
    service = Launchd(home)

    description = service.described(["/a b/python", "-m", "zclaw", "up"], {"ZCLAW_DATA_DIR": str(folder.root)}, folder)

    content = plistlib.loads(description)
    assert service.file == home / "Library/LaunchAgents/zclaw.plist"
    assert content["ProgramArguments"] == ["/a b/python", "-m", "zclaw", "up"]
    assert content["EnvironmentVariables"] == {"ZCLAW_DATA_DIR": str(folder.root)}
    assert content["RunAtLoad"] is True
    assert content["KeepAlive"] == {"SuccessfulExit": False}
    assert service.serves(description, folder)
    assert not service.serves(description, open_folder(home / "other"))
    assert not service.serves(b"<plist>", folder)


@pytest.mark.parametrize(("platform", "kind"), [("darwin", Launchd), ("linux", Systemd)])
def test_each_system_has_its_own_keeper(platform: str, kind: type) -> None:
    assert isinstance(background.keeper(platform), kind)


@pytest.mark.usefixtures("ended", "unit")
def test_the_code_that_makes_an_owner_is_not_written_into_a_log(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ('telegram_bot_token = "1:canary"', 'telegram_api_url = "http://127.0.0.1:9"', 'listen = "127.0.0.1:0"')
    (home / "zclaw.toml").write_text("\n".join(settings) + "\n")

    assert main(["up", "--background"]) == 0

    assert "`zclaw pair` prints the code" in capsys.readouterr().out
    assert reached(lambda: "zclaw is starting (bots" in (home / "journal").read_text())
    assert main(["down"]) == 0
    assert "within 10 minutes" not in (home / "journal").read_text()
