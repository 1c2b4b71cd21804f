"""Who answers at a Dask address is known before anything that it says is read."""

import contextlib
import os
import socket
import ssl
import struct
import threading

import dask
import psutil
import pytest
from distributed import LocalCluster, protocol
from distributed.protocol.serialize import ToPickle
from distributed.protocol.utils import pack_frames
from distributed.security import Security

from eyelid.engine import dask_cluster, dask_peers
from eyelid.engine.dask_peers import ACCEPTED, Peer, check_closed, dialled, on_this_machine
from eyelid.engine.engines import spread, using
from eyelid.errors import InputError


class Bomb:
    """Makes a folder where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def bomb(mark):
    """A first message of Dask's protocol that runs code where it is read."""
    packed = bytes(pack_frames(protocol.dumps({"compression": ToPickle(Bomb(mark))})))
    return struct.pack("Q", len(packed)) + packed


@contextlib.contextmanager
def answering(said, context=None):
    """A port of this machine where everybody who speaks gets the same answer, and no other."""
    listening = socket.create_server(("127.0.0.1", 0))
    links = []

    def answer():
        while True:
            try:
                link, _ = listening.accept()
                if context is not None:
                    link = context.wrap_socket(link, server_side=True)
                links.append(link)
                if said and link.recv(1):
                    link.sendall(said)
                    link.shutdown(socket.SHUT_WR)
            except (ssl.SSLError, ConnectionError):
                link.close()
            except OSError:
                return

    work = threading.Thread(target=answer, daemon=True)
    work.start()
    try:
        yield listening.getsockname()[1]
    finally:
        # Closing alone does not wake the thread that waits for the next.
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        work.join()
        for link in links:
            link.close()


@contextlib.contextmanager
def certificates(security):
    """Dask's configuration with certificates."""
    names = {"ca-file": "ca_file", "client.cert": "client_cert", "client.key": "client_key"}
    settings = {
        f"distributed.comm.tls.{key}": getattr(security, f"tls_{name}")
        for key, name in names.items()
    }
    with dask.config.set(settings):
        yield


def refused(engine):
    with pytest.raises(InputError) as why, using(engine):
        pass
    assert "\n" not in str(why.value)
    return str(why.value)


def test_the_pickle_of_an_unknown_scheduler_on_this_machine_is_not_read(tmp_path, monkeypatch):
    """Another user has taken the port of a scheduler."""
    mark = tmp_path / "exploded"
    monkeypatch.setattr(dask_peers, "_listeners", lambda port: [("127.0.0.1", False)])
    with answering(bomb(mark)) as port:
        message = refused(f"dask:tcp://127.0.0.1:{port}")
    assert not mark.exists()
    assert "another user's" in message
    assert f"{ACCEPTED}:tcp://127.0.0.1:{port}" in message


def test_a_port_that_changes_hands_is_looked_at_again_before_its_pickle_is_read(
    tmp_path, monkeypatch
):
    """The scheduler is gone after the first look, and another user answers in its place."""
    mark = tmp_path / "exploded"
    owners = [[("127.0.0.1", True)]]
    strange = [("127.0.0.1", False)]
    monkeypatch.setattr(dask_peers, "_listeners", lambda port: owners.pop() if owners else strange)
    with answering(bomb(mark)) as port:
        message = refused(f"dask:tcp://127.0.0.1:{port}")
    assert not mark.exists()
    assert "another user's" in message


def test_the_pickle_of_a_scheduler_with_a_foreign_certificate_is_not_read(tmp_path):
    mark = tmp_path / "exploded"
    ours, theirs = Security.temporary(), Security.temporary()
    context = theirs.get_listen_args("scheduler")["ssl_context"]
    context.verify_mode = ssl.CERT_NONE
    with (
        certificates(ours),
        answering(bomb(mark), context) as port,
    ):
        message = refused(f"dask:tls://127.0.0.1:{port}")
    assert not mark.exists()
    assert "no Dask scheduler answers" in message


def test_the_pickle_of_a_scheduler_that_has_no_tls_is_not_read(tmp_path):
    mark = tmp_path / "exploded"
    with certificates(Security.temporary()), answering(bomb(mark)) as port:
        refused(f"dask:tls://127.0.0.1:{port}")
    assert not mark.exists()


def test_the_bomb_is_one(tmp_path):
    """Where the risk is accepted by name it goes off: the tests above could fail."""
    mark = tmp_path / "exploded"
    with answering(bomb(mark)) as port:
        refused(f"{ACCEPTED}:tcp://127.0.0.1:{port}")
    assert mark.exists()


