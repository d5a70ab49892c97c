"""Bytes by reference, in Redis: one hash a blob, its bytes in pieces, so that no command carries 20 MB."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

from redis.client import NEVER_DECODE

from kernel.stores import keys, rules
from kernel.stores.redis.connect import Server, answering


class RedisBlobs:
    """`Blobs` over one Redis, at most `total_bytes` in all; commits and deliveries hold what they name."""

    def __init__(self, server: Server, total_bytes: int = rules.BLOB_TOTAL_BYTES) -> None:
        self._server = server
        self._total_bytes = total_bytes

    async def put(self, content: bytes) -> str:
        """See `Blobs.put`."""
        rules.check_blob_size(len(content))
        blob = rules.blob_id(content)
        room = await self._server.run("blob_room", blob, len(content), self._total_bytes)
        if room == "full":
            raise rules.blobs_full(self._total_bytes)
        if room == "room":
            await self._upload(blob, content)
        return blob

    async def get(self, blob: str) -> bytes | None:
        """See `Blobs.get`."""
        key = keys.BLOB.of(blob)
        async with answering():
            size = await self._server.client.hget(key, "size")
            if size is None:
                return None
            pieces = [await self._piece(key, number) for number in range(_count(int(size)))]
        content = b"".join(piece for piece in pieces if piece is not None)
        return content if len(content) == int(size) else None

    async def _upload(self, blob: str, content: bytes) -> None:
        key = keys.BLOB.of(blob)
        step = rules.BLOB_PIECE_BYTES
        for number in range(_count(len(content))):
            async with answering(), self._server.client.pipeline() as batch:
                batch.hset(key, str(number), cast(str, content[number * step : (number + 1) * step]))
                batch.expire(key, rules.KEEP_BLOBS)
                await batch.execute()
        await self._server.run("blob_keep", blob, len(content))

    async def _piece(self, key: str, number: int) -> bytes | None:
        hget = cast(Callable[..., Awaitable[bytes | None]], self._server.client.execute_command)
        return await hget("HGET", key, str(number), **{NEVER_DECODE: True})


def _count(size_bytes: int) -> int:
    return -(-size_bytes // rules.BLOB_PIECE_BYTES)
