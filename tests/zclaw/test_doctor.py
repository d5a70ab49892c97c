from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernel.config import Given
from kernel.ports import Isolation
from kernel.settings import AccessRule, BotSettings, PlatformId
from zclaw import doctor
from zclaw.cli import main


def test_the_doctor_says_what_it_could_not_look_at_and_why_and_asks_for_nothing_about_it(
    nothing: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")

    assert main(["doctor"]) == 0

    told = capsys.readouterr().out
    assert "[--] store: not looked at, for nothing runs here" in told
    assert "[--] whether the model's key is accepted: not looked at, for a question costs money" in told
    assert "canary" not in told
    assert not nothing.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "[ok] persona: none"),
        ("你是小助手。".encode(), "[ok] persona {path}"),
        ("你是小助手。".encode("gb18030"), "[!!] persona: {path} is not UTF-8 text: save it as UTF-8."),
        (b" \n", "[!!] persona {path}: it is empty: write who the assistant is, or delete it"),
        (b"a" * 4_001, "[!!] persona {path}: of its 4001 characters only 4000 are read: shorten it"),
    ],
)
def test_the_doctor_reads_the_persona(
    nothing: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes | None,
    said: str,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    if content is not None:
        nothing.mkdir()
        (nothing / "persona.md").write_bytes(content)

    assert main(["doctor"]) == (1 if said.startswith("[!!]") else 0)

    assert said.format(path=nothing / "persona.md") in capsys.readouterr().out.splitlines()


def test_the_doctor_is_content_with_a_whole_installation(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "zclaw.toml").write_text('anthropic_api_key = "canary"')
    (tmp_path / "zclaw.toml").chmod(0o600)

    assert main(["doctor"]) == 0

    told = capsys.readouterr().out
    assert "[ok] store" in told
    assert "canary" not in told


def test_the_doctor_names_what_to_change(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zclaw.toml").write_text(
        'telegram_bot_token = "1:x"\ntelegram_api_url = "http://127.0.0.1:9"\naccess = "allowlist"\n'
        'listen = "127.0.0.1:0"\n'
    )
    (tmp_path / "zclaw.toml").chmod(0o644)
    monkeypatch.setattr(doctor, "_LITTLE_SPACE_BYTES", 1 << 62)

    assert main(["doctor"]) == 1

    problems = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[!!]")]
    expected = ("ZCLAW_ALLOW", "disk", "127.0.0.1 is not reached", "chmod 600")
    assert [words in line for words, line in zip(expected, problems, strict=True)] == [True] * 4


def test_without_a_model_reminders_work_so_that_is_advice_and_no_failure(
    nothing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor"]) == 0

    assert "[ !] model: none is set: reminders work, talk does not" in capsys.readouterr().out


def test_the_doctor_says_which_part_was_not_seen_and_who_is_to_be_paired(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "zclaw.toml").write_text(
        'telegram_bot_token = "1:canary"\ntelegram_api_url = "http://127.0.0.1:9"\nlisten = "127.0.0.1:0"\n'
    )
    alive("worker", "bots")

    assert main(["doctor"]) == 1

    told = capsys.readouterr().out
    assert "[ok] part worker: runs" in told
    assert "[!!] part scheduler: not seen for 15 s: start `zclaw scheduler`" in told
    assert "[ !] owner on telegram: nobody is paired there yet" in told
    assert "canary" not in told


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"access": AccessRule.OPEN}, "[ !] access: everybody who finds the bot"),
        ({"access": AccessRule.ALLOWLIST}, "[!!] access: nobody may talk to the bot: put your own id into ZCLAW_ALLOW"),
        ({"access": AccessRule.ALLOWLIST, "allow": frozenset([PlatformId("telegram", "1")])}, "[ok] access"),
        ({}, "[ok] access: by pairing"),
    ],
)
def test_the_doctor_says_who_may_talk(settings: dict[str, Any], said: str) -> None:
    assert str(doctor.access_finding(BotSettings(**settings))).startswith(said)


@pytest.mark.parametrize(("zone", "is_advised"), [("Asia/Shanghai", False), (None, True)])
def test_the_doctor_says_what_time_it_takes_it_to_be(
    monkeypatch: pytest.MonkeyPatch, zone: str | None, is_advised: bool
) -> None:
    monkeypatch.setenv("TZ", "UTC")

    finding = doctor.zone_finding(Given({"timezone": zone} if zone else {}))

    assert finding.about.startswith(f"zone {zone or 'UTC'}: it is ")
    assert bool(finding.advice) == is_advised


def test_the_doctor_names_a_variable_that_nobody_reads(
    nothing: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASEURL", "http://127.0.0.1:1")

    assert main(["doctor"]) == 1

    assert "[!!] OPENAI_BASEURL: nothing here reads it: did you mean OPENAI_BASE_URL?" in capsys.readouterr().out


def test_the_doctor_tells_which_role_a_wrong_setting_stops(
    alive: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "zclaw.toml").write_text('slack_bot_token = "xoxb-1"')

    assert main(["doctor"]) == 1

    assert "[!!] settings of bots: SLACK_BOT_TOKEN needs SLACK_APP_TOKEN" in capsys.readouterr().out


@pytest.mark.parametrize("isolation", list(Isolation))
def test_the_doctor_says_what_commands_could_read_and_asks_for_nothing(isolation: Isolation) -> None:
    finding = doctor.isolation_finding(isolation)

    assert finding.problem == ""
    assert ("can read what it can read" in finding.about) == (isolation is Isolation.NONE)
