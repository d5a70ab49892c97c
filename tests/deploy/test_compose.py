"""What Compose would start: a file that Compose reads, services that get their own settings only, and all of them well.

`compose-spec.json` is what Compose itself checks files against (see README.md beside it).
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from kernel.config import BotSettings, CommonSettings, WorkerSettings, read
from tests.deploy.services import ROOT, STORE_URL, Service, compose, example, instructions, service
from tests.zclaw.sight import reached
from zclaw.store import start_store

ROLES = ("bots", "worker", "scheduler")


def test_compose_would_read_the_file() -> None:
    schema = json.loads((Path(__file__).parent / "compose-spec.json").read_text())
    check = fastjsonschema.compile(schema, use_default=False)

    check(compose())

    with pytest.raises(fastjsonschema.JsonSchemaException):
        check({"services": {"bots": {"comand": "bots"}}})


def test_the_store_keeps_what_it_is_told() -> None:
    store = compose()["services"]["valkey"]

    words = store["command"]
    assert words[words.index("--appendonly") + 1] == "yes"
    assert words[words.index("--maxmemory-policy") + 1] == "noeviction"
    assert store["volumes"] == ["valkey:/data"]
    assert "PONG" in store["healthcheck"]["test"][1]


def test_nobody_but_the_roles_reaches_the_store() -> None:
    content = compose()

    assert "ports" not in content["services"]["valkey"]
    assert content["networks"]["store"] == {"internal": True}
    assert content["services"]["valkey"]["networks"] == ["store"]
    assert content["services"]["scheduler"]["networks"] == ["store"]


def test_there_may_be_as_many_workers_as_one_likes() -> None:
    worker = compose()["services"]["worker"]

    assert not {"ports", "container_name", "hostname"} & worker.keys()


@pytest.mark.parametrize("role", ROLES)
def test_every_role_runs_without_rights_and_comes_back(role: str) -> None:
    content = compose()["services"][role]

    assert content["read_only"] is True
    assert content["cap_drop"] == ["ALL"]
    assert content["restart"] == "unless-stopped"
    assert content["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    assert content["depends_on"]["valkey"]["condition"] == "service_healthy"
    assert instructions("USER") == ["10001"]


@pytest.mark.parametrize(
    ("file", "kind", "others"),
    [
        ("deploy/common.env", CommonSettings, ()),
        ("deploy/bots.env", BotSettings, (CommonSettings, WorkerSettings)),
        ("deploy/worker.env", WorkerSettings, (CommonSettings, BotSettings)),
    ],
)
def test_an_env_file_holds_settings_of_its_own_role_only(
    file: str, kind: type[CommonSettings], others: tuple[type[CommonSettings], ...], tmp_path: Path
) -> None:
    lines = example(file)

    keys = {name.lower().removeprefix("zclaw_") for name in lines}

    assert keys <= {field.name for field in fields(kind)}
    for other in others:
        assert not keys & {field.name for field in fields(other)}
    read(lines, tmp_path).settings(kind)


def test_bots_see_no_model_and_workers_no_platform() -> None:
    files = {role: compose()["services"][role]["env_file"] for role in ROLES}

    assert files == {
        "bots": ["deploy/common.env", "deploy/bots.env"],
        "worker": ["deploy/common.env", "deploy/worker.env"],
        "scheduler": ["deploy/common.env"],
    }
    ignored = (ROOT / ".gitignore").read_text().splitlines(), (ROOT / ".dockerignore").read_text().splitlines()
    assert "deploy/*.env" in ignored[0]
    assert "deploy" in ignored[1]


def test_the_image_holds_what_is_imported_and_checks_what_it_installs() -> None:
    copied = {line.split()[0] for line in instructions("COPY")}

    assert {"bots", "kernel", "workers", "zclaw", "hands", "skills"} <= copied
    assert all((ROOT / name).exists() for line in instructions("COPY") for name in line.split()[:-1])
    assert any("--require-hashes" in line for line in instructions("RUN"))
    assert re.fullmatch(r"python:3\.\d+-slim", instructions("FROM")[0])


class Telegram(BaseHTTPRequestHandler):
    """A Bot API that knows every token and has no updates."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        method = self.path.rpartition("/")[2]
        me = {"id": 1, "is_bot": True, "first_name": "Z", "username": "z_bot"}
        result: Any = {"getMe": me, "getUpdates": []}.get(method, True)
        body = json.dumps({"ok": True, "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@pytest.fixture
def telegram() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Telegram) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


class Machine:
    """Runs services as containers would run: their commands, their variables, nothing of ours."""

    def __init__(self, folder: Path, store_url: str, moved: dict[str, str]) -> None:
        self.folder = folder
        self._moved = {STORE_URL: store_url, "/app": str(ROOT), "/data": str(folder / "data"), **moved}

    def environment(self, of: Service, **more: str) -> dict[str, str]:
        given = {name: self._here(value) for name, value in of.environment.items()}
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **given, **more}

    def words(self, words: tuple[str, ...]) -> list[str]:
        return [sys.executable if word == "python" else self._here(word) for word in words]

    def _here(self, text: str) -> str:
        for there, here in self._moved.items():
            text = text.replace(there, here)
        return text

    def start(self, of: Service, **more: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{of.name}.log").open("wb") as log:
            return subprocess.Popen(
                self.words(of.command),
                env=self.environment(of, **more),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def ask(self, of: Service, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(words), env=self.environment(of), cwd=self.folder, capture_output=True, text=True, check=False
        )


def test_every_service_starts_with_its_own_command_and_is_well(telegram: str, tmp_path: Path) -> None:
    filled = {"TELEGRAM_BOT_TOKEN": "1:canary", "ANTHROPIC_API_KEY": "canary"}
    services = {role: service(role, filled) for role in ROLES}
    assert "canary" not in str(services["scheduler"].environment)
    more = {"bots": {"TELEGRAM_API_URL": telegram}}
    with ExitStack() as ends:
        store = ends.enter_context(start_store(tmp_path / "store"))
        port = str(free_port())
        machine = Machine(
            tmp_path, store.url, {"0.0.0.0:8377": f"127.0.0.1:{port}", "127.0.0.1:8377": f"127.0.0.1:{port}"}
        )
        running = {}
        for role, each in services.items():
            running[role] = machine.start(each, **more.get(role, {}))
            ends.callback(running[role].wait, 40)
            ends.callback(running[role].terminate)
        status = ("python", "-P", "-m", "zclaw", "status", "--json")

        assert reached(lambda: machine.ask(services["bots"], *status).returncode == 0, within_s=60.0)

        listed = json.loads(machine.ask(services["bots"], *status).stdout)
        assert {(part["role"], part["pid"]) for part in listed} == {(role, running[role].pid) for role in ROLES}
        for each in services.values():
            assert machine.ask(each, *each.probe).returncode == 0, each.name
        assert all(process.poll() is None for process in running.values())
        assert not any("canary" in (tmp_path / f"{role}.log").read_text() for role in ROLES)
    assert [process.returncode for process in running.values()] == [0, 0, 0]
