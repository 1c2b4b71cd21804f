"""The gatekeeper: one sample in, one out, and every window within its budget."""

import copy
import json
import math
import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eyelid.mechanisms.streams  # noqa: F401
from eyelid.errors import InputError, Refused
from eyelid.mechanisms.streams.state import PUBLISHED_SUM
from eyelid.privacy.guarantee import rounded_up
from eyelid.stream import Gatekeeper
from eyelid.stream.words import window_promise

SCREEN = {"units": "px", "scene": (0, 0, 1920, 1080), "radius": 50.0}
ONE_WINDOW = math.hypot(1920, 1080) / 50.0
"""Person-level ε of one window, at ε = 1."""


def kaleido(**settings):
    return Gatekeeper("kaleido", **({"epsilon": 1.0, "window": 12, **SCREEN} | settings))


def looking(count, seed=0):
    """Gaze that jumps now and then, with lost samples."""
    rng = np.random.default_rng(seed)
    x = np.repeat(rng.uniform(0, 1920, count // 7 + 1), 7)[:count]
    y = np.repeat(rng.uniform(0, 1080, count // 7 + 1), 7)[:count]
    x[rng.random(count) < 0.1] = np.nan
    return np.arange(count) * 8.0, x, y


def pushed(gate, time_ms, x, y):
    each = [gate.push(*sample) for sample in zip(time_ms, x, y, strict=True)]
    return np.array(each).T


def test_samples_one_by_one_and_together_give_the_same_stream():
    time_ms, x, y = looking(500)
    one = pushed(kaleido(seed=3), time_ms, x, y)
    many = kaleido(seed=3).push_many(time_ms, x, y)
    gate = kaleido(seed=3)
    parts = [gate.push_many(time_ms[a : a + 77], x[a : a + 77], y[a : a + 77])
             for a in range(0, 500, 77)]  # fmt: skip
    np.testing.assert_array_equal(one, many)
    np.testing.assert_array_equal(one, np.concatenate(parts, axis=1))


@settings(max_examples=40)
@given(st.integers(1, 20), st.integers(0, 60), st.booleans())
def test_the_same_holds_across_limits_and_pauses(window, first, coarsen):
    time_ms, x, y = looking(120)
    settings = {"window": window, "limit": 4.3 * ONE_WINDOW, "seed": 1}
    settings["on_limit"] = "coarsen" if coarsen else "freeze"
    one, many = kaleido(**settings), kaleido(**settings)
    singly = pushed(one, time_ms, x, y)
    together = np.concatenate(
        [
            many.push_many(time_ms[:first], x[:first], y[:first]),
            many.push_many(time_ms[first:], x[first:], y[first:]),
        ],
        axis=1,
    )
    np.testing.assert_array_equal(singly, together)
    assert one.meter() == many.meter()
    assert one.person_epsilon <= settings["limit"]


def test_the_person_total_is_windows_times_epsilon_times_the_scene():
    gate = kaleido()
    assert gate.person_epsilon == 0
    gate.push_many(*looking(25))
    assert gate.person_epsilon == pytest.approx(3 * ONE_WINDOW)
    assert gate.worst_window_epsilon <= 1
    assert gate.window_epsilon <= gate.worst_window_epsilon


def test_at_the_limit_nothing_new_is_released():
    gate = kaleido(limit=2.5 * ONE_WINDOW)
    time_ms, x, y = looking(400)
    out_x, _ = gate.push_many(time_ms, x, y)
    assert gate.meter().mode == "frozen"
    assert len(set(out_x[24:])) == 1
    assert gate.person_epsilon == pytest.approx(2 * ONE_WINDOW)


def test_coarsening_goes_on_and_never_reaches_the_limit():
    gate = kaleido(limit=8 * ONE_WINDOW, on_limit="coarsen", skip=1)
    time_ms, x, y = looking(3000)
    out_x, _ = gate.push_many(time_ms, x, y)
    assert gate.meter().mode in ("on", "paused")
    assert gate.meter().epsilon < 0.1
    assert len(set(out_x[1500:])) > 1
    assert 7 * ONE_WINDOW < gate.person_epsilon < 8 * ONE_WINDOW
    assert gate.worst_window_epsilon <= 1


def test_a_limit_below_one_window_is_refused():
    with pytest.raises(InputError, match="less than one window costs"):
        kaleido(limit=0.5 * ONE_WINDOW)


def test_a_stream_that_was_closed_goes_on_as_if_it_had_not_been(tmp_path):
    time_ms, x, y = looking(300)
    book = tmp_path / "person.budget"
    with kaleido(budget=book) as gate:
        first = gate.push_many(time_ms[:100], x[:100], y[:100])
        before = gate.meter()
    with kaleido(budget=book) as gate:
        again = gate.meter()
        assert (again.samples, again.person_epsilon) == (before.samples, before.person_epsilon)
        assert again.window_epsilon == pytest.approx(before.window_epsilon)
        assert gate.resumed == ""
        held = gate.push(time_ms[100], math.nan, math.nan)
        assert held == (first[0][-1], first[1][-1])
        gate.push_many(time_ms[101:], x[101:], y[101:])
        assert gate.samples == 300
        assert gate.person_epsilon == pytest.approx(25 * ONE_WINDOW)
        assert gate.worst_window_epsilon <= 1


def test_no_gaze_is_in_the_book(tmp_path):
    book = tmp_path / "person.budget"
    with kaleido(budget=book) as gate:
        gate.push(0.0, 1234.5678, 765.4321)
    told = book.read_text()
    assert "1234.5" not in told
    assert "765.4" not in told


def test_after_a_kill_more_is_counted_and_a_window_passes_first(tmp_path):
    time_ms, x, y = looking(40)
    book = tmp_path / "person.budget"
    killed = kaleido(budget=book)
    killed.push_many(time_ms[:30], x[:30], y[:30])
    spent = killed.person_epsilon
    killed.abandon()

    gate = kaleido(budget=book)
    assert gate.resumed.startswith("the last run was killed")
    assert gate.resumed.endswith("for 11 samples")
    assert gate.person_epsilon >= spent
    assert gate.worst_window_epsilon == 1
    out_x, out_y = gate.push_many(time_ms, x, y)
    assert set(out_x[:11]) == {960.0}
    assert set(out_y[:11]) == {540.0}
    assert len(set(out_x)) > 1


def test_other_settings_add_up_after_a_pause(tmp_path):
    book = tmp_path / "person.budget"
    with kaleido(budget=book) as gate:
        gate.push_many(*looking(12))
    with kaleido(budget=book, epsilon=0.5, window=4) as gate:
        assert gate.meter().mode == "paused"
        assert gate.resumed == "the settings have changed: nothing new is released for 11 samples"
        gate.push_many(*looking(11 + 4))
        assert gate.person_epsilon == pytest.approx(1.5 * ONE_WINDOW)


def test_a_frozen_stream_stays_frozen(tmp_path):
    book = tmp_path / "person.budget"
    settings = {"budget": book, "limit": 1.5 * ONE_WINDOW}
    with kaleido(**settings) as gate:
        gate.push_many(*looking(50))
    with kaleido(**settings) as gate:
        assert gate.meter().mode == "frozen"
        out_x, _ = gate.push_many(*looking(50, seed=1))
        assert len(set(out_x)) == 1
        assert gate.person_epsilon == pytest.approx(ONE_WINDOW)


def test_two_gatekeepers_cannot_count_in_one_book(tmp_path):
    with (
        kaleido(budget=tmp_path / "b"),
        pytest.raises(InputError, match="another gatekeeper"),
    ):
        kaleido(budget=tmp_path / "b")


@pytest.mark.parametrize(
    "text", ["", "{}", '{"schema": "eyelid/stream-budget/1", "before": -1}', "[1]", "nothing"]
)
def test_a_spoilt_book_is_not_taken_for_an_empty_one(tmp_path, text):
    (tmp_path / "b").write_text(text)
    with pytest.raises(InputError, match="no budget that eyelid can read"):
        kaleido(budget=tmp_path / "b")


def test_time_that_goes_backwards_releases_and_costs_nothing():
    gate = kaleido()
    gate.push(100.0, 10.0, 10.0)
    before = gate.meter()
    for time_ms in (99.0, math.nan, math.inf):
        with pytest.raises(InputError, match="time"):
            gate.push(time_ms, 10.0, 10.0)
        with pytest.raises(InputError, match="time"):
            gate.push_many([100.0, time_ms], [1.0, 1.0], [1.0, 1.0])
    assert gate.meter() == before
    gate.push(100.0, 10.0, 10.0)


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324])
def test_whatever_comes_in_something_inside_the_scene_comes_out(x):
    gate = kaleido(epsilon=0.01)
    for time_ms in range(50):
        out_x, out_y = gate.push(float(time_ms), x, 1.0)
        assert 0 <= out_x <= 1920
        assert 0 <= out_y <= 1080
    assert gate.worst_window_epsilon <= 0.01


def test_directions_come_out_as_unit_vectors_to_the_front():
    gate = Gatekeeper("kaleido", epsilon=1.0, window=4, radius=2.0, units="direction", seed=0)
    again = Gatekeeper("kaleido", epsilon=1.0, window=4, radius=2.0, units="direction", seed=0)
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 100)) * 3
    x[5], z[7] = np.nan, np.inf
    x[8] = y[8] = z[8] = 0.0
    many = np.array(gate.push_many(np.arange(100.0), x, y, z))
    singly = np.array([again.push(float(i), x[i], y[i], z[i]) for i in range(100)]).T
    np.testing.assert_allclose(many, singly, atol=1e-12)
    np.testing.assert_allclose((many**2).sum(axis=0), 1.0)
    assert (many[2] >= 0).all()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"window": 0}, "window"),
        ({"radius": -1.0}, "radius"),
        ({"radius": 1e-9}, "next to nothing"),
        ({"scene": (0, 0, 0, 10)}, "no area"),
        ({"scene": (0, 0, 10)}, "four numbers"),
        ({"scene": None}, "must be told"),
        ({"units": "inches"}, "inches"),
        ({"limit": -1.0}, "limit"),
        ({"on_limit": "explode"}, "freeze or coarsen"),
        ({"skip": 13}, "skip"),
        ({"steps": 13}, "steps"),
    ],
)
def test_bad_settings_are_named(settings, says):
    with pytest.raises(InputError, match=says):
        kaleido(**settings)


