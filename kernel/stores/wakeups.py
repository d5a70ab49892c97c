"""Hints to workers through RQ: the one job there is, and the one way to make its queue.

RQ's calls block, so they run in a thread, on a client of their own (RQ's breaks when answers are decoded, and its
worker stretches the socket timeout of its client).
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry
from rq import Queue
from rq.serializers import JSONSerializer

from kernel.stores import keys
from kernel.stores.redis.connect import ANSWER_WITHIN_S, CONNECT_WITHIN_S, failures

JOB = "zclaw.turns"
"""The name of the only job that workers run; compared as a string, never imported."""
QUEUE = "zclaw"
RESULT_LIVES = timedelta(seconds=60)
"""Positive: with 0, RQ 3.0 runs recovered jobs again and again."""
FAILURE_LIVES = timedelta(days=1)
JOB_TIMEOUT = timedelta(minutes=3)
"""A job hands back after 60 s by itself; this only ends one that hangs."""
MOST_UNREAD = 8
"""So many hints lie in the queue at most: with nobody reading, more would only pile up."""

_CONNECTIONS = 64
"""More than the threads that ever call at once."""


def hint_client(url: str) -> redis.Redis:
    """A client for RQ alone: bytes as they are, bounded waits."""
    # Not the blocking pool: RQ's worker sets the retry of its client, which that pool does not offer (redis 8.1).
    pool = redis.ConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        socket_timeout=ANSWER_WITHIN_S,
        socket_connect_timeout=CONNECT_WITHIN_S,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 2),
    )
    return redis.Redis.from_pool(pool)


def hint_queue(client: redis.Redis) -> Queue:
    """The queue of hints as producers and workers must open it: JSON, one name."""
    return Queue(QUEUE, connection=client, serializer=JSONSerializer)


class RqWakeups:
    """`Wakeups` over RQ."""

    def __init__(self, url: str) -> None:
        self._client = hint_client(url)
        self._queue = hint_queue(self._client)

    async def hint(self) -> None:
        """See `Wakeups.hint`."""
        with failures():
            await asyncio.to_thread(self._push)

    async def unflag(self) -> None:
        """See `Wakeups.unflag`."""
        with failures():
            await asyncio.to_thread(self._client.delete, keys.WAKE.head)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(self._client.close)

    def _push(self) -> None:
        if self._queue.count >= MOST_UNREAD:
            return
        self._queue.enqueue_call(
            JOB,
            timeout=int(JOB_TIMEOUT.total_seconds()),
            result_ttl=int(RESULT_LIVES.total_seconds()),
            failure_ttl=int(FAILURE_LIVES.total_seconds()),
        )