def test_another_machine_without_tls_is_not_even_called(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", None)
    for host in ("192.0.2.1", "scheduler.test", "[2001:db8::1]", "0.0.0.0"):
        message = refused(f"dask:tcp://{host}:8786")
        assert f"{ACCEPTED}:tcp://{host}:8786" in message
        assert "tls://" in message


def test_a_silent_listener_does_not_hold_up_a_run_for_ever(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_SILENT_S", 0.1)
    with answering(b"") as port:
        message = refused(f"dask:tcp://127.0.0.1:{port}")
    assert "no Dask scheduler answers" in message


def test_what_is_no_scheduler_is_refused_in_a_line():
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9) as port:
        message = refused(f"dask:tcp://127.0.0.1:{port}")
    assert "no Dask scheduler answers" in message


def test_a_worker_on_another_machine_gets_no_raw_gaze_in_the_open():
    check_closed(["tls://192.0.2.1:80", "tcp://127.0.0.1:80", "inproc://192.0.2.1/1/2"], "dask")
    for address in ("tcp://192.0.2.1:80", "ucx://192.0.2.1:80", "tcp://[2001:db8::1]:80"):
        with pytest.raises(InputError, match=f"{ACCEPTED}:"):
            check_closed(["tls://192.0.2.1:80", address], "dask")


def test_an_encrypted_scheduler_with_our_certificates_is_used():
    security = Security.temporary()
    with (
        certificates(security),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tls://",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            security=security,
        ) as cluster,
        using(f"dask:{cluster.scheduler_address}") as engine,
    ):
        assert engine.name.startswith("dask:tls://127.0.0.1:")
        assert list(spread(abs, [-1, -2], "measuring")) == [1, 2]


def test_the_risk_that_was_accepted_is_said():
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        messages = []
        with using(f"{ACCEPTED}:{cluster.scheduler_address}", tell=messages.append) as engine:
            assert engine.name == f"{ACCEPTED}:{cluster.scheduler_address}"
            assert list(spread(abs, [-1, -2], "measuring")) == [1, 2]
        assert "NOT ENCRYPTED" in messages[0]


# Whose a listener is.


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_listener_of_this_user_is_known(listener):
    assert list(dask_peers._listeners(listener)) == [("127.0.0.1", True)]
    for host in ("127.0.0.1", "localhost"):
        assert dialled(f"tcp://{host}:{listener}", accepted=False).endswith(
            f"://127.0.0.1:{listener}"
        )


def test_a_listener_of_another_user_is_known(listener, monkeypatch):
    mine = psutil.Process.username
    calls = []

    def another(process):
        calls.append(process.pid)
        # The first that is asked for is this process.
        return mine(process) if len(calls) == 1 else "mallory"

    monkeypatch.setattr(psutil.Process, "username", another)
    assert list(dask_peers._listeners(listener)) == [("127.0.0.1", False)]


def test_where_connections_of_all_are_not_shown_those_of_this_user_are(listener, monkeypatch):
    def denied(kind):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", denied)
    assert list(dask_peers._listeners(listener)) == [("127.0.0.1", True)]


def test_one_of_another_user_beside_ours_is_not_trusted(monkeypatch):
    seen = [("0.0.0.0", True), ("127.0.0.1", False)]
    monkeypatch.setattr(dask_peers, "_listeners", lambda port: seen)
    with pytest.raises(InputError, match="another user"):
        dialled("tcp://127.0.0.1:8786", accepted=False)


def test_localhost_is_dialled_where_ours_listens(monkeypatch):
    seen = [("::1", False), ("127.0.0.1", True)]
    monkeypatch.setattr(dask_peers, "_listeners", lambda port: seen)
    assert dialled("tcp://localhost:8786", accepted=False).endswith("://127.0.0.1:8786")


def test_a_connection_that_nothing_seen_has_answered_is_not_trusted(monkeypatch):
    monkeypatch.setattr(dask_peers, "_listeners", lambda port: [("192.0.2.1", True)])
    with pytest.raises(InputError, match="another user"):
        dask_peers._check_ours(Peer.of("tcp://127.0.0.1:8786"))


def test_what_is_encrypted_needs_no_risk_accepted():
    with pytest.raises(InputError, match="is encrypted: write dask:tls://host:1"):
        dialled("tls://host:1", accepted=True)


@pytest.mark.parametrize(
    "address", ["tcp://", "tcp://host", "tcp://a b:1", "tcp://me@host:1", "tcp://host:x", "host:1"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError, match="is no address of a Dask scheduler"):
        Peer.of(address)


def test_an_address_of_this_machine_stays_on_it():
    own = [link.address for links in psutil.net_if_addrs().values() for link in links]
    numbers = [address for address in own if address.count(".") == 3]
    assert numbers
    assert all(on_this_machine(address) for address in numbers)
