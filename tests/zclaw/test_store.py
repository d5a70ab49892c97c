from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import redis

from tests.zclaw.rounds import kill_supervisors_under_load, start_at_once
from tests.zclaw.sight import reached, servers_of
from zclaw import folder as folder_module
from zclaw import store as store_module
from zclaw.folder import DataFolder, open_folder
from zclaw.locks import FolderUnusable, is_locked, try_lock
from zclaw.store import AlreadyRunning, StoreUnusable, configuration, refusal, start_store

AWKWARD = ["plain", "我的 数据", "x" * 120, 'quo"te\\ and $HOME #1 %s', "trailing "]


def writable(url: str) -> bool:
    with redis.Redis.from_url(url) as client:
        return bool(client.set("k", "v"))


@pytest.mark.parametrize("name", AWKWARD)
def test_any_folder_name_works_and_keeps_what_was_written(tmp_path: Path, name: str) -> None:
    with start_store(tmp_path / name) as store:
        assert writable(store.url)

    with start_store(tmp_path / name) as store, redis.Redis.from_url(store.url) as client:
        assert client.get("k") == b"v"
        assert len(os.fsencode(store.folder.socket)) <= 100


def test_nobody_else_can_read_a_folder_a_socket_or_a_file(tmp_path: Path) -> None:
    with start_store(tmp_path / "data") as store:
        assert writable(store.url)
        found = [tmp_path / "data", *(tmp_path / "data").rglob("*"), store.folder.socket, store.folder.socket.parent]

        open_to_others = [str(path) for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077]

    assert open_to_others == []


def test_a_folder_that_holds_other_things_is_not_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    tmp_path.chmod(0o755)

    open_folder(tmp_path)

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700


def test_the_server_keeps_everything_evicts_nothing_and_has_no_port(tmp_path: Path) -> None:
    with start_store(tmp_path) as store, redis.Redis.from_url(store.url, decode_responses=True) as client:
        settings = client.config_get("appendonly", "appendfsync", "maxmemory-policy", "port", "save")

    assert settings == {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "port": "0",
        "save": "",
    }


def test_the_server_has_a_session_of_its_own_and_a_name_that_shows_whose_it_is(tmp_path: Path) -> None:
    with start_store(tmp_path) as store:
        assert os.getsid(store.pid) == store.pid
        assert "zclaw store" in " ".join(psutil.Process(store.pid).cmdline())


def test_the_server_is_started_with_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    spy = tmp_path / "server"
    spy.write_text("#!/bin/sh\nenv\n")
    spy.chmod(0o755)
    monkeypatch.setattr(store_module, "_server_binary", lambda: str(spy))

    with pytest.raises(StoreUnusable):
        start_store(tmp_path / "data")

    started_with = (tmp_path / "data" / "logs" / "store.log").read_text()
    assert "LC_ALL=C" in started_with
    assert "canary" not in started_with


def test_a_second_start_finds_the_folder_owned_and_harms_nothing(tmp_path: Path) -> None:
    with start_store(tmp_path) as store:
        with pytest.raises(AlreadyRunning, match="already runs"):
            start_store(tmp_path)

        assert writable(store.url)
        assert len(servers_of(store.folder)) == 1


def test_the_same_folder_by_another_spelling_is_the_same_folder(tmp_path: Path) -> None:
    long_name = tmp_path / ("x" * 120)
    long_name.mkdir()
    (tmp_path / "link").symlink_to(long_name)

    with start_store(tmp_path / "link") as store:
        assert store.folder.socket == open_folder(long_name).socket
        with pytest.raises(AlreadyRunning):
            start_store(long_name)


