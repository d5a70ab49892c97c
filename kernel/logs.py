"""Structured logs, one JSON object a line, with every known secret masked by value."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Any, TextIO
from urllib.parse import quote

import structlog
from structlog.typing import EventDict, WrappedLogger

MASK = "***"
SHORTEST_SECRET = 6
"""Shorter values are not masked: they would blot out ordinary words."""


_TALKATIVE = frozenset(
    ("aiogram", "aiohttp", "anthropic", "asyncio", "httpcore", "httpx", "markdown_it", "redis", "rq", "slack_sdk")
)
"""Libraries that say at info what is debug to us: every request, every poll."""


class Mask:
    """Replaces secret values in any text, whatever their shape: as they are, in an address, inside JSON or a repr."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
        self._spellings = sorted((each for each in spellings if len(each) >= SHORTEST_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without any of the secrets."""
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text


def _spellings(secret: str) -> set[str]:
    """How the value may stand in a line of a log; a quoted value inside a JSON line is escaped twice."""
    plain = {secret, quote(secret, safe=""), repr(secret)[1:-1], json.dumps(secret)[1:-1]}
    return plain | {json.dumps(each, ensure_ascii=False)[1:-1] for each in plain}


class _MaskingFormatter(logging.Formatter):
    """The last step of every record, ours or a library's, traceback included."""

    def __init__(self, inner: logging.Formatter, mask: Mask) -> None:
        super().__init__()
        self._inner = inner
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        try:
            line = self._inner.format(record)
        except Exception as error:  # The boundary of a log line: `logging` itself would print its arguments unmasked.
            broken = {"event": "log line broke", "logger": record.name, "why": type(error).__name__}
            line = json.dumps(broken | {"level": record.levelname.lower()})
        return self._mask(line)


def set_up(level: str, secrets: Iterable[str] = (), stream: TextIO | None = None) -> None:
    """Send all logs of this process, libraries' included, to `stream` (stderr) from `level` (`debug` … `error`) on."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _readable,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    )
    mask = Mask(secrets)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_MaskingFormatter(formatter, mask))
    handler.addFilter(_is_worth_a_line)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    _catch_the_rest()


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Not what libraries say below warning. Asked at the handler: some set the levels of their loggers themselves."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] not in _TALKATIVE


def _readable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Values as JSON can hold them: ours say what they are by `repr`, which never shows a secret."""
    return {key: value if _is_plain(value) else str(value) for key, value in event.items()}


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | tuple | BaseException | logging.LogRecord)


def _catch_the_rest() -> None:
    """Exceptions that nobody caught go the same way, so that they are masked too."""
    log = structlog.get_logger("uncaught")

    def on_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        log.critical("uncaught", exc_info=(kind, error, trace))

    def on_thread_error(arguments: Any) -> None:
        on_error(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    def on_unraisable(arguments: sys.UnraisableHookArgs) -> None:
        log.error("uncaught", exc_info=arguments.exc_value)

    sys.excepthook = on_error
    threading.excepthook = on_thread_error
    sys.unraisablehook = on_unraisable
