"""Names of variables that somebody meant for us and wrote otherwise: nothing reads them, and nothing would say so.

Other programs have variables too. So a name counts only when it is ours up to two letters, case and `_`, or when it is
in the table of what people are known to write.
"""

from __future__ import annotations

from collections.abc import Iterable

_MOST_EDITS = 2
_KNOWN = {
    "OPENAIAPIBASE": "OPENAI_BASE_URL",
    "OPENAIAPIURL": "OPENAI_BASE_URL",
    "OPENAIBASE": "OPENAI_BASE_URL",
    "OPENAIURL": "OPENAI_BASE_URL",
    "OPENAIKEY": "OPENAI_API_KEY",
    "OPENAITOKEN": "OPENAI_API_KEY",
    "ANTHROPICKEY": "ANTHROPIC_API_KEY",
    "ANTHROPICTOKEN": "ANTHROPIC_API_KEY",
    "CLAUDEAPIKEY": "ANTHROPIC_API_KEY",
    "CLAUDEKEY": "ANTHROPIC_API_KEY",
    "ANTHROPICAPIBASE": "ANTHROPIC_BASE_URL",
    "ANTHROPICAPIURL": "ANTHROPIC_BASE_URL",
    "ANTHROPICURL": "ANTHROPIC_BASE_URL",
    "TELEGRAMTOKEN": "TELEGRAM_BOT_TOKEN",
    "TELEGRAMAPITOKEN": "TELEGRAM_BOT_TOKEN",
    "TELEGRAMAPIKEY": "TELEGRAM_BOT_TOKEN",
    "TELEGRAMBOTKEY": "TELEGRAM_BOT_TOKEN",
    "SLACKTOKEN": "SLACK_BOT_TOKEN",
    "SLACKAPITOKEN": "SLACK_BOT_TOKEN",
}
"""What people write instead, without its `_`; it goes before the count of letters."""
_OF_OTHERS = ("OPENAPI",)
"""Near by letters, and another thing."""


def meant_by(name: str, known: Iterable[str]) -> str | None:
    """The name of `known` that was meant by `name`; None when it is one of them, or none is near enough."""
    names = set(known)
    bare = _bare(name)
    if name in names or bare.startswith(_OF_OTHERS):
        return None
    if bare in _KNOWN:
        return _KNOWN[bare]
    distance, nearest = min(((_edits(bare, _bare(each)), each) for each in names), default=(_MOST_EDITS + 1, ""))
    return nearest if distance <= _MOST_EDITS else None


def _bare(name: str) -> str:
    return name.upper().replace("_", "")


def _edits(one: str, other: str) -> int:
    """How many letters must be put in, left out or changed to make the one from the other, counted to the most."""
    if abs(len(one) - len(other)) > _MOST_EDITS:
        return _MOST_EDITS + 1
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for column, wanted in enumerate(other, 1):
            changed = before + (letter != wanted)
            before = row[column]
            row[column] = min(changed, before + 1, row[column - 1] + 1)
    return row[-1]
