"""What the doctor asks the store: whether it keeps what it is told, who can reach it, and which parts were seen."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from kernel.errors import OperatorError, RetryLater
from kernel.ports import Clock
from kernel.settings import AccessRule, CommonSettings
from kernel.stores.redis.stores import open_stores
from zclaw.findings import Finding
from zclaw.folder import DataFolder
from zclaw.locks import is_locked
from zclaw.status import missing, parts_from
from zclaw.store import with_store


async def store_findings(
    settings: CommonSettings, expected: Sequence[str], platforms: Sequence[str], clock: Clock
) -> list[Finding]:
    """The store, the roles that live by it, and who owns the bot on each of `platforms` where pairing makes owners.

    A store of our own can be asked only while zclaw runs.
    """
    if settings.redis_url is None and not is_locked(DataFolder(settings.data_dir.resolve()).store_lock):
        return [Finding("store", unseen="for nothing runs here: start `zclaw chat` or `zclaw up` and ask again")]
    try:
        reachable = await asyncio.to_thread(with_store, settings)
        assert reachable.redis_url is not None
        stores = await open_stores(reachable.redis_url.reveal(), clock)
        try:
            beats = await stores.beats.seen()
            unowned = [each for each in platforms if not await stores.grants.owners(each)]
        finally:
            await stores.close()
    except (OperatorError, RetryLater) as error:
        return [Finding("store", str(error))]
    parts = parts_from(beats, clock.now())
    found = [await reach_finding(settings)]
    if settings.access is AccessRule.PAIRING and not (settings.allow or settings.owners):
        advice = "nobody is paired there yet: send the bot the code that `zclaw pair` prints"
        found += [
            Finding(f"owner on {platform}", advice=advice if platform in unowned else "") for platform in platforms
        ]
    if not parts:
        return [*found, Finding("parts", unseen="for nothing runs: start `zclaw up`, or each part")]
    absent = missing(parts, expected)
    return found + [
        Finding(f"part {role}", f"not seen for 15 s: start `zclaw {role}`, or look into its log")
        if role in absent
        else Finding(f"part {role}: runs")
        for role in expected
    ]


async def reach_finding(settings: CommonSettings) -> Finding:
    """Who else could reach it: what lies in there is what everybody said."""
    url = urlsplit(settings.redis_url.reveal() if settings.redis_url else "unix:///")
    host = url.hostname or ""
    if url.scheme == "unix" or url.password or host == "localhost":
        return Finding("store")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, url.port or 6379, type=socket.SOCK_STREAM)
    except OSError:
        return Finding("store")
    addresses = [ip_address(str(each[4][0]).partition("%")[0]) for each in found]
    if all(address.is_loopback for address in addresses):
        return Finding("store")
    if all(address.is_private for address in addresses):
        return Finding("store", advice="it asks for no password: let nobody else into its network, or set one")
    return Finding(
        "store", "it asks everybody on the internet for no password: set one, and put it into ZCLAW_REDIS_URL"
    )