def test_what_is_no_filter_is_refused():
    with pytest.raises(InputError, match="no filter for a stream of gaze: use 'eyelid release'"):
        Gatekeeper("laplace", epsilon=1.0)
    with pytest.raises(InputError, match="eyelid stream --counters"):
        Gatekeeper("dwell", epsilon=1.0, window=12, **SCREEN)


def test_the_certificate_states_window_and_person_and_what_is_outside():
    gate = kaleido()
    gate.push_many(*looking(100))
    told = json.loads(json.dumps(gate.certificate(), allow_nan=False))
    assert told["guarantee"]["unit"] == "event:12:50.0"
    assert told["guarantee"]["holds"] is True
    assert told["person_level"]["epsilon"] == pytest.approx(9 * ONE_WINDOW)
    assert any("lost" in line for line in told["unprotected"])
    assert kaleido(seed=1).guarantee.holds is False


@pytest.mark.parametrize("name", ["jitter", "pink", "temporal", "spatial", "kalman"])
def test_filters_without_a_promise_say_so_and_keep_no_budget(name, tmp_path):
    settings = {"epsilon": 1.0, "window": 12, **SCREEN}
    gate = Gatekeeper(name, **settings)
    gate.push_many(*looking(50))
    assert gate.person_epsilon == gate.worst_window_epsilon == math.inf
    told = json.loads(json.dumps(gate.certificate(), allow_nan=False))
    assert told["guarantee"]["holds"] is told["person_level"]["holds"] is False
    assert told["guarantee"]["epsilon"] is None
    with pytest.raises(InputError, match="promises nothing"):
        Gatekeeper(name, **settings, budget=tmp_path / "b")
    with pytest.raises(InputError, match="promises nothing"):
        Gatekeeper(name, **settings, limit=10.0)


