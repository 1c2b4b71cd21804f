"""Work on a Dask cluster: one that runs already, or one of this machine's own."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import itertools
import logging
import pickle
import secrets
import signal
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from eyelid.engine.children import SAFE_PATH, safe_children
from eyelid.engine.cores import KILLED, ONE_CORE, alone, cores
from eyelid.engine.dask_peers import ACCEPTED, check_closed, dialled
from eyelid.engine.engines import Engine, Shared, held
from eyelid.errors import EyelidError, InputError, first_line
from eyelid.spelling import plural
from eyelid.version import __version__

T = TypeVar("T")
R = TypeVar("R")

_MISSING = "the engine dask needs {}: pip install 'eyelid[dask]'"
# How long a scheduler is waited for, how often it is tried, and how long it may be silent.
_ANSWER_S, _AGAIN_S, _SILENT_S = 10, 0.1, 10
# A worker that was killed is started again, which takes long on a busy machine.
_RESTART_S = 120
# Workers with an item that may die before it is given up.
_MOST_KILLED = 5
_LOOPBACK = "127.0.0.1"
# How many threads need each shared value.
_users: Counter[str] = Counter()
_lock = threading.Lock()


class DaskEngine(Engine):
    """The workers of a Dask scheduler."""

    def __init__(self, client: Any, name: str, address: str, accepted: bool = False) -> None:
        self.name, self.told = name, address
        self._client, self._accepted = client, accepted
        self._futures: dict[str, Any] = {}

    def as_done(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Each item to whichever worker is free; the scheduler gives those of lost ones again."""
        from distributed import KilledWorker, as_completed

        killed = dict.fromkeys(range(len(items)), 0)
        places: dict[Any, int] = {}

        def given(place: int) -> Any:
            key = f"eyelid-{place}-{secrets.token_hex(8)}"
            with _sending_much():
                made = self._client.submit(
                    _one, work, items[place], self._futures, key=key, pure=False, priority=-place
                )
            places[made] = place
            return made

        # Some at a time: what nobody works on yet need not be sent.
        coming = iter(range(len(items)))
        ahead = 4 * max(1, sum(self._checked_workers().values()))
        first = [given(place) for place in itertools.islice(coming, ahead)]
        running = as_completed(first, loop=self._client.loop)
        try:
            for future in running:
                place = places.pop(future)
                try:
                    result = future.result()
                except KilledWorker:
                    killed[place] += 1
                    if killed[place] > _MOST_KILLED:
                        raise EyelidError(KILLED) from None
                    running.add(given(place))
                    continue
                for following in itertools.islice(coming, 1):
                    running.add(given(following))
                yield place, result
        finally:
            self._client.cancel(list(places), force=True)

    @contextlib.contextmanager
    def shared(self, value: T) -> Iterator[Shared[T]]:
        """With the scheduler, which has a worker make it again where the last that had it died."""
        key = f"eyelid-shared-{secrets.token_hex(8)}"
        packed = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        with _sending_much():
            self._futures[key] = self._client.submit(pickle.loads, packed, key=key, pure=False)
        try:
            with _holding({key: value}):
                yield Shared(key)
        finally:
            del self._futures[key]

    def _checked_workers(self) -> dict[str, int]:
        """Threads of each worker; others may have joined since the engine was made."""
        threads: dict[str, int] = self._client.nthreads()
        if not self._accepted:
            check_closed(threads, self.name)
        return threads

    def check_sees(self, folder: Path) -> None:
        """Fail unless all workers see a folder of this machine, by a file with a secret name."""
        sign = folder / f".seen-{secrets.token_hex(8)}"
        sign.touch()
        try:
            self._check_there(sign, folder)
        finally:
            sign.unlink(missing_ok=True)

    def check_reads(self, path: Path) -> None:
        """Fail unless all workers see a file of the input."""
        self._check_there(path, path)

    def _check_there(self, path: Path, known_as: Path) -> None:
        """Fail unless a path is there for every worker; a person knows it as ``known_as``."""
        try:
            # Those that were killed may be on their way back.
            self._client.wait_for_workers(1, timeout=_RESTART_S)
            answers: dict[str, bool] = self._client.run(_there, str(path))
        except TimeoutError:
            raise EyelidError(f"{self.name} has no workers: start some") from None
        blind = [address for address, there in answers.items() if not there]
        if blind:
            raise InputError(
                f"the worker {blind[0]} does not see {known_as}: all workers need the same file "
                "system, under the same path"
            )


