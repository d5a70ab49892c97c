from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis

from kernel import config
from tests.zclaw.sight import WITHIN_S, answers, gone, reached, servers_of
from zclaw.folder import open_folder
from zclaw.join import join
from zclaw.locks import is_locked
from zclaw.roles import roles_for
from zclaw.up import pause_s

ROOT = Path(__file__).parents[2]
STEADY = "bots=steady,worker=steady,scheduler=steady"


class World:
    """Supervisors over fake roles on one data folder, and what the roles wrote down."""

    def __init__(self, root: Path) -> None:
        self.folder = open_folder(root / "data")
        self.journal = root / "journal"
        self.journal.touch()
        self.supervisors: list[subprocess.Popen[bytes]] = []

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "ZCLAW_DATA_DIR": str(self.folder.root), **more}

    def up(self, behaviours: str = STEADY, **environment: str) -> subprocess.Popen[bytes]:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "tests.zclaw.supervised", str(self.journal), behaviours],
            cwd=ROOT,
            env=self.environment(**environment),
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.supervisors.append(supervisor)
        return supervisor

    def up_and_ready(self, behaviours: str = STEADY, **environment: str) -> subprocess.Popen[bytes]:
        supervisor = self.up(behaviours, **environment)
        assert reached(lambda: len(self.entries("start")) >= behaviours.count("="))
        return supervisor

    def entries(self, event: str, role: str | None = None) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.journal.read_text().splitlines()]
        return [e for e in lines if e["event"] == event and role in (None, e.get("role"))]

    def pids(self) -> list[int]:
        return [entry["pid"] for entry in self.entries("start")]

    def end(self) -> None:
        for supervisor in self.supervisors:
            if supervisor.poll() is None:
                supervisor.terminate()
                supervisor.wait(WITHIN_S)
            if supervisor.stderr is not None:
                supervisor.stderr.close()
        assert reached(lambda: not any(psutil.pid_exists(pid) for pid in self.pids()))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.end()


def test_pauses_double_up_to_half_a_minute_and_are_never_the_same_for_everyone() -> None:
    shortest = [pause_s(n, _Dice(0.0)) for n in (1, 2, 3, 7, 50)]
    longest = [pause_s(n, _Dice(1.0)) for n in (1, 2, 3, 7, 50)]

    assert shortest == [0.25, 0.5, 1.0, 15.0, 15.0]
    assert longest == [0.5, 1.0, 2.0, 30.0, 30.0]


class _Dice(random.Random):
    def __init__(self, value: float) -> None:
        super().__init__()
        self._value = value

    def random(self) -> float:
        return self._value


def test_a_killed_role_is_started_again_and_the_others_are_left_alone(world: World) -> None:
    world.up_and_ready()
    [worker] = world.entries("start", "worker")

    os.kill(worker["pid"], signal.SIGKILL)

    assert reached(lambda: len(world.entries("start", "worker")) == 2)
    assert len(world.entries("start")) == 4


def test_a_role_that_keeps_dying_is_started_more_and_more_rarely(world: World) -> None:
    supervisor = world.up("worker=dies")

    assert reached(lambda: len(world.entries("start")) >= 4)
    supervisor.send_signal(signal.SIGTERM)
    _, said = supervisor.communicate(timeout=WITHIN_S)

    pauses = [float(line.split()[-2]) for line in said.decode().splitlines() if "starts again" in line]
    assert pauses[0] < pauses[1] < pauses[2]
    assert supervisor.returncode == 0


def test_wrong_settings_of_a_role_end_everything_with_its_line_and_code_2(world: World) -> None:
    supervisor = world.up("bots=wrong,worker=steady,scheduler=steady")

    _, said = supervisor.communicate(timeout=WITHIN_S)

    assert supervisor.returncode == 2
    assert said.decode().splitlines() == ["TELEGRAM_BOT_TOKEN was refused: ask BotFather for a new one."]
    assert not is_locked(world.folder.store_lock)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_bots_workers_scheduler_and_then_the_store(world: World, number: signal.Signals) -> None:
    supervisor = world.up_and_ready()

    # As a terminal does: to everyone in its foreground group.
    os.killpg(supervisor.pid, number)

    assert supervisor.wait(WITHIN_S) == 0
    assert [entry["role"] for entry in world.entries("stop")] == ["bots", "worker", "scheduler"]
    assert all(entry["store"] for entry in world.entries("stop"))
    assert not is_locked(world.folder.store_lock)
    assert not is_locked(world.folder.owner_lock)


def test_a_second_signal_does_not_wait_for_a_stubborn_role(world: World) -> None:
    supervisor = world.up_and_ready("worker=stubborn")

    started = time.monotonic()
    supervisor.send_signal(signal.SIGINT)
    time.sleep(0.3)  # Two signals at once would arrive as one.
    supervisor.send_signal(signal.SIGINT)

    assert supervisor.wait(WITHIN_S) == 0
    assert time.monotonic() - started < 2.5
    assert gone(world.pids()[0])


def test_a_killed_supervisor_takes_its_roles_with_it_but_not_the_store(world: World) -> None:
    supervisor = world.up_and_ready("bots=steady,worker=stubborn,scheduler=steady")

    supervisor.kill()
    supervisor.wait()

    assert reached(lambda: all(gone(pid) for pid in world.pids()), within_s=5.0)
    assert is_locked(world.folder.store_lock)
    assert zclaw("down", world).returncode == 0
    assert not is_locked(world.folder.store_lock)


