"""Slack: Socket Mode or signed HTTP in, the Web API out.

`updates` is pure; `socket`, `webhook`, `calls` and `sending` touch the network.
"""

from __future__ import annotations

from bots.slack.adapter import SlackAdapter

__all__ = ["SlackAdapter"]
