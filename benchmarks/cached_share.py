"""How much of what a long talk sends again is read from the services' caches: goal 80 %, without one refusal.

    python -m benchmarks.cached_share [MODELS ...] [--busy] [--each]

MODELS are names as in ZCLAW_MODEL (`anthropic:claude-opus-5-5,openai:gpt-5.2`). The talk has thirty messages of a
person, a plan before each answer, a tool that comes midway, and a first model that is away for four of them. It goes
through the whole loop with all built-in tools; strict services with bound thinking and caches as described by their
makers stand in for the models. `--busy`: every message takes four rounds of three calls. `--each` prints every request.
"""

from __future__ import annotations

import argparse
import asyncio
import logging

import structlog

from tests.twins.thirty_messages import MESSAGES, Talk, talk

GOAL = 0.8
PAIRS = (
    "anthropic:claude-opus-5-5,anthropic:claude-sonnet-5-5",
    "anthropic:claude-opus-5-5,openai:deepseek-reasoner",
    "openai:deepseek-reasoner,anthropic:claude-opus-5-5",
    "openai:gpt-5.2,openai:qwen3-max",
    "anthropic:claude-opus-5-5",
)


def line(models: str, told: Talk) -> str:
    is_met = told.share >= GOAL and not told.refusals and told.answered == MESSAGES
    return (
        f"{'ok  ' if is_met else 'MISS'} {models}: cached {told.share:.1%} of {_tokens(told)} tokens; "
        f"{told.answered} of {MESSAGES} messages answered, {len(told.counted)} requests, {len(told.refusals)} refused"
    )


def _tokens(told: Talk) -> int:
    return sum(each.sent for _, each in told.counted)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=PAIRS)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--each", action="store_true")
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for models in arguments.models:
        told = asyncio.run(talk(models.split(","), is_busy=arguments.busy))
        print(line(models, told))
        for refusal in told.refusals:
            print(f"     refused: {refusal}")
        for name, each in told.counted if arguments.each else ():
            print(f"     {name:32} {each.sent:7} sent {each.read:7} read {each.read / each.sent:6.1%}")


if __name__ == "__main__":
    main()
