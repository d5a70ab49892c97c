"""Long talks are cheap: most of what is sent again is read from the service's cache, whatever happens on the way."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.twins.thirty_messages import MESSAGES, talk


@pytest.mark.parametrize(
    "models",
    [
        ("anthropic:claude-opus-5-5", "anthropic:claude-sonnet-5-5"),
        ("anthropic:claude-opus-5-5", "openai:deepseek-reasoner"),
        ("openai:gpt-5.2", "openai:qwen3-max"),
    ],
    ids=lambda models: models[1],
)
async def test_plans_a_tool_that_comes_midway_and_a_failover_leave_four_fifths_to_the_cache(
    models: tuple[str, str],
) -> None:
    with capture_logs():  # The outage is told to the operator.
        told = await talk(models)

    assert told.refusals == ()
    assert told.answered == MESSAGES
    assert told.late_calls > 0
    assert {name for name, _ in told.counted} == {*models}
    assert told.share >= 0.8


async def test_plans_find_the_plan_before_them_however_much_was_done_since() -> None:
    with capture_logs():
        told = await talk(("anthropic:claude-opus-5-5", "anthropic:claude-sonnet-5-5"), is_busy=True)

    assert told.refusals == ()
    assert told.answered == MESSAGES
    assert told.share >= 0.9
