"""What one service that calls itself OpenAI-compatible takes: begun by its model's name, learned from its refusals.

Habits known here: OpenAI (`max_completion_tokens`), DeepSeek (`reasoning_content` must come back, R1: must not), GLM,
Qwen, Mistral (ids of nine letters, no words behind results), the templates of Gemma (no system role), vLLM, SGLang,
llama.cpp, Ollama. What a service refuses once is not sent to it again by this process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from kernel.providers.status import Refusal


class Reasoning(Enum):
    """What a model wants done with the reasoning of its earlier replies."""

    BACK = "as it came, where it came"
    EVERYWHERE = "likewise, and on every reply, if only empty: also where it was dropped, or was another model's"
    NEVER = "refused in requests"


class Switch(Enum):
    """By which word a model is told to think, or not to."""

    NONE = "it is not told"
    EFFORT = "reasoning_effort"
    TYPE = "thinking"
    ENABLE = "enable_thinking"


@dataclass(frozen=True, slots=True)
class Manners:
    """How to ask."""

    limit: str = "max_tokens"
    """The name of the limit; empty: the service's own holds."""
    reasoning: Reasoning = Reasoning.BACK
    switch: Switch = Switch.NONE
    counts_streams: bool = True
    """`stream_options`."""
    takes_tools: bool = True
    takes_no_choice: bool = True
    """`tool_choice: none` beside a list of tools; without it a plan is asked for without a list."""
    has_system: bool = True
    """False: the prompt stands at the head of the first user message."""
    takes_null: bool = True
    """`content: null` beside calls; else it is an empty text."""
    takes_any_id: bool = True
    """False: ids are nine letters or digits."""
    shows_pictures: bool = False
    takes_words_behind_results: bool = True
    """False: words of a person that follow results stand at the end of the last one."""


_REASONING = (
    (r"deepseek.*\br1|\br1.*deepseek", Reasoning.NEVER),
    (r"deepseek", Reasoning.EVERYWHERE),
)
_SWITCHES = (
    (r"deepseek.*\br1|\br1.*deepseek", Switch.NONE),
    (r"deepseek|glm|kimi", Switch.TYPE),
    (r"qwen|qwq", Switch.ENABLE),
    (r"gpt-[5-9]|gpt-oss|^o\d", Switch.EFFORT),
)
_SEES = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-[5-9]|^o(?:1|3)(?!-mini|-preview)|^o4|claude|gemini|gemma-?3|pixtral|llava|internvl|minicpm-v|vision"
    r"|glm-[\d.]+v|(?<![a-z])vl(?![a-z])|qvq",
    re.IGNORECASE,
)
"""Models that look at pictures; others refuse the request, or fail over it."""
_NEW_LIMIT = re.compile(r"^(?:gpt-[5-9]|o\d)", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"unrecogni[sz]ed|unknown|unexpected|unsupported|extra|invalid"
    r"|not (?:be |currently )?(?:support|allow|permit|include)"
)


def manners_of(model: str) -> Manners:
    """Where to begin with a model."""
    reasoning = next((found for pattern, found in _REASONING if re.search(pattern, model, re.I)), Reasoning.BACK)
    switch = next((found for pattern, found in _SWITCHES if re.search(pattern, model, re.I)), Switch.NONE)
    limit = "max_completion_tokens" if _NEW_LIMIT.search(model) else "max_tokens"
    return Manners(limit=limit, reasoning=reasoning, switch=switch, shows_pictures=_SEES.search(model) is not None)


def learn(manners: Manners, refusal: Refusal) -> Manners | None:
    """Manners under which the refused request looks different; None when the refusal teaches nothing."""
    if refusal.status not in (400, 404, 422):
        return None
    said = refusal.said.lower()
    learned = next((made for made in (_fields(manners, said), _messages(manners, said)) if made != manners), manners)
    return None if learned == manners else learned


def _fields(manners: Manners, said: str) -> Manners:
    is_unknown = bool(_UNKNOWN.search(said))
    if manners.limit == "max_tokens" and "max_completion_tokens" in said:
        return replace(manners, limit="max_completion_tokens")
    if manners.limit and ("max_tokens" in said or "max_completion_tokens" in said or "in the completion" in said):
        return replace(manners, limit="")
    if "stream_options" in said or "include_usage" in said:
        return replace(manners, counts_streams=False)
    if "tool_choice" in said and "auto-tool-choice" not in said:
        return replace(manners, takes_no_choice=False)
    if "tool" in said and re.search(r"not support|unsupported|auto-tool-choice", said) and "role" not in said:
        return replace(manners, takes_tools=False)
    if manners.switch.value in said and is_unknown:
        return replace(manners, switch=Switch.NONE)
    return manners


def _messages(manners: Manners, said: str) -> Manners:
    if manners.shows_pictures and "image" in said and (_UNKNOWN.search(said) or "variant" in said):
        return replace(manners, shows_pictures=False)
    if "reasoning" in said and ("passed back" in said or re.search(r"missing\W+reasoning_content", said)):
        return replace(manners, reasoning=Reasoning.EVERYWHERE)
    if "reasoning" in said and _UNKNOWN.search(said):
        return replace(manners, reasoning=Reasoning.NEVER)
    if "call id" in said and "length" in said:
        return replace(manners, takes_any_id=False)
    if re.search(r"after role .?tool|unexpected role .?user", said):
        return replace(manners, takes_words_behind_results=False)
    if ("system" in said and ("role" in said or "support" in said)) or "must alternate" in said:
        return replace(manners, has_system=False)
    if "content" in said and re.search(r"null|none|expected (?:a )?string|valid string", said):
        return replace(manners, takes_null=False)
    return manners
