"""Slack: Socket Mode in, the Web API out. `updates` is pure; `socket`, `calls` and `sending` touch the network."""

from __future__ import annotations

from bots.slack.adapter import SlackAdapter

__all__ = ["SlackAdapter"]
