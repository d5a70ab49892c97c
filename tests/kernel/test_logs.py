"""Logs are JSON lines in which no known secret stands, whoever wrote it and however."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import structlog

from kernel.logs import MASK, Mask, set_up
from kernel.settings import Secret

TOKEN = "123456:AAH-canary/9+x=_Z"
UUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
QUOTED = "pa\"ss\\word'é密\n"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged while the test runs, from debug on; the process's own logging comes back afterwards."""
    root = logging.getLogger()
    before = (list(root.handlers), root.level, sys.excepthook, sys.unraisablehook)
    stream = io.StringIO()
    set_up("debug", [TOKEN, UUID, QUOTED], stream)
    yield stream
    root.handlers[:], root.level = before[0], before[1]
    sys.excepthook, sys.unraisablehook = before[2], before[3]
    structlog.reset_defaults()


def only(stream: io.StringIO) -> dict[str, object]:
    """The one line, as JSON."""
    (line,) = stream.getvalue().splitlines()
    found: dict[str, object] = json.loads(line)
    return found


def test_an_event_is_one_json_line_with_time_level_and_fields(lines: io.StringIO) -> None:
    structlog.get_logger("test").info("trigger fired", trigger="t1", late_s=0.5, text="查房")

    line = only(lines)
    assert (line["event"], line["level"]) == ("trigger fired", "info")
    assert (line["trigger"], line["late_s"], line["text"]) == ("t1", 0.5, "查房")
    assert str(line["timestamp"]).endswith("Z")


def test_what_was_bound_for_the_job_is_on_every_line(lines: io.StringIO) -> None:
    with structlog.contextvars.bound_contextvars(conversation="c1"):
        structlog.get_logger("test").info("one")

    assert only(lines)["conversation"] == "c1"


@pytest.mark.parametrize("secret", [TOKEN, UUID, QUOTED], ids=["token", "uuid", "quoted"])
def test_a_secret_is_masked_wherever_it_stands(lines: io.StringIO, secret: str) -> None:
    log = structlog.get_logger("test")

    log.warning(f"to {secret}", url=f"https://x/bot{secret}/send", inside={"a": [secret]}, pair=(secret, 1))
    log.info("address", url=f"redis://:{quote(secret, safe='')}@host")
    log.info("repr", value=repr(secret), error=ValueError(secret))
    logging.getLogger("some.library").error("GET %s", f"https://x/bot{secret}/send")
    logging.getLogger("some.library").error("headers %r", {"Authorization": secret})
    try:
        raise RuntimeError(f"no answer from {secret}") from ValueError(secret)
    except RuntimeError:
        log.exception("broke", why=secret)

    written = lines.getvalue()
    assert secret not in written
    assert secret.strip() not in written
    assert json.dumps(secret)[1:-1] not in written
    assert quote(secret, safe="") not in written
    assert all(secret not in str(value) for line in written.splitlines() for value in json.loads(line).values())
    assert len(written.splitlines()) == 6
    assert written.count(MASK) >= 10


def test_a_value_of_ours_says_what_it_is_and_not_what_it_hides(lines: io.StringIO) -> None:
    structlog.get_logger("test").info("settings", key=Secret("a-secret-nobody-listed"))

    assert "a-secret-nobody-listed" not in lines.getvalue()


def test_libraries_are_quiet_below_warning_even_at_debug(lines: io.StringIO) -> None:
    logging.getLogger("rq.client").setLevel(logging.DEBUG)  # As rq does for its worker.
    for name in ("httpx", "aiogram", "rq", "slack_sdk", "anthropic"):
        logging.getLogger(f"{name}.client").info("HTTP Request: POST …")
        logging.getLogger(f"{name}.client").debug("headers")

    assert lines.getvalue() == ""


def test_short_values_do_not_blot_out_ordinary_words() -> None:
    assert Mask(["abc", ""])("abc and the alphabet") == "abc and the alphabet"


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    assert Mask(["secret-1", "secret-1-long"])("x secret-1-long y") == "x *** y"


UNCAUGHT = """
import asyncio, gc, logging, threading
from kernel.logs import set_up
set_up("info", ["canary-123456"])

class Bad:
    def __del__(self):
        raise ValueError("canary-123456 in a finaliser")

def thread():
    raise ValueError("canary-123456 in a thread")

async def task():
    async def lost():
        raise ValueError("canary-123456 in a task")
    asyncio.ensure_future(lost())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    gc.collect()

logging.getLogger("library").error("%d tries", "canary-123456, an argument that does not fit")
Bad()
started = threading.Thread(target=thread); started.start(); started.join()
asyncio.run(task())
raise ValueError("canary-123456 at the top")
"""


def test_errors_that_nobody_caught_are_masked_lines_too() -> None:
    ended = subprocess.run([sys.executable, "-c", UNCAUGHT], capture_output=True, text=True, timeout=60, check=False)

    assert ended.returncode == 1
    assert "canary" not in ended.stderr + ended.stdout
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert len(lines) == 5
    assert lines[0]["logger"] == "library"
    for place in ("in a finaliser", "in a thread", "in a task", "at the top"):
        assert any(f"*** {place}" in json.dumps(line) for line in lines)
