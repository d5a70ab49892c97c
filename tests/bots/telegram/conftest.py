"""A small Bot API server for each test that asks for one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.bots.telegram.fake_api import FakeApi, serving


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with serving() as api:
        yield api