def test_the_certificate_says_how_a_total_came_about_after_a_freeze_and_a_restart(tmp_path):
    gate = kaleido(limit=4 * ONE_WINDOW)
    gate.push_many(*looking(100))
    told = gate.certificate()["person_level"]
    assert gate.mode == "frozen"
    assert told["epsilon"] == pytest.approx(4 * ONE_WINDOW)
    assert told["how"].endswith(f"before these settings: ε = {rounded_up(4 * ONE_WINDOW)}")
    for epsilon in (1.0, 0.5):
        with kaleido(epsilon=epsilon, budget=tmp_path / "b") as gate:
            gate.push_many(*looking(100))
    how = gate.certificate()["person_level"]["how"]
    assert how.startswith("8 windows of 12 samples")
    assert how.endswith(f"before these settings: ε = {rounded_up(9 * ONE_WINDOW)}")
    assert gate.guarantee.epsilon == 1.0


def test_a_coarser_filter_does_not_unsay_the_larger_epsilon_before(tmp_path):
    settings = {"limit": 8 * ONE_WINDOW, "on_limit": "coarsen", "budget": tmp_path / "b"}
    with kaleido(**settings) as gate:
        gate.push_many(*looking(100))
        assert gate.meter().epsilon == 0.25
        assert gate.guarantee.epsilon == 1.0
    assert kaleido(**settings).guarantee.epsilon == 1.0


