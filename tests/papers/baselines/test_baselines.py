"""Filters that promise nothing do what they say, and say that they promise nothing."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_discrete_are

from eyelid.errors import InputError
from eyelid.mechanisms import PublicFacts, mechanism_named
from eyelid.papers.baselines.baseline import Baseline
from eyelid.papers.baselines.noisy import MEMORY_SAMPLES, PinkAhead
from eyelid.privacy import PERSON, randomness
from eyelid.privacy.guarantee import Kind

SCENE = "0,0,800,600"
SETTINGS = {
    "jitter": {"sd": 20.0},
    "pink": {"sd": 20.0},
    "temporal": {"every": 3},
    "spatial": {"cell": 70.0},
    "kalman": {"tracking": 0.05},
}


def mechanism(name):
    return mechanism_named(name, scene=SCENE, **SETTINGS[name])


@pytest.fixture(params=SETTINGS)
def baseline(request):
    return mechanism(request.param)


def gaze(length, seed=3):
    """Jumps, gaze outside of the scene and lost samples."""
    rng = np.random.default_rng(seed)
    x, y = (np.repeat(rng.uniform(-50, 850, (2, length // 7 + 1)), 7, axis=1))[:, :length]
    x, y = x + rng.normal(size=length), y + rng.normal(size=length)
    x[rng.random(length) < 0.1] = math.nan
    y[rng.random(length) < 0.1] = math.inf
    return x, y


def one_by_one(run, x, y):
    return np.array([run.push(*point) for point in zip(x.tolist(), y.tolist(), strict=True)])


def test_nothing_is_promised_and_the_reasons_are_told(baseline):
    found = baseline.cost(PublicFacts(1, 1, 1000, 2, window=1), PERSON)
    assert isinstance(baseline, Baseline)
    assert (found.kind, found.holds, found.epsilon) == (Kind.NONE, False, math.inf)
    assert found.reasons
    assert found.numbers() == "no guarantee"
    assert not baseline.claims_to_hold
    assert "no bound" in baseline.person_total(PublicFacts(1, 1, 1000, 2))
    assert "floating point" in baseline.numerics


@settings(deadline=None, max_examples=15)
@given(cuts=st.lists(st.integers(0, 1200), max_size=5), seed=st.integers(0, 99))
@pytest.mark.parametrize("name", SETTINGS)
def test_one_by_one_and_together_are_the_same_stream(name, cuts, seed):
    x, y = gaze(1200, seed)
    wanted = one_by_one(mechanism(name).start(randomness(7)), x, y)
    run, edges = mechanism(name).start(randomness(7)), [0, *sorted(cuts), 1200]
    parts = [np.stack(run.push_many(x[a:b], y[a:b]), axis=1) for a, b in itertools.pairwise(edges)]
    # Machines that multiply and add in one step round a linear filter differently.
    np.testing.assert_allclose(np.concatenate(parts), wanted, rtol=0, atol=1e-9)
    assert run.samples == 1200


def test_whatever_comes_in_what_goes_out_is_in_the_scene(baseline):
    x = np.array([math.nan, 1e300, -1e300, math.inf, 400.0, math.nan])
    out = np.array(baseline.start(randomness(7)).push_many(x, x[::-1]))
    assert (out.min(axis=1) >= 0).all()
    assert (out.max(axis=1) <= [800, 600]).all()
    assert tuple(out[:, 0]) == (400, 300), "before anything was seen it is the middle"


def test_lost_samples_repeat_what_was_released_last(baseline):
    run = baseline.start(randomness(7))
    first = run.push(100.0, 200.0)
    for x, y in ((math.nan, 5.0), (5.0, math.inf), (math.nan, math.nan)):
        assert run.push(x, y) == first
    x, y = run.push_many(np.full(4, math.nan), np.arange(4.0))
    assert {*zip(x.tolist(), y.tolist(), strict=True)} == {first}


def test_no_samples_are_no_samples(baseline):
    x, y = baseline.start(randomness(7)).push_many(np.array([]), np.array([]))
    assert len(x) == len(y) == 0


@pytest.mark.parametrize("name", ["jitter", "pink"])
def test_noise_is_fresh_in_every_run_and_has_the_standard_deviation_asked_for(name):
    # 200 independent starts: 5 standard errors of a standard deviation are 25%.
    middle = np.full((2, 1), 300.0)
    ends = np.array(
        [mechanism(name).start(randomness(seed)).push_many(*middle) for seed in range(200)]
    )[..., 0]
    assert len({*ends.ravel().tolist()}) == 400
    assert (ends - 300).std(axis=0) == pytest.approx([20.0, 20.0], rel=0.25)
    assert abs(np.corrcoef(ends.T)[0, 1]) < 5 / math.sqrt(200)


def test_jitter_is_averaged_away_as_its_note_says():
    # The mean of 40 draws of sd 20: 3.2, a sixth; 1000 of them, 5 standard errors are 11%.
    x, y = mechanism("jitter").start(randomness(7)).push_many(*np.full((2, 40_000), 300.0))
    assert x.reshape(-1, 40).mean(axis=1).std() == pytest.approx(20 / math.sqrt(40), rel=0.11)
    assert y.std() == pytest.approx(20, rel=0.02)


def spectrum(frequency):
    """Of the sum of AR(1) processes of variance 1/8, by the textbook."""
    kept = np.exp(-1 / MEMORY_SAMPLES)[:, None]
    turn = np.cos(2 * math.pi * frequency)
    return ((1 - kept**2) / (1 - 2 * kept * turn + kept**2)).mean(axis=0)


def test_pink_noise_is_one_over_f_where_its_note_says():
    frequency = np.geomspace(1 / 18_000, 1 / 4, 500)
    decibels = 10 * np.log10(spectrum(frequency) * frequency)
    assert np.ptp(decibels) < 0.4
    slope, _ = np.polyfit(np.log(frequency), np.log(spectrum(frequency)), 1)
    assert slope == pytest.approx(-1, abs=0.01)


def test_drawn_pink_noise_has_that_spectrum():
    # 64 periodograms of both axes in 8 bands: each mean is over at least 128 exponentials.
    ahead = PinkAhead(randomness(7))
    ahead.ensure(1 << 17)
    noise = np.array(ahead.columns)[:, : 1 << 17].reshape(128, 2048)
    window = np.hanning(2048)
    power = (np.abs(np.fft.rfft(noise * window)) ** 2).mean(axis=0) / (window**2).sum()
    frequency = np.fft.rfftfreq(2048)
    for low in 2.0 ** np.arange(-9, -1):
        band = (frequency >= low) & (frequency < 2 * low)
        assert power[band].mean() == pytest.approx(spectrum(frequency[band]).mean(), rel=0.3)


def test_pink_noise_of_a_block_goes_on_from_the_one_before():
    # Neighbours across the border of two blocks: a new start would be 20·√2 apart on average.
    x, _ = mechanism("pink").start(randomness(7)).push_many(*np.full((2, 512 * 40), 300.0))
    across, within = np.diff(x)[511::512], np.diff(x)
    assert across.std() == pytest.approx(within.std(), rel=0.6)
    assert within.std() < 20


def test_temporal_repeats_the_first_of_every_few():
    run = mechanism("temporal").start(randomness(7))
    x = np.array([10.0, 20, 30, 40, 50, 60, math.nan, 80, 90, 100])
    out, _ = run.push_many(x, x)
    assert out.tolist() == [10, 10, 10, 40, 40, 40, 40, 40, 40, 100]


def test_spatial_tells_the_middle_of_a_cell_and_never_leaves_the_scene():
    run = mechanism("spatial").start(randomness(7))
    assert run.push(0.0, 69.9) == (35, 35)
    assert run.push(70.0, 140.0) == (105, 175)
    assert run.push(799.0, 599.0) == (800, 595), "the last column is cut by the scene"


def plain_kalman(x, tracking):
    """Predict and update with matrices, at the gain where the Riccati equation stands still."""
    move, see = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    push = np.array([[0.5], [1.0]]) * tracking
    ahead = solve_discrete_are(move.T, see.T, push @ push.T, np.eye(1))
    gain = ahead @ see.T / (see @ ahead @ see.T + 1)
    state, places = np.array([[x[0]], [0.0]]), []
    for value in x:
        state = move @ state
        state = state + gain * (value - see @ state)
        places.append(state[0, 0])
    return np.array(places)


@pytest.mark.parametrize("tracking", [0.001, 0.05, 1.0, 30.0])
def test_kalman_is_the_filter_of_the_textbook(tracking):
    rng = np.random.default_rng(3)
    x = 400 + np.cumsum(rng.normal(0, 2, 300))
    run = mechanism_named("kalman", scene=SCENE, tracking=tracking).start(randomness(7))
    np.testing.assert_allclose(run.push_many(x, x)[0], plain_kalman(x, tracking), atol=1e-6)


def test_kalman_can_be_undone_as_its_note_says():
    filtered = mechanism("kalman")
    alpha, beta = filtered.gains
    x = 400 + np.cumsum(np.random.default_rng(3).normal(0, 2, 300))
    out, _ = filtered.start(randomness(7)).push_many(x, x)
    speed, place, found = 0.0, out[0], []
    for shown in out:
        # place + speed + α·surprise was shown.
        surprise = (shown - place - speed) / alpha
        found.append(place + speed + surprise)
        place, speed = shown, speed + beta * surprise
    np.testing.assert_allclose(found, x, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("jitter", {"sd": 0.0}, "sd must be positive and finite, got 0"),
        ("pink", {"sd": math.inf}, "sd must be positive and finite, got inf"),
        ("temporal", {"every": 0}, "every must be at least 1, got 0"),
        ("spatial", {"cell": -2.0}, "cell must be positive and finite, got -2"),
        ("kalman", {"tracking": 0.0}, "tracking must be positive and finite, got 0"),
        ("jitter", {"sd": 1.0, "epsilon": 1.0}, "jitter gives none and has no epsilon"),
        ("jitter", {}, "jitter needs sd: "),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(name, wrong, message):
    with pytest.raises(InputError, match=message):
        mechanism_named(name, scene=SCENE, **wrong)
