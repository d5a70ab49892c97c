"""Telegram: long polling in, the Bot API out. `updates` and `entities` are pure, the others touch the network."""

from __future__ import annotations

from bots.telegram.adapter import TelegramAdapter

__all__ = ["TelegramAdapter"]