def uniform(**settings):
    scene = {"units": "px", "scene": (0, 0, 1000, 1000)}
    return Gatekeeper(
        "uniform", **({"epsilon": 1.0, "window": 10, "radius": 1.0} | scene | settings)
    )


def still(count, start=0):
    return np.arange(start, start + count), np.full(count, 500.0), np.full(count, 500.0)


def test_what_was_released_before_is_not_promised_more_than_it_was(tmp_path):
    book = tmp_path / "b"
    with uniform(budget=book) as gate:
        gate.push_many(*still(1000))
    with uniform(budget=book, window=1000, radius=500.0) as gate:
        gate.push_many(*still(5000))
        # 100 windows of 10, each 500 radii away.
        assert str(gate.guarantee.unit) == "event:1000:500.0"
        assert gate.guarantee.epsilon == 50_000
        assert gate.worst_window_epsilon == pytest.approx(50_000)
        told = gate.certificate()
        assert told["guarantee"]["epsilon"] == 50_000
        assert [was["window"] for was in told["earlier_settings"]] == [10]
        assert "because of earlier settings; from now on with ε = 1" in window_promise(gate, None)
    with uniform(budget=book) as gate:
        # Windows of 10 lie within those of 1000, and a radius within theirs.
        assert gate.guarantee.epsilon == 1
        gate.push_many(*still(2000))
    for window in (5, 20):
        with uniform(budget=book, window=window) as gate:
            gate.push_many(*still(2000))
    # Samples of 10 and of 5 can lie in one window of 20.
    assert gate.guarantee.epsilon == 2 * 1 + 4 * 1
    # In other units a radius says nothing: as far as the scene goes.
    with uniform(budget=book, units="deg", window=10) as gate:
        across = math.hypot(1000, 1000)
        assert gate.guarantee.epsilon == pytest.approx(2 * across)


def test_what_had_a_seed_once_never_holds_again(tmp_path):
    settings = {"limit": 4 * math.hypot(1000, 1000), "on_limit": "coarsen"}
    for taken, name in ((15, "on"), (25, "paused")):
        with uniform(budget=tmp_path / name, seed=1, **settings) as gate:
            gate.push_many(*still(taken))
            assert gate.mode == name
        with uniform(budget=tmp_path / name, **settings) as gate:
            gate.push_many(*still(30))
            assert not gate.guarantee.holds
            assert not gate.certificate()["person_level"]["holds"]
            assert "earlier run" in gate.guarantee.reasons[0]


def test_nothing_is_released_that_could_not_be_written_down(tmp_path, monkeypatch):
    gate = uniform(budget=tmp_path / "b")

    def full(*_):
        raise OSError(28, "no space left")

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(gate.budget, "write", full)
            for _ in range(3):
                with pytest.raises(OSError, match="no space"):
                    gate.push(1e4, 1.0, 1.0)
        taken = gate.samples
        gate.push_many(*still(1024, start=taken))
        assert gate.samples == taken + 1024
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="no space"):
            gate.push(1e4, 1.0, 1.0)
        assert gate.samples == 2048
        with pytest.raises(InputError, match="no space"):
            gate.close()
    assert gate.mode == "closed"
    with uniform(budget=tmp_path / "b") as again:
        assert again.mode == "paused"


