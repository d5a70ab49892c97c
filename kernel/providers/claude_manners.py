"""What the Messages API of one address takes: Anthropic's own takes everything, those of others are asked once.

What a service refuses once is not sent to it again by this process. Nobody publishes a list of these differences, so
they are read from the words of the refusal; a wrong guess costs a cache or a setting, never an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kernel.providers.status import Refusal

_NO_PICTURES = re.compile(r"image.*(?:support|unknown|variant|expected)|(?:support|unknown|variant|expected).*image")
_TOKENS = re.compile(r"\d{3,}")


@dataclass(frozen=True, slots=True)
class Manners:
    """How to ask. The defaults are what the Messages API says of itself."""

    marks_cache: bool = True
    takes_thinking: bool = True
    takes_effort: bool = True
    takes_no_choice: bool = True
    """`tool_choice: none` beside a list of tools; without it a plan is asked for without a list."""
    opens_with_thinking: bool = False
    """Wants a thinking block before every call, also before calls that another model made."""
    signs_blank: bool = False
    """Wants a signature, empty if need be, on blocks that it gave out without one."""
    most_tokens: int | None = None
    shows_pictures: bool = True


PROPER = Manners()


def manners_of(host: str, model: str) -> Manners:
    """Where to begin with a service."""
    is_deepseek = "deepseek" in host or model.lower().startswith("deepseek")
    return Manners(opens_with_thinking=is_deepseek, shows_pictures=not is_deepseek)


def learn(manners: Manners, refusal: Refusal, max_tokens: int) -> Manners | None:
    """Manners under which the refused request looks different; None when the refusal teaches nothing.

    `max_tokens` is what was asked for.
    """
    if refusal.status not in (400, 422):
        return None
    said = refusal.said.lower()
    learned = manners
    if "cache_control" in said or ("system" in said and "valid string" in said):
        learned = replace(manners, marks_cache=False)
    elif "tool_choice" in said:
        learned = replace(manners, takes_no_choice=False)
    elif "thinking" in said and "passed back" in said:
        learned = replace(manners, opens_with_thinking=True)
    elif "signature" in said and ("required" in said or "missing" in said):
        learned = replace(manners, signs_blank=True)
    elif "output_config" in said or "effort" in said:
        learned = replace(manners, takes_effort=False)
    elif "thinking" in said and "block" not in said and "signature" not in said:
        learned = replace(manners, takes_thinking=False)
    elif _NO_PICTURES.search(said):
        learned = replace(manners, shows_pictures=False)
    elif "max_tokens" in said:
        learned = replace(manners, most_tokens=_fewer(said, max_tokens))
    return None if learned == manners else learned


def _fewer(said: str, asked: int) -> int:
    """The limit that the words name, else half of what was asked for."""
    named = [int(number) for number in _TOKENS.findall(said) if int(number) < asked]
    return max(named, default=max(asked // 2, 256))
