"""What the tests of providers share: a service of their own, and a clock that hurries over pauses."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.twins.hasty import HastyClock
from tests.twins.model_service import ModelService, model_service


@pytest.fixture
def clock() -> HastyClock:
    """One that hurries."""
    return HastyClock()


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    """A model's service; no test may make it refuse a request."""
    async with model_service() as running:
        yield running
        assert running.refusals == []