@contextlib.contextmanager
def dask_engine(
    address: str | None = None, workers: int | None = None, accepted: bool = False
) -> Iterator[DaskEngine]:
    """The workers of a scheduler, or of a cluster that lives as long as the block.

    Args:
        address: of a scheduler; without it a cluster is started, which only this user can reach.
        workers: how many processes to start.
        accepted: whether a scheduler may be unencrypted and unknown (`eyelid.engine.dask_peers`).
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError(_MISSING.format("Dask")) from None

    with contextlib.ExitStack() as stack:
        if address is None:
            cluster = stack.enter_context(_own_cluster(workers or cores()))
            client = stack.enter_context(Client(cluster))
        else:
            client = stack.enter_context(_connected(address, accepted))
            _check_workers(client, address, accepted)
        with _calm():
            yield DaskEngine(client, *_introduced(client, address, accepted), accepted)


@contextlib.contextmanager
def _own_cluster(workers: int) -> Iterator[Any]:
    """A cluster on this machine: on loopback and encrypted, since anyone may ask a scheduler."""
    import dask
    from distributed import LocalCluster

    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise InputError(_MISSING.format("the package cryptography")) from None
    settings = {
        "distributed.scheduler.allowed-failures": _MOST_KILLED,
        "distributed.nanny.pre-spawn-environ": ONE_CORE | SAFE_PATH,
    }
    with (
        # Around all of it: a worker that was killed is started again at any time.
        safe_children(),
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=_LOOPBACK,
            # Without a limit nothing is put on disk, where raw gaze could stay.
            memory_limit=0,
            dashboard_address=f"{_LOOPBACK}:0",
            security=True,
            preload=__name__,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


def _connected(address: str, accepted: bool) -> Any:
    """A client of a running scheduler."""
    from distributed import Client
    from distributed.security import Security

    known = dialled(address, accepted)
    encrypted = address.startswith("tls:")
    # Nothing of an encrypted cluster is reached in the open.
    security = Security(require_encryption=True) if encrypted else Security()
    _check_answers(address, known, security)
    try:
        return Client(
            known,
            timeout=_ANSWER_S,
            set_as_default=False,
            security=security,
            # Through the scheduler, of which it is known whose it is.
            direct_to_workers=False,
        )
    except (OSError, ValueError, TypeError) as error:
        why = str(error).replace(known, address)
        raise InputError(f"no Dask scheduler answers at {address}: {why}") from None


def _check_workers(client: Any, address: str, accepted: bool) -> None:
    """Fail unless a scheduler has workers, all of this version, to whom raw gaze may go."""
    try:
        client.wait_for_workers(1, timeout=_ANSWER_S)
        if not accepted:
            check_closed(client.nthreads(), address)
        versions: dict[str, str] = client.run(_version)
    except TimeoutError:
        raise InputError(f"the Dask scheduler at {address} has no workers: start some") from None
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the workers of {address} cannot run eyelid ({error}): install eyelid {__version__} "
            "there"
        ) from None
    for where, version in versions.items():
        if version != __version__:
            raise InputError(
                f"the worker {where} has eyelid {version}, this is {__version__}: results would "
                "depend on who computes them; install the same"
            )


def _check_answers(address: str, known: str, security: Any) -> None:
    """Fail soon, and in a line, unless a scheduler is there: Dask's client takes its time.

    Args:
        address: of the scheduler, for messages.
        known: the same as it is dialled.
        security: with the certificates.
    """
    try:
        arguments = security.get_connection_args("client")
    except OSError as error:
        raise InputError(
            f"the certificates of distributed.comm.tls in Dask's configuration cannot be read: "
            f"{error}"
        ) from None
    if address.startswith("tls") and arguments.get("ssl_context") is None:
        raise InputError(
            f"{address} needs certificates: set distributed.comm.tls in Dask's configuration "
            "(docs/scaling.md)"
        )
    try:
        # In a thread of its own: in notebooks this one has a loop already.
        with ThreadPoolExecutor(1) as pool:
            kind = pool.submit(asyncio.run, _asked_who(known, arguments)).result()
    except Exception as error:
        why = first_line(error).replace(known, address)
        raise InputError(f"no Dask scheduler answers at {address}: {why}") from None
    if kind != "Scheduler":
        raise InputError(f"what answers at {address} is no Dask scheduler: give the scheduler's")


async def _asked_who(known: str, arguments: dict[str, Any]) -> Any:
    """What answers, by what it says of itself; nothing is read before it is known whose it is."""
    comm = await _reached(known, arguments)
    try:
        # Dask itself waits for ever for the first word.
        async with asyncio.timeout(_SILENT_S):
            await comm.write(comm.handshake_info())
            await comm.read()
            await comm.write({"op": "identity", "reply": True})
            answer = await comm.read()
            return answer.get("type") if isinstance(answer, dict) else None
    finally:
        comm.abort()


async def _reached(known: str, arguments: dict[str, Any]) -> Any:
    """A connection to a scheduler, which may be about to start."""
    from distributed.comm.addressing import parse_address
    from distributed.comm.core import FatalCommClosedError
    from distributed.comm.registry import get_backend

    scheme, place = parse_address(known)
    connector = get_backend(scheme).get_connector()
    why: Exception | None = None
    try:
        async with asyncio.timeout(_ANSWER_S):
            while True:
                try:
                    return await connector.connect(place, **arguments)
                except OSError as error:
                    # A certificate that is not accepted now is not in a moment.
                    if isinstance(error, FatalCommClosedError) or "SSL" in str(error):
                        raise
                    why = error
                await asyncio.sleep(_AGAIN_S)
    except TimeoutError:
        raise why or TimeoutError(f"nothing within {_ANSWER_S} s") from None


def _introduced(client: Any, address: str | None, accepted: bool) -> tuple[str, str]:
    """The engine's name, and who works."""
    count = plural(len(client.nthreads()), "Dask worker")
    pictures = importlib.util.find_spec("bokeh") is not None or address is not None
    link = client.dashboard_link if pictures else None
    kind = ACCEPTED if accepted else "dask"
    name = kind if address is None else f"{kind}:{address}"
    facts = [count, *([f"dashboard: {link}"] if link else [])]
    if accepted:
        facts.append(
            "NOT ENCRYPTED: raw gaze can be read on its way, and what answers there can run code "
            "here"
        )
    return name, "; ".join(facts)


@contextlib.contextmanager
def _sending_much() -> Iterator[None]:
    """Without Dask's advice against it: everything is sent once, to the worker that needs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@contextlib.contextmanager
def _calm() -> Iterator[None]:
    """No remarks of Dask's own about workers that leave: it is told where it matters."""
    loud = logging.getLogger("distributed")
    before = loud.level
    loud.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        loud.setLevel(before)


def dask_setup(worker: object) -> None:
    """Called by Dask in each own worker: Ctrl-C reaches all, and the parent process says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _one(work: Callable[[T], R], item: T, given: dict[str, Any]) -> R:
    """One item, in a worker, which has one core for it."""
    with _holding(given), alone():
        return work(item)


@contextlib.contextmanager
def _holding(given: Mapping[str, Any]) -> Iterator[None]:
    """Have shared things where they are found, as long as any thread needs them."""
    with _lock:
        held.update(given)
        _users.update(given.keys())
    try:
        yield
    finally:
        with _lock:
            _users.subtract(given.keys())
            for key in given:
                if not _users[key]:
                    del _users[key], held[key]


def _there(path: str) -> bool:
    return Path(path).exists()


def _version() -> str:
    return __version__
