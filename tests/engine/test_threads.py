"""The same work on many items: in order, with its errors, and with nothing left running."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from eyelid.engine.cores import cores, parallel

# Nothing is measured by it: it only ends what hangs.
PATIENCE_S = 300


@pytest.fixture(scope="module", autouse=True)
def _all_cores():
    """As many threads as there are cores; other tests have one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eyelid.engine.cores.cores", cores)
        yield


@given(st.lists(st.integers(), max_size=30))
def test_results_come_in_the_order_of_the_items(items):
    assert list(parallel(lambda item: item * 2, items, "doubling")) == [item * 2 for item in items]


def test_order_is_kept_when_later_items_end_first():
    last = threading.Event()

    def work(number):
        if number == 7:
            last.set()
        # One thread alone would wait for itself.
        assert number or cores() == 1 or last.wait(PATIENCE_S)
        return number

    assert list(parallel(work, range(8), "waiting")) == list(range(8))


def test_an_error_comes_through_after_the_results_before_it():
    def work(number):
        return 6 // (3 - number)

    found = parallel(work, range(6), "dividing")
    assert [next(found) for _ in range(3)] == [2, 3, 6]
    with pytest.raises(ZeroDivisionError):
        next(found)


@pytest.mark.parametrize("ending", ["error", "stopped early"])
def test_nothing_is_left_running(ending, monkeypatch):
    before, begun, cancelled = threading.active_count(), [], threading.Event()
    cancel, asked = Future.cancel, []

    def counted(future):
        done = cancel(future)
        asked.append(future)
        if len(asked) == 200:
            cancelled.set()
        return done

    monkeypatch.setattr(Future, "cancel", counted)

    def work(number):
        begun.append(number)
        if ending == "error" and number == 0:
            raise ValueError("no")
        # All but the first last until the rest is called off.
        assert number == 0 or cancelled.wait(PATIENCE_S)
        return number

    found = parallel(work, range(200), "counting")
    if ending == "error":
        with pytest.raises(ValueError, match="no"):
            list(found)
    else:
        assert next(found) == 0
        found.close()
    assert threading.active_count() == before
    assert len(begun) <= 1 + cores()


def test_all_cores_are_used_and_no_more():
    running, most, lock = 0, 0, threading.Lock()
    # Nobody goes on before as many are at work as there are cores.
    together = threading.Barrier(cores(), timeout=PATIENCE_S)

    def work(_):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()
        with lock:
            running -= 1

    list(parallel(work, range(4 * cores()), "resting"))
    assert most == cores()


def test_the_libraries_keep_to_one_core_meanwhile(monkeypatch):
    # All other tests go without.
    monkeypatch.setattr("threadpoolctl.threadpool_limits", threadpool_limits)
    import sklearn.cluster  # noqa: F401, loads OpenMP

    def threads(_=None):
        return [lib["num_threads"] for lib in threadpool_info()]

    # All tests keep them to one core; here they have more to give up.
    with threadpool_limits(2):
        before = threads()
        assert len(before) > 1, "linear algebra and OpenMP should both be loaded"
        assert set(before) == {2}
        assert {n for found in parallel(threads, range(3), "looking") for n in found} == {1}
        assert threads() == before
