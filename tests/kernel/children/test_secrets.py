"""A child finds no secret of ours: not in its environment, not in our processes, not in what other children left."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from kernel.children.guarded import GuardedChildren
from kernel.children.users import can_change_user
from kernel.ports import ChildCommand, Finished, Isolation

ROOT = Path(__file__).parents[3]
CANARY = "canary-7f3a9c"
MINUTE = timedelta(minutes=1)

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


def shown(pid: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except PermissionError:
        return b"hidden"


def is_there(path: str) -> bool:
    return os.path.lexists(path)


async def sh(children: GuardedChildren, script: str, **more: object) -> Finished:
    command = ChildCommand(("/bin/sh", "-c", script), is_merged=True, **more)  # type: ignore[arg-type]  # test shorthand
    return await children.run(command, within=MINUTE)


async def test_nothing_of_our_environment_reaches_a_child(
    children: GuardedChildren, monkeypatch: pytest.MonkeyPatch
) -> None:
    for slot in (
        *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "TELEGRAM_BOT_TOKEN", "TELEGRAM_WEBHOOK_SECRET", "SLACK_BOT_TOKEN"),
        *("SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "ZCLAW_REDIS_URL", "ZCLAW_TEST_TOKEN", "LC_ALL", "PYTHONPATH"),
        *("HOME", "LD_PRELOAD", "XDG_CONFIG_HOME", "HTTPS_PROXY"),
    ):
        monkeypatch.setenv(slot, f"/{CANARY}-{slot}")

    done = await sh(children, "env; set; cat /proc/self/environ; cat /proc/$PPID/environ; cat /proc/$PPID/cmdline")

    assert "PATH=" in done.stdout.text
    assert CANARY not in done.stdout.text


@linux_only
async def test_guard_and_keepers_show_nothing(children: GuardedChildren, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    await sh(children, ":")

    guard = children.guard
    assert guard is not None
    # It hides itself; root sees it all the same.
    assert shown(guard, "environ") in (b"", b"hidden")
    assert CANARY.encode() not in shown(guard, "cmdline")


@linux_only
async def test_what_one_child_is_given_another_cannot_read(children: GuardedChildren, isolation: Isolation) -> None:
    """Not so without isolation: the card says it."""
    if isolation is Isolation.NONE:
        pytest.skip("says so on its card")
    server = await children.start(ChildCommand(("/bin/cat",), environment={"SERVICE_TOKEN": CANARY}))

    done = await sh(children, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; ls -l /proc/[0-9]*/fd")

    await server.close()
    assert CANARY not in done.stdout.text


WORKER = """
import os, sys
from kernel.children.linux import hide
if len(sys.argv) > 1:
    os.setgroups(()), os.setgid(int(sys.argv[1])), os.setuid(int(sys.argv[1]))
for is_hidden in (False, True):
    hide(is_hidden=is_hidden)
    print(flush=True)
    sys.stdin.readline()
"""


@linux_only
async def test_a_hidden_worker_cannot_be_read_even_by_its_own_user() -> None:
    """`hide` is for a worker without isolation; nothing but a second user helps against root."""
    if os.geteuid() == 0 and not can_change_user():
        pytest.skip("root reads everything")
    user = 65533 if os.geteuid() == 0 else None
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", WORKER, *([] if user is None else [str(user)])),
        cwd=ROOT,
        env={"ANTHROPIC_API_KEY": CANARY},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert worker.stdout is not None
    assert worker.stdin is not None

    async def read() -> bytes:
        script = f"cat /proc/{worker.pid}/environ; ls -l /proc/{worker.pid}/fd"
        reader = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", script),
            user=user,
            extra_groups=None if user is None else [],
            group=user,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await reader.communicate()
        return said

    await worker.stdout.readline()
    before = await read()
    worker.stdin.write(b"\n")
    await worker.stdout.readline()
    after = await read()

    await worker.communicate(b"\n")
    assert CANARY.encode() in before
    assert CANARY.encode() not in after
    assert after.count(b"Permission denied") == 2


@linux_only
async def test_no_child_finds_what_one_before_it_left(inside: Path) -> None:
    if not can_change_user():
        pytest.skip("only users of their own leave traces elsewhere")
    children = GuardedChildren(Isolation.SEPARATE_USER, inside=inside)

    await sh(children, f"echo {CANARY} >/tmp/zclaw-trace; mkdir -p /dev/shm/zclaw-trace/x; touch /var/tmp/zclaw-trace")

    await children.close()
    assert not any(is_there(f"{folder}/zclaw-trace") for folder in ("/tmp", "/dev/shm", "/var/tmp"))


async def test_children_at_work_at_once_have_users_of_their_own(inside: Path) -> None:
    if not can_change_user():
        pytest.skip("needs root")
    children = GuardedChildren(Isolation.SEPARATE_USER, inside=inside)

    done = await asyncio.gather(*(sh(children, "id -u; id -G; sleep 0.2") for _ in range(10)))

    await children.close()
    users = {each.stdout.text.split()[0] for each in done}
    assert len(users) == 10
    assert all(60600 <= int(user) < 61112 for user in users)
    assert all(len(set(each.stdout.text.split())) == 1 for each in done)
