from __future__ import annotations

import shutil
from pathlib import Path

import redis

from zclaw.store import start_store


def test_a_copy_of_the_data_folder_brings_everything_back_under_another_path(tmp_path: Path) -> None:
    with start_store(tmp_path / "zclaw") as store, redis.Redis.from_url(store.url, decode_responses=True) as client:
        client.set("kept", "每天 09:00 查房")
    shutil.copytree(tmp_path / "zclaw", tmp_path / "a copy", ignore=shutil.ignore_patterns("socket"))

    with start_store(tmp_path / "zclaw") as store, redis.Redis.from_url(store.url) as client:
        client.set("kept", "changed afterwards")
    with (
        start_store(tmp_path / "a copy") as copy,
        redis.Redis.from_url(copy.url, decode_responses=True) as client,
    ):
        assert client.get("kept") == "每天 09:00 查房"
