from __future__ import annotations

import pytest

from kernel.settings import CommonSettings, Secret
from zclaw.store_checks import reach_finding


@pytest.mark.parametrize(
    ("url", "sign"),
    [
        ("unix:///run/store", "[ok]"),
        ("redis://127.0.0.1:6379/0", "[ok]"),
        ("redis://localhost", "[ok]"),
        ("redis://[::1]:6379", "[ok]"),
        ("redis://:canary@8.8.8.8:6379/0", "[ok]"),
        ("redis://10.0.0.7:6379/0", "[ !]"),
        ("redis://8.8.8.8:6379/0", "[!!]"),
        ("rediss://8.8.8.8", "[!!]"),
    ],
)
async def test_a_store_that_others_reach_needs_a_password(url: str, sign: str) -> None:
    finding = str(await reach_finding(CommonSettings(redis_url=Secret(url))))

    assert finding.startswith(f"{sign} store")
    assert "canary" not in finding


async def test_a_store_of_our_own_is_reached_by_nobody_else() -> None:
    assert str(await reach_finding(CommonSettings())) == "[ok] store"
