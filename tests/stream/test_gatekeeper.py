"""The gatekeeper: one sample in, one out, and every window within its budget."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eyelid.mechanisms.streams  # noqa: F401
from eyelid.errors import InputError
from eyelid.privacy.guarantee import rounded_up
from eyelid.stream import Gatekeeper

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
    # What a kill leaves: the lock goes, nothing is written down.
    killed._book.close()

    gate = kaleido(budget=book)
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
    with pytest.raises(InputError, match="eyelid stream --set counters"):
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