def test_a_pause_outlives_a_close_whatever_comes_next(tmp_path):
    book = tmp_path / "b"
    with uniform(budget=book, window=1000) as gate:
        gate.push_many(*still(1000))
    with uniform(budget=book) as gate:
        gate.push_many(*still(5))
    with uniform(budget=book) as gate:
        gate.push_many(*still(4))
    with uniform(budget=book, radius=2.0) as gate:
        out_x, _ = gate.push_many(*still(991))
        assert gate.mode == "on"
        assert len(set(out_x[:990])) == 1
        assert out_x[990] != out_x[989]


def test_a_pause_of_fixations_counts_what_they_look_back_at(tmp_path):
    told = {"epsilon": 1.0, "window": 10, **SCREEN, "span": 4, "budget": tmp_path / "b"}
    gate = Gatekeeper("fixations", **told)
    gate.push_many(*still(1))
    gate.abandon()
    with Gatekeeper("fixations", **told) as gate:
        gate.push_many(*still(10 + 4 - 2))
        assert gate.mode == "paused"
        gate.push_many(*still(1, start=12))
        assert gate.mode == "on"


def test_whoever_is_frozen_from_the_start_does_not_end_a_pause(tmp_path):
    book = tmp_path / "b"
    with uniform(budget=book) as gate:
        gate.push_many(*still(10))
    spent = gate.person_epsilon
    with uniform(budget=book, radius=2.0, limit=spent) as gate:
        gate.push_many(*still(3))
        assert gate.mode == "frozen"
        assert gate.window_epsilon == pytest.approx(2.0)
    with uniform(budget=book, radius=2.0) as gate:
        out_x, _ = gate.push_many(*still(9))
        assert set(out_x) == {500.0}


def test_a_smaller_epsilon_begins_when_no_window_has_both(tmp_path):
    across = math.hypot(1000, 1000)
    for first in ("freeze", "coarsen"):
        settings = {"budget": tmp_path / first, "limit": 3.5 * across}
        with uniform(**settings, on_limit=first) as gate:
            count = 31 if first == "freeze" else 10
            out_x, _ = gate.push_many(*still(count))
            assert gate.mode == ("frozen" if first == "freeze" else "on")
        with uniform(**settings, on_limit="coarsen") as gate:
            modes, shown = [], []
            for i in range(11):
                shown.append(gate.push(i, 500.0, 500.0)[0])
                modes.append(gate.mode)
                if gate.mode == "paused":
                    assert gate.window_epsilon == pytest.approx(1.0)
            assert modes == ["paused"] * 9 + ["on"] * 2
            assert set(shown[:9]) == {out_x[-1]}
            assert gate.meter().epsilon == 0.25


def interrupted(gate, monkeypatch):
    """A sample whose budget is only half counted when a person presses Ctrl-C."""
    run = gate._passage.run

    def stop(*_):
        run.state[PUBLISHED_SUM] -= 1.0
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "_kernel", stop)
    with pytest.raises(KeyboardInterrupt):
        gate.push(1e6, 1.0, 1.0)


def test_an_interrupted_sample_leaves_nothing_in_order(tmp_path, monkeypatch):
    book = tmp_path / "b"
    with uniform(budget=book) as gate:
        gate.push_many(*still(5))
        assert gate.worst_window_epsilon < 1
        interrupted(gate, monkeypatch)
    assert json.loads(book.read_text())["left_in_order"] is None
    with uniform(budget=book) as gate:
        assert (gate.mode, gate.worst_window_epsilon) == ("paused", 1.0)


def test_whoever_goes_on_after_an_interruption_begins_a_new_window(monkeypatch):
    gate = uniform()
    gate.push_many(*still(5))
    interrupted(gate, monkeypatch)
    spent = gate.person_epsilon
    out_x, _ = gate.push_many(*still(10, start=2_000_000))
    assert len(set(out_x[:9])) == 1
    assert out_x[9] != out_x[8]
    assert gate.worst_window_epsilon == 1
    assert gate.person_epsilon == 2 * spent


