"""Which model answers, from plain settings. Nothing heavy is imported before the choice is made."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kernel.errors import BadSettings
from kernel.ports import Clock, Provider
from kernel.providers.failover import OF_ONE, Failover
from kernel.providers.tries import PATIENCE, Patience

CURRENT_CLAUDE = "claude-sonnet-5-5"
SHOWN_MODELS = 5


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The settings that a model is chosen by; empty: not set.

    `model` is `anthropic:<model>` or `openai:<model>`, or a list of them with commas, the one that is wanted first.
    """

    model: str = ""
    anthropic_key: str = field(default="", repr=False)
    anthropic_url: str = ""
    openai_key: str = field(default="", repr=False)
    openai_url: str = ""


async def provider_for(settings: ModelSettings, *, clock: Clock, random: random.Random) -> Provider | None:
    """The provider, over all models that are named; None when no setting names one: only what needs none works then.

    Without `model`: a current Claude model when there is an Anthropic key, else the only model that the OpenAI address
    lists. Raises `BadSettings`, and `ProviderFailed` or `ProviderRefused` when that list cannot be had.
    """
    if settings.model:
        return _named(settings, clock, random)
    if settings.anthropic_key:
        return _anthropic(CURRENT_CLAUDE, settings, clock, random, PATIENCE)
    if settings.openai_url:
        return _openai(await _only_model(settings), settings, clock, random, PATIENCE)
    if settings.openai_key:
        raise BadSettings("OPENAI_API_KEY is set, but no model: set ZCLAW_MODEL=openai:<model>")
    return None


def _named(settings: ModelSettings, clock: Clock, random: random.Random) -> Provider:
    choices = list(dict.fromkeys(_read(spec) for spec in settings.model.split(",") if spec.strip()))
    if not choices:
        raise BadSettings("ZCLAW_MODEL must be anthropic:<model> or openai:<model>")
    patience = PATIENCE if len(choices) == 1 else OF_ONE
    providers = [
        (_anthropic if dialect == "anthropic" else _openai)(name, settings, clock, random, patience)
        for dialect, name in choices
    ]
    return providers[0] if len(providers) == 1 else Failover(providers, clock=clock, random=random)


def _read(spec: str) -> tuple[str, str]:
    dialect, _, name = spec.strip().partition(":")
    if dialect not in ("anthropic", "openai") or not name.strip():
        raise BadSettings("ZCLAW_MODEL must be anthropic:<model> or openai:<model>")
    return dialect, name.strip()


def _anthropic(
    model: str, settings: ModelSettings, clock: Clock, random: random.Random, patience: Patience
) -> Provider:
    if not settings.anthropic_key:
        raise BadSettings(f"ZCLAW_MODEL is anthropic:{model}, but ANTHROPIC_API_KEY is not set")
    from kernel.providers import anthropic  # noqa: PLC0415

    url = _address("ANTHROPIC_BASE_URL", settings.anthropic_url or anthropic.URL)
    key = _key("ANTHROPIC_API_KEY", settings.anthropic_key)
    return anthropic.Anthropic(model, key, clock=clock, random=random, url=url, patience=patience)


def _openai(model: str, settings: ModelSettings, clock: Clock, random: random.Random, patience: Patience) -> Provider:
    if not settings.openai_key and not settings.openai_url:
        raise BadSettings(f"ZCLAW_MODEL is openai:{model}, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set")
    from kernel.providers import openai_compat  # noqa: PLC0415

    url = _address("OPENAI_BASE_URL", settings.openai_url or openai_compat.URL)
    key = _key("OPENAI_API_KEY", settings.openai_key)
    return openai_compat.OpenAICompatible(model, key, clock=clock, random=random, url=url, patience=patience)


async def _only_model(settings: ModelSettings) -> str:
    from kernel.providers.openai_models import list_models  # noqa: PLC0415

    url = _address("OPENAI_BASE_URL", settings.openai_url)
    models = await list_models(url, _key("OPENAI_API_KEY", settings.openai_key))
    if len(models) == 1:
        return models[0]
    shown = ", ".join(models[:SHOWN_MODELS]) + (", …" if len(models) > SHOWN_MODELS else "")
    raise BadSettings(
        f"OPENAI_BASE_URL lists {len(models)} models ({shown}): choose one with ZCLAW_MODEL=openai:<model>"
        if models
        else "OPENAI_BASE_URL lists no model: set ZCLAW_MODEL=openai:<model>"
    )


def _key(setting: str, key: str) -> str:
    """A header cannot carry anything else; the error that would be raised there holds the key."""
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadSettings(f"{setting} holds a character that no key has: copy it again")
    return key


def _address(setting: str, url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSettings(f"{setting} must begin with http:// or https:// and a host")
    return url
