"""How services say that a request is longer than their model can read: there is no common word for it."""

from __future__ import annotations

import re

_KINDS = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
_WORDS = re.compile(
    r"prompt (?:is )?too long|input is too long|request too large|too many (?:input |prompt )?tokens"
    r"|context.{0,3}window"
    r"|(?:maximum|max|model'?s?|available).{0,20}context|context.{0,3}(?:length|size|limit)"
    r"|reduce the length of|range of input length|(?:maximum|max) (?:prompt|input|sequence) length"
    r"|(?:input|prompt) tokens? .{0,30}(?:exceed|limit)",
    re.IGNORECASE,
)  # fmt: skip


def is_too_long(status: int, said: str, kind: str = "") -> bool:
    """Whether a refusal with `status` means that the request does not fit; `said` and `kind` are the service's words.

    Anthropic, OpenAI, vLLM, SGLang, llama.cpp, Ollama, DeepSeek, GLM and Qwen, as seen in public reports.
    """
    if status == 413:
        return True
    return status in (400, 422) and (kind in _KINDS or bool(_WORDS.search(said)))
