"""All ports over one Redis."""

from __future__ import annotations

from kernel.ports import Clock
from kernel.stores import rules
from kernel.stores.redis.beats import RedisBeats
from kernel.stores.redis.blobs import RedisBlobs
from kernel.stores.redis.chats import RedisChats
from kernel.stores.redis.connect import Server, check
from kernel.stores.redis.conversations import RedisConversations
from kernel.stores.redis.fetches import RedisFetches
from kernel.stores.redis.floods import RedisFloods
from kernel.stores.redis.grants import RedisGrants
from kernel.stores.redis.locks import RedisLocks
from kernel.stores.redis.memories import RedisMemories
from kernel.stores.redis.outbox import RedisOutbox
from kernel.stores.redis.overview import RedisOverview
from kernel.stores.redis.people import RedisPeople
from kernel.stores.redis.prompts import RedisPrompts
from kernel.stores.redis.rates import RedisRates
from kernel.stores.redis.silences import RedisSilences
from kernel.stores.redis.spendings import RedisSpendings
from kernel.stores.redis.triggers import RedisTriggers
from kernel.stores.stores import Stores
from kernel.stores.wakeups import RqWakeups


async def open_stores(url: str, clock: Clock, *, blob_total_bytes: int = rules.BLOB_TOTAL_BYTES) -> Stores:
    """Stores over the Redis at `url`, which is fit to keep things.

    Raises `BadSettings` when `url` is no address, `StoreUnfit` when Redis would lose or evict what we promise to keep
    or refuses us, `RetryLater` while it is away or loading. No message carries the address.
    """
    server = Server(url)
    try:
        await check(server)
    except BaseException:
        await server.close()
        raise
    wakeups = RqWakeups(url)

    async def close() -> None:
        await server.close()
        await wakeups.close()

    return Stores(
        conversations=RedisConversations(server),
        outbox=RedisOutbox(server),
        triggers=RedisTriggers(server, clock),
        prompts=RedisPrompts(server),
        people=RedisPeople(server),
        chats=RedisChats(server),
        grants=RedisGrants(server),
        rates=RedisRates(server),
        floods=RedisFloods(server),
        silences=RedisSilences(server),
        memories=RedisMemories(server),
        spendings=RedisSpendings(server),
        fetches=RedisFetches(server),
        blobs=RedisBlobs(server, blob_total_bytes),
        beats=RedisBeats(server),
        locks=RedisLocks(server),
        overview=RedisOverview(server),
        wakeups=wakeups,
        close=close,
    )