def test_an_orphan_is_adopted_and_stopped_like_our_own(tmp_path: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-m", "tests.zclaw.starter", str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert first.stdout is not None
    orphan = int(first.stdout.readline().split()[0])
    first.kill()
    first.communicate()

    with start_store(tmp_path) as store:
        assert store.is_adopted
        assert store.pid == orphan
        assert writable(store.url)

    assert not is_locked(store.folder.store_lock)
    assert reached(lambda: servers_of(store.folder) == [])


def test_a_dead_server_is_seen_and_brought_up_again(tmp_path: Path) -> None:
    with start_store(tmp_path) as store:
        assert writable(store.url)
        before = store.pid
        os.kill(before, signal.SIGKILL)
        assert reached(lambda: not store.is_alive())

        store.bring_up()

        assert store.pid != before
        with redis.Redis.from_url(store.url) as client:
            assert client.get("k") == b"v"


def test_two_starts_within_10_ms_give_one_owner_and_one_server(tmp_path: Path) -> None:
    start_at_once(tmp_path, rounds=2)


def test_no_acknowledged_write_is_lost_when_supervisors_are_killed_under_load(tmp_path: Path) -> None:
    kill_supervisors_under_load(tmp_path, kills=3)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit (Linux)")
def test_a_full_disk_refuses_writes_and_the_store_works_again_once_there_is_space(tmp_path: Path) -> None:
    with start_store(tmp_path) as store, redis.Redis.from_url(store.url) as client:
        client.set("before", "kept")
        resource.prlimit(store.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

        acknowledged = push_until_refused(client)

        assert len(acknowledged) < 1000
        assert client.get("before") == b"kept"

        resource.prlimit(store.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert reached(lambda: can_push(client, "after"))
        os.kill(store.pid, signal.SIGKILL)
        assert reached(lambda: not store.is_alive())
        store.bring_up()

        kept = {int(entry.split(b":")[0]) for entry in client.lrange("list", 0, -1) if b":" in entry}
        assert set(acknowledged) <= kept


def push_until_refused(client: redis.Redis) -> list[int]:
    acknowledged = []
    for n in range(1000):
        if not can_push(client, f"{n}:{'x' * 100}"):
            break
        acknowledged.append(n)
    return acknowledged


def can_push(client: redis.Redis, value: str) -> bool:
    try:
        return bool(client.rpush("list", value))
    except redis.ResponseError:
        return False


def test_a_full_disk_at_the_start_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_LEAST_FREE_BYTES", 1 << 62)

    with pytest.raises(FolderUnusable, match=r"^The disk that holds .* is full: free some space"):
        start_store(tmp_path)

    monkeypatch.undo()
    with start_store(tmp_path) as store:
        assert writable(store.url)


def test_a_damaged_log_is_one_clear_line_and_is_left_as_it_was(tmp_path: Path) -> None:
    with start_store(tmp_path) as store:
        assert writable(store.url)
    [log] = (store.folder.store / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(b"not a log\n" * 10)

    with pytest.raises(StoreUnusable) as refused:
        start_store(tmp_path)

    assert "is damaged" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert log.read_bytes() == b"not a log\n" * 10
    assert not is_locked(store.folder.owner_lock)


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("# Can't open the append-only file: No space left on device", "is full"),
        ("# Fatal error loading the DB: Can't handle RDB format version 90", "newer version"),
        ("# Failed opening Unix socket: bind: Operation not supported", "No socket can be made"),
        ("# Can't open the append-only file: Permission denied", "another user"),
        ("1:M # something new\n", "(1:M # something new)"),
        ("", "it wrote nothing"),
    ],
)
def test_what_the_server_says_becomes_one_line_for_the_operator(tmp_path: Path, log: str, line: str) -> None:
    said = refusal(log, DataFolder(tmp_path))

    assert line in said
    assert "\n" not in said


def test_a_machine_without_a_binary_is_told_to_bring_its_own_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")

    with pytest.raises(StoreUnusable, match="set ZCLAW_REDIS_URL"):
        start_store(tmp_path)


def test_a_folder_in_tmp_that_someone_else_prepared_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_SHORT_ROOT", str(tmp_path))
    trap = tmp_path / f"zclaw-{os.geteuid()}"
    trap.mkdir()
    trap.chmod(0o777)

    with pytest.raises(FolderUnusable, match="only this user can open"):
        open_folder(tmp_path / ("x" * 120))


def test_a_file_in_the_place_of_the_folder_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(FolderUnusable, match="is not a folder"):
        start_store(tmp_path / "data")


def test_a_lock_is_free_again_when_its_last_holder_gives_it_back(tmp_path: Path) -> None:
    lock = try_lock(tmp_path / "lock")
    assert lock is not None
    assert try_lock(tmp_path / "lock") is None

    lock.release()

    assert not is_locked(tmp_path / "lock")


def test_the_configuration_quotes_what_people_call_their_folders(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / 'a "b" \\c')

    assert f'dir "{tmp_path}/a \\"b\\" \\\\c/store"\n' in configuration(folder)
