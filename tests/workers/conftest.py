"""Fixtures of the worker's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.hall import Hall


@pytest.fixture
def hall(redis_url: str, tmp_path: Path) -> Iterator[Hall]:
    hall = Hall(redis_url, tmp_path)
    yield hall
    hall.close()