@pytest.mark.parametrize("spoilt", ["sum", "negative", "missing", "short"])
def test_a_state_that_does_not_add_up_is_not_gone_on_from(tmp_path, spoilt):
    book = tmp_path / "b"
    with uniform(budget=book) as gate:
        gate.push_many(*still(5))
    told = json.loads(book.read_text())
    run = told["left_in_order"]["run"]
    if spoilt == "sum":
        run["of_all"][2] *= 2
    elif spoilt == "negative":
        run["of_all"][2], run["of_all"][3] = -run["of_all"][2], 3 * run["of_all"][3]
    elif spoilt == "missing":
        del run["samples"]
    else:
        run["of_all"].pop()
    book.write_text(json.dumps(told))
    with uniform(budget=book) as gate:
        assert (gate.mode, gate.worst_window_epsilon) == ("paused", 1.0)


def test_a_link_is_the_book_that_it_leads_to(tmp_path):
    (tmp_path / "one").symlink_to(tmp_path / "real")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with uniform(budget=tmp_path / "one") as gate:
        gate.push_many(*still(10))
        with pytest.raises(InputError, match="another gatekeeper"):
            uniform(budget=tmp_path / "two")
    assert (tmp_path / "one").is_symlink()
    with uniform(budget=tmp_path / "two") as again:
        assert again.person_epsilon == gate.person_epsilon
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(InputError, match="cannot keep a budget"):
        uniform(budget=tmp_path / "round")


@pytest.mark.parametrize("place", [".", "/"])
def test_a_folder_is_no_book_and_gets_no_lock(tmp_path, monkeypatch, place):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        uniform(budget=place)
    assert [p.name for p in tmp_path.iterdir()] == ["here"]


def test_a_book_is_for_its_owner_alone(tmp_path):
    with uniform(budget=tmp_path / "b") as gate:
        gate.push_many(*still(1))
    assert {p.stat().st_mode & 0o777 for p in tmp_path.iterdir()} == {0o600}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_releases_nothing_and_leaves_the_book_alone(tmp_path):
    gate = uniform(epsilon=1e3, budget=tmp_path / "b")
    run = uniform(epsilon=1e3)._passage.run
    before, _ = gate.push(0.0, 500.0, 500.0), run.push(500.0, 500.0)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        told = [gate.mode, gate.push(1.0, 300.0, 300.0), run.push(300.0, 300.0)]
        gate.close()
        os.write(writer, json.dumps(told).encode())
        os._exit(0)
    os.waitpid(child, 0)
    mode, shown, by_run = json.loads(os.read(reader, 1000))
    os.close(reader)
    os.close(writer)
    assert (mode, tuple(shown)) == ("closed", before)
    # The same noise would make them differ as gaze does, but for the edges of the grid.
    assert run.push(310.0, 305.0)[0] - by_run[0] != pytest.approx(10.0, abs=1e-6)
    assert json.loads((tmp_path / "b").read_text())["left_in_order"] is None
    with pytest.raises(InputError, match="another gatekeeper"):
        uniform(budget=tmp_path / "b")
    gate.close()


def test_there_is_one_of_each_gatekeeper():
    gate = uniform()
    for one in (gate, gate._passage.run, gate._passage.run.planes):
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(Refused, match="cannot be copied"):
                make(one)


@pytest.mark.parametrize("left_out", ["epsilon", "window", "radius"])
def test_what_is_missing_is_named_as_the_argument_it_is(left_out):
    known = {"epsilon": 1.0, "window": 60, "radius": 50.0, "scene": (0, 0, 100, 100)}
    del known[left_out]
    with pytest.raises(InputError, match=f"needs {left_out}, .*: give it as {left_out}=…$"):
        Gatekeeper("kaleido", **known)


def test_of_filters_only_filters_are_offered():
    with pytest.raises(InputError, match="unknown filter 'kalido': did you mean 'kaleido'") as no:
        Gatekeeper("kalido", epsilon=1.0)
    assert "laplace" not in str(no.value)


def test_areas_for_nothing_are_refused():
    known = {"epsilon": 1.0, "window": 60, "radius": 50.0, "scene": (0, 0, 100, 100)}
    with pytest.raises(InputError, match="areas are for events, counters or the filter fixations"):
        Gatekeeper("kaleido", **known, areas="menu:0,0,10,10")
