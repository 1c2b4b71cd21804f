"""Who answers at a Dask address, found out before anything that it says is taken in.

Dask's very first message may be a pickle, and a pickle runs code where it is read. So nothing is
read from a connection before it is known whose it is:

- ``tls://``: the other side has shown a certificate of the authority that Dask's configuration
  names, and nobody on the way can read or change anything.
- ``tcp://`` on this machine: a process of the same user listens there. Other users of the machine
  can take a port, too.
- ``tcp://`` elsewhere: nobody knows, and everybody on the way reads along. It is refused, unless
  that is accepted by name: ``dask-unencrypted:tcp://HOST:PORT``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eyelid.errors import InputError

ACCEPTED = "dask-unencrypted"
"""The engine's name where it is accepted that nobody knows who answers and who reads along."""

# What never leaves a machine, or nobody can read on its way.
_CLOSED = ("tls", "wss", "inproc")
_OWN_SCHEME = "eyelid-tcp"


@dataclass(frozen=True)
class Peer:
    """A scheduler, by its address.

    Attributes:
        scheme: ``tcp`` or ``tls``.
        host: a name or an address, without brackets.
        port: of the scheduler.
    """

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @staticmethod
    def of(address: str) -> Peer:
        """The scheduler at an address.

        >>> Peer.of("tcp://[::1]:8786")
        Peer(scheme='tcp', host='::1', port=8786)
        """
        parts = re.fullmatch(r"(tcp|tls)://(\[[0-9a-fA-F:.%]+\]|[^\s/\[\]@]+):(\d{1,5})", address)
        if parts is None:
            raise InputError(
                f"'{address}' is no address of a Dask scheduler: write tls://HOST:PORT, or "
                "tcp://127.0.0.1:PORT for one on this machine"
            )
        return Peer(parts[1], parts[2].strip("[]"), int(parts[3]))


def dialled(address: str, accepted: bool) -> str:
    """The address by which Dask connects so that it is known who answers.

    Args:
        address: of a scheduler.
        accepted: whether it is accepted that this cannot be known.
    """
    peer = Peer.of(address)
    if accepted:
        if peer.scheme != "tcp":
            raise InputError(f"{peer} is encrypted: write dask:{peer}")
        return str(peer)
    if peer.scheme == "tls":
        return str(peer)
    if not on_this_machine(peer.host):
        raise InputError(
            f"{peer} is another machine, and tcp:// is not encrypted: raw gaze can be read on its "
            "way, and what answers can run code here. Use tls:// with certificates "
            f"(docs/scaling.md), or accept that by name: {ACCEPTED}:{peer}"
        )
    peer = _known(peer)
    _register()
    return str(Peer(_OWN_SCHEME, peer.host, peer.port))


def check_closed(workers: Iterable[str], scheduler: str) -> None:
    """Fail if raw gaze would go to another machine in the open.

    Args:
        workers: their addresses, as the scheduler has them.
        scheduler: its address, for the message.
    """
    for address in workers:
        scheme, _, rest = address.partition("://")
        host = rest.rpartition(":")[0].strip("[]")
        if scheme not in _CLOSED and not on_this_machine(host):
            raise InputError(
                f"the worker {address} of {scheduler} is another machine, and {scheme}:// is not "
                "encrypted: raw gaze could be read on its way. Start workers with tls:// "
                f"(docs/scaling.md), or accept that by name: {ACCEPTED}:tcp://HOST:PORT"
            )


def on_this_machine(host: str) -> bool:
    """Whether what is sent to an address stays on this machine. Names are not looked up.

    >>> on_this_machine("localhost"), on_this_machine("127.0.0.1"), on_this_machine("192.0.2.1")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if address.is_loopback:
        return True
    import psutil

    own = (
        link.address.partition("%")[0] for links in psutil.net_if_addrs().values() for link in links
    )
    return str(address) in own


def _known(peer: Peer) -> Peer:
    """The peer by the address at which only processes of this user listen, or nothing does yet."""
    candidates = ["127.0.0.1", "::1"] if peer.host == "localhost" else [peer.host]
    owners = {host: _owners(host, peer.port) for host in candidates}
    for host, ours in owners.items():
        if ours and all(ours):
            return Peer(peer.scheme, host, peer.port)
    if any(owners.values()):
        raise _strange(peer)
    return Peer(peer.scheme, candidates[0], peer.port)


def _check_ours(peer: Peer) -> None:
    """Fail unless only processes of this user listen at the address of a connection."""
    ours = _owners(peer.host, peer.port)
    if not (ours and all(ours)):
        raise _strange(peer)


def _strange(peer: Peer) -> InputError:
    return InputError(
        f"what listens at {peer} is another user's, and could run code here if it answered: use "
        f"tls:// with certificates (docs/scaling.md), or accept that by name: {ACCEPTED}:{peer}"
    )


def _owners(host: str, port: int) -> list[bool]:
    """Whether each listener that may answer at an address is a process of this user."""
    everywhere = ("::",) if ":" in host else ("::", "0.0.0.0")
    return [ours for at, ours in _listeners(port) if at == host or at in everywhere]


def _listeners(port: int) -> Iterable[tuple[str, bool]]:
    """Addresses at which a process listens at a port, and whether it is one of this user."""
    import psutil

    me = psutil.Process().username()

    def ours(process: psutil.Process) -> bool:
        try:
            return bool(process.username() == me)
        except psutil.Error:
            return False

    try:
        links = [(link, link.pid) for link in psutil.net_connections("tcp")]
    except psutil.AccessDenied:
        # Some systems show each user no others' connections.
        links = []
        for process in filter(ours, psutil.process_iter()):
            try:
                links += [(link, process.pid) for link in process.net_connections("tcp")]
            except psutil.Error:
                continue
    for link, pid in links:
        if link.status == psutil.CONN_LISTEN and link.laddr.port == port:
            try:
                yield link.laddr.ip, pid is not None and ours(psutil.Process(pid))
            except psutil.Error:
                yield link.laddr.ip, False


def _register() -> None:
    """Have Dask know connections that are looked at once they are made and before they are read.

    Every one of them, also when Dask connects again by itself after the scheduler was gone.
    """
    from distributed.comm.core import FatalCommClosedError
    from distributed.comm.registry import backends
    from distributed.comm.tcp import TCPBackend, TCPConnector

    class OwnConnector(TCPConnector):
        """Connects to processes of this user."""

        async def connect(self, address: str, deserialize: bool = True, **more: Any) -> Any:
            comm = await super().connect(address, deserialize, **more)
            try:
                _check_ours(Peer.of(f"tcp://{address}"))
            except InputError as error:
                comm.abort()
                raise FatalCommClosedError(str(error)) from None
            return comm

    class OwnBackend(TCPBackend):
        """TCP to processes of this user."""

        _connector_class = OwnConnector

    backends.setdefault(_OWN_SCHEME, OwnBackend())