def test_a_killed_store_runs_again_with_what_was_in_it(world: World) -> None:
    world.up_and_ready()
    [server] = servers_of(world.folder)
    with redis.Redis(unix_socket_path=str(world.folder.socket)) as client:
        client.set("k", "v")

    server.kill()

    assert reached(lambda: [s.pid for s in servers_of(world.folder)] not in ([], [server.pid]))
    with redis.Redis(unix_socket_path=str(world.folder.socket)) as client:
        assert reached(lambda: answers(client))
        assert client.get("k") == b"v"


def test_each_role_gets_its_own_settings_and_no_secret_is_in_proc(world: World) -> None:
    secrets = {
        "TELEGRAM_BOT_TOKEN": "123:canary-telegram",
        "ANTHROPIC_API_KEY": "canary-anthropic",
        "SLACK_BOT_TOKEN": "xoxb-canary",
        "SLACK_APP_TOKEN": "xapp-canary",
    }

    supervisor = world.up_and_ready(**secrets)

    keys = {entry["role"]: entry["keys"] for entry in world.entries("start")}
    assert {k for k in keys["bots"] if k.upper() in secrets} == {
        "telegram_bot_token",
        "slack_bot_token",
        "slack_app_token",
    }
    assert {k for k in keys["worker"] if k.upper() in secrets} == {"anthropic_api_key"}
    assert keys["scheduler"] == ["data_dir", "redis_url"]
    if sys.platform == "linux":
        [server] = servers_of(world.folder)
        for pid in (supervisor.pid, server.pid, *world.pids()):
            for name in ("environ", "cmdline"):
                assert b"canary" not in Path(f"/proc/{pid}/{name}").read_bytes()


def test_the_roles_of_up_show_their_names_and_bots_only_run_with_a_platform() -> None:
    bare = roles_for(config.Given({}))
    full = roles_for(config.Given({"telegram_bot_token": "1:x"}))

    assert [role.name for role in bare] == ["worker", "scheduler"]
    assert [role.name for role in full] == ["bots", "worker", "scheduler"]
    assert all(f"zclaw {role.name}" in " ".join(role.command) for role in full)


def zclaw(words: str, world: World, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zclaw", *words.split()],
        cwd=ROOT,
        env=world.environment(**environment),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_up_on_a_folder_that_runs_says_so_and_exits_2(world: World) -> None:
    world.up_and_ready("worker=steady")

    second = zclaw("up", world)

    assert second.returncode == 2
    assert second.stderr.startswith("zclaw already runs on")
    assert second.stderr.count("\n") == 1


class _Refuses(BaseHTTPRequestHandler):
    """A platform that knows no token."""

    def do_POST(self) -> None:
        body = b'{"ok": false, "error_code": 401, "description": "Unauthorized"}'
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base's own word)
        pass


def test_up_with_a_wrong_token_never_says_that_it_runs(world: World) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refuses) as platform:
        threading.Thread(target=platform.serve_forever).start()

        url = f"http://127.0.0.1:{platform.server_port}"
        ended = zclaw("up", world, TELEGRAM_BOT_TOKEN="123:abc", TELEGRAM_API_URL=url)
        platform.shutdown()

    first, *code, last = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert first.startswith("zclaw is starting (bots, worker, scheduler);")
    assert [re.sub("[A-Z2-9]{8}", "CODE", line)[:12] for line in code] == ["CODE: send t", "CODE：10 分钟内在"]
    assert last == "TELEGRAM_BOT_TOKEN is not accepted by Telegram: copy it again from @BotFather."


def test_down_ends_everything_and_then_says_that_nothing_runs(world: World) -> None:
    supervisor = world.up_and_ready()

    first = zclaw("down", world)
    second = zclaw("down", world)

    assert (first.returncode, first.stdout) == (0, "zclaw has ended.\n")
    assert supervisor.wait(WITHIN_S) == 0
    assert (second.returncode, second.stdout) == (0, f"zclaw does not run on {world.folder.root}.\n")


def test_a_supervisor_that_a_terminal_started_ends_after_the_last_terminal(world: World) -> None:
    given = config.Given({"data_dir": str(world.folder.root)})
    command = [sys.executable, "-m", "tests.zclaw.supervised", str(world.journal), "worker=steady"]
    command.append("--until-last-terminal")

    first = join(given, command)
    second = join(given, command)
    first.leave()

    assert second.is_supervised()
    with redis.Redis.from_url(second.url) as client:
        assert client.ping()
    assert len(world.entries("ready")) == 1
    assert not reached(lambda: not second.is_supervised(), within_s=1.5)

    second.leave()

    assert reached(lambda: not is_locked(world.folder.owner_lock))
    assert not is_locked(world.folder.store_lock)


def test_terminals_that_open_at_the_same_moment_share_one_supervisor(world: World) -> None:
    script = (
        "import sys; from kernel import config; from zclaw.join import join\n"
        "joined = join(config.read(), sys.argv[1:]); print(joined.url, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-m", "tests.zclaw.supervised", str(world.journal), "worker=steady"]
    command.append("--until-last-terminal")

    terminals = [
        subprocess.Popen(
            [sys.executable, "-c", script, *command],
            cwd=ROOT,
            env=world.environment(PYTHONPATH=str(ROOT)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    try:
        urls = {terminal.stdout.readline() for terminal in terminals if terminal.stdout}

        assert urls == {f"unix://{world.folder.socket}\n"}
        assert len(servers_of(world.folder)) == len(world.entries("ready")) == 1
    finally:
        for terminal in terminals:
            terminal.communicate(timeout=WITHIN_S)
    assert reached(lambda: not is_locked(world.folder.owner_lock))
