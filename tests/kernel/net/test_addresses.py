from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.net.addresses import is_own, is_public, numeric

PUBLIC = (
    *("8.8.8.8", "1.1.1.1", "93.184.216.34", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "9.255.0.1"),
    *("169.253.1.1", "192.167.1.1", "223.255.255.255", "168.63.129.15", "198.17.0.1", "11.0.0.1", "128.0.0.1"),
    *("2606:4700::1111", "2a00:1450::1", "2400:3200::1", "64:ff9b::808:808", "2003::1", "2001:200::1"),
)

INNER = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1"),
    *("172.31.255.255", "192.168.0.1", "169.254.169.254", "169.254.170.2", "100.64.0.1", "100.127.255.255"),
    *("100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
    *("192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "fe80::1", "fe80::1%lo"),
    *(
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "2001::1",
        "2001:0:7f00:1::",
        "2002:7f00:1::",
        "2002:808:808::",
    ),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1", "64:ff9b:1::1", "2001:db8::1", "3fff::1", "100::1"),
    *("5f00::1", "4000::1", "2606:4700::1111%lo"),
)


@pytest.mark.parametrize("address", PUBLIC)
def test_anybody_may_be_at_a_public_address(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("address", INNER)
def test_inner_addresses_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@given(st.integers(0, 2**32 - 1))
def test_what_python_calls_inner_is_never_public(number: int) -> None:
    address = IPv4Address(number)

    assert not is_public(address) or (address.is_global and not address.is_multicast)


@given(st.integers(0, 2**32 - 1))
def test_an_embedded_address_is_at_most_as_public_as_itself(number: int) -> None:
    embedding = [number, number | 0xFFFF << 32, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80]

    for each in embedding:
        assert not is_public(IPv6Address(each)) or is_public(IPv4Address(number))


def test_an_address_of_this_machine_is_known_as_its_own() -> None:
    assert is_own(ip_address("127.0.0.1"))
    assert not is_own(ip_address("93.184.216.34"))
    assert not is_own(ip_address("2606:4700::1111"))


@pytest.mark.parametrize("spelling", ["127.1", "0177.0.0.1", "2130706433", "0x7f.1", "127.0.0.1.", "１２７.0.0.1", ""])
def test_only_the_plain_spelling_is_a_number(spelling: str) -> None:
    assert numeric(spelling) is None
