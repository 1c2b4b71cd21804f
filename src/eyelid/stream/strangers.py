"""Connections that have shown no token yet: few of them, and never so many that an app has to wait.

A new connection is never turned away for the others that are there. The oldest that has not said
what it wants goes instead: first of the same address, then of the address that has the most. So a
program that connects and is silent only drives out others like itself.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

C = TypeVar("C")
# Who has an IPv6 address usually has all that begin with the same bits.
_OWN_BITS = 64


def neighbourhood(host: str) -> str:
    """Addresses that one machine can take, under one name.

    >>> neighbourhood("192.0.2.7"), neighbourhood("::ffff:192.0.2.7")
    ('192.0.2.7', '192.0.2.7')
    >>> neighbourhood("2001:db8::1") == neighbourhood("2001:db8::2:1")
    True
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address) or address.is_loopback:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _OWN_BITS), strict=False))


@dataclass
class Strangers(Generic[C]):
    """Connections without a token, the oldest first.

    Attributes:
        most: at once.
        most_of: an address may have at once.
    """

    most: int
    most_of: Callable[[str], int]
    _there: dict[C, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._there)

    def __contains__(self, one: object) -> bool:
        return one in self._there

    def add(self, one: C, host: str) -> None:
        """Count a new connection.

        Args:
            one: the connection.
            host: its address.
        """
        self._there[one] = neighbourhood(host)

    def discard(self, one: C) -> bool:
        """Count a connection no longer; whether it was counted."""
        return self._there.pop(one, None) is not None

    def surplus(self, may_go: Callable[[C], bool]) -> list[C]:
        """Connections that are too many, which are no longer counted.

        Args:
            may_go: whether a connection has nothing to lose: what it asks for is not being
                answered at this moment.

        >>> strangers = Strangers(2, lambda host: 2)
        >>> for name in ("a", "b", "c"):
        ...     strangers.add(name, "127.0.0.1")
        >>> strangers.surplus(lambda name: True), len(strangers)
        (['a'], 2)
        """
        counts = Counter(self._there.values())
        gone = []
        for one, host in list(self._there.items()):
            if counts[host] > self.most_of(host) and may_go(one):
                counts[host] -= 1
                gone.append(one)
                del self._there[one]
        while len(self._there) > self.most:
            idle = [(one, host) for one, host in self._there.items() if may_go(one)]
            if not idle:
                break
            # The first of those that are alike: the oldest.
            one, host = max(idle, key=lambda pair: counts[pair[1]])
            counts[host] -= 1
            gone.append(one)
            del self._there[one]
        return gone
