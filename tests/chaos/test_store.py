"""The embedded store at full count: `make chaos`. The suite runs the same rounds, a few of each."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
import redis

from tests.zclaw.rounds import Load, kill_supervisors_under_load, start_at_once, starter
from tests.zclaw.sight import reached, servers_of
from zclaw.folder import open_folder
from zclaw.store import start_store

pytestmark = pytest.mark.chaos


def test_20_supervisors_killed_under_load_lose_no_acknowledged_write(tmp_path: Path) -> None:
    kill_supervisors_under_load(tmp_path, kills=20)


def test_20_pairs_of_starts_within_10_ms_give_one_server_each(tmp_path: Path) -> None:
    start_at_once(tmp_path, rounds=20)


def test_20_servers_killed_under_load_lose_no_acknowledged_write(tmp_path: Path) -> None:
    dice = random.Random(20)
    with start_store(tmp_path) as store:
        with Load(store.url) as load:
            for _ in range(20):
                reached(lambda: False, within_s=dice.uniform(0.05, 0.4))
                os.kill(store.pid, signal.SIGKILL)
                assert reached(lambda: not store.is_alive())
                store.bring_up()
        with redis.Redis.from_url(store.url, decode_responses=True) as client:
            kept = set(client.lrange("list", 0, -1))

    lost = set(load.acknowledged) - kept
    print(f"servers killed 20, acknowledged {len(load.acknowledged)}, lost {len(lost)}")
    assert not lost


def test_20_starts_killed_at_any_moment_leave_a_folder_that_starts(tmp_path: Path) -> None:
    dice = random.Random(7)
    most = 0
    for n in range(20):
        root = tmp_path / str(n)
        attempt = starter(root)
        reached(lambda: False, within_s=dice.uniform(0.05, 0.45))
        attempt.kill()
        attempt.communicate()

        with start_store(root) as store, redis.Redis.from_url(store.url) as client:
            assert client.ping()
            most = max(most, len(servers_of(open_folder(root))))

    print(f"starts killed 20, most servers on one folder {most}")
    assert most == 1
