"""Which numeric addresses are public: the one rule that everything fetched is held to.

The ranges are those of the IANA special-purpose registries, written out: what `ipaddress` calls global has changed
between Python versions, and counts multicast in.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_4 = tuple(
    IPv4Network(net)
    for net in (
        "0.0.0.0/8",  # this network; Linux takes 0.0.0.0 for itself
        "10.0.0.0/8",
        "100.64.0.0/10",  # CGNAT; Alibaba's metadata service is in it
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host, public by number only
        "169.254.0.0/16",  # link-local; the metadata services of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata service is in it
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",  # reserved, and broadcast
    )
)

_PUBLIC_6 = IPv6Network("2000::/3")
"""All that is handed out. Outside are ::, ::1, IPv4-mapped and -compatible, unique local, link-local, multicast."""

_NOT_PUBLIC_6 = tuple(
    IPv6Network(net)
    for net in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",
        "2002::/16",  # 6to4: an IPv4 address of the sender's choice
        "3fff::/20",
    )
)

_NAT64 = IPv6Network("64:ff9b::/96")
"""How a network without IPv4 reaches IPv4 (RFC 6052): as public as the address in its last four bytes."""


def is_public(address: Address) -> bool:
    """Anybody on the internet may be at it: not this machine, not its neighbours, not a cloud's inner services.

    Addresses that embed another (mapped, 6to4, Teredo …) are never public, whatever they embed: no site lives there.
    """
    if isinstance(address, IPv4Address):
        return not any(address in net for net in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in _PUBLIC_6 and not any(address in net for net in _NOT_PUBLIC_6)


def is_own(address: Address) -> bool:
    """This machine carries the address: behind a public one of ours are services that only our firewall hides."""
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))  # Sends nothing: it only chooses the address to send from.
            chosen = str(probe.getsockname()[0])
    except OSError:
        return False  # There is no way there, and so no connection either.
    return chosen == str(address)


def numeric(host: str) -> Address | None:
    """The address that `host` spells in its plain form; None for a name and for every other spelling."""
    try:
        return ip_address(host)
    except ValueError:
        return None
