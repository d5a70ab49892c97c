"""Fixtures that every test may use: a real store, one for a test process, emptied for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from zclaw.store import start_store


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of one embedded store for this test process; what earlier tests wrote is still in it."""
    with start_store(tmp_path_factory.mktemp("store")) as store:
        yield store.url


@pytest.fixture
def redis_url(valkey_url: str) -> str:
    """Address of an empty store."""
    with redis.Redis.from_url(valkey_url) as client:
        client.flushall()
    return valkey_url
