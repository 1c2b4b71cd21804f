"""What all filters with a budget have in common."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.audits.claims.streams import seen_to_spend
from eyelid.errors import InputError, Refused
from eyelid.mechanisms import Shape, find, mechanism
from eyelid.mechanisms.streams import filter as filters
from eyelid.mechanisms.streams.draws import Ahead
from eyelid.mechanisms.streams.state import SPENT, SPENT_WHOLE, WHOLE
from eyelid.privacy import PERSON, RECORDING, Unit
from eyelid.privacy.noise import SystemRandomness, randomness

NAMES = ("kaleido", "uniform", "sample", "bd", "ba")

every_filter = pytest.mark.parametrize("name", NAMES)


class Told(Ahead):
    """Tests that come out as is told, over and over again."""

    def __init__(self, outcomes):
        super().__init__(SystemRandomness())
        self.outcomes = np.where(outcomes, -(2.0**60), 2.0**60)

    def block(self, source):
        return (self.outcomes,)

    def ensure(self, count):
        if self.used >= len(self.outcomes):
            self.columns = ()
        if not self.columns:
            self.columns, self.used, self._lists = self.block(None), 0, None


moves = st.lists(
    st.one_of(st.just(math.nan), st.sampled_from([0.0, 1.0, 1e3, 1e6]), st.floats(0, 1e6)),
    min_size=1,
    max_size=40,
)


@every_filter
@settings(max_examples=40, deadline=None)
@given(
    radii=moves,
    outcomes=st.lists(st.booleans(), min_size=1, max_size=40),
    window=st.integers(1, 9),
    skip=st.integers(1, 9),
    epsilon=st.sampled_from([0.1, 1.0, 7.0]),
)
def test_no_window_at_any_offset_spends_more_than_epsilon(
    name, radii, outcomes, window, skip, epsilon
):
    side = 2.0**23 * 3
    told = {"epsilon": epsilon, "window": window, "radius": 3.0, "scene": f"0,0,{side},{side}"}
    law = mechanism(name, **told, **({"skip": min(skip, window)} if name == "kaleido" else {}))
    run = law.start(SystemRandomness())
    gaze = np.stack([3.0 * np.array(radii)] * 2, axis=1)
    cost = law.reach_steps / law.test_scale_steps if law.test_parts else 0.0
    spent = seen_to_spend(run, gaze, Told(outcomes), law.reach_steps, cost)
    windows = np.convolve(spent, np.ones(window))
    assert windows.max() <= epsilon * (1 + 1e-5)
    # The meter tells no less, and never more than is promised.
    assert windows.max() / epsilon - 1e-5 <= run.worst_parts / WHOLE <= 1


@every_filter
def test_single_samples_arrays_and_compiled_code_give_the_same_stream(
    filtered, gaze, name, monkeypatch
):
    law = filtered(name)
    many = np.tile(gaze, (math.ceil(2200 / len(gaze)), 1))
    single, together = (law.start(randomness(7)) for _ in range(2))
    one_by_one = np.array([single.push(*point) for point in many.tolist()])
    monkeypatch.setattr(filters, "_WORTH_COMPILING", math.inf)
    assert np.array_equal(one_by_one, np.stack(together.push_many(*many.T), axis=1))
    assert (single.worst_parts, single.spent_parts) == (together.worst_parts, together.spent_parts)
    pytest.importorskip("numba")
    monkeypatch.setattr(filters, "_WORTH_COMPILING", 0)
    fast = law.start(randomness(7))
    parts = [fast.push_many(*part.T) for part in np.array_split(many, 3)]
    assert np.array_equal(one_by_one, np.concatenate(parts, axis=1).T)
    assert fast.spent_parts == single.spent_parts


def test_many_runs_are_those_of_a_run_begun_again(filtered, gaze):
    law = filtered("kaleido", skip=1)
    short = np.nan_to_num(gaze[:5], nan=300.0)
    run = law.start(randomness(7))
    slow = []
    for _ in range(30):
        run.begin()
        slow.append(np.stack(run.push_many(*short.T), axis=1) / law.step)
    # Compiled it is the same, which `make proof` looks at.
    assert np.array_equal(law.start(randomness(7)).repeated(short, 30), slow)


@every_filter
def test_a_run_goes_on_where_it_was_saved(filtered, gaze, name):
    law = filtered(name)
    before, after = law.start(randomness(7)), law.start(randomness(8))
    before.push_many(*gaze[:50].T)
    after.restore(before.saved())
    assert after.saved() == before.saved()
    assert after.push(math.nan, 0.0) == before.push(math.nan, 0.0)


@every_filter
def test_gaze_far_outside_is_at_the_edge_and_what_is_no_number_is_lost(filtered, name):
    law = filtered(name, window=1)
    runs = [law.start(randomness(7)) for _ in range(2)]
    assert runs[0].push(1e308, -1e308) == runs[1].push(1024.0, 0.0)
    spent = runs[0].spent_parts
    last = runs[0].push(math.nan, 1.0)
    assert runs[0].push(math.inf, 1.0) == runs[0].push(5.0, -math.inf) == last
    assert runs[0].spent_parts == spent
    out = np.stack(law.start(randomness(7)).push_many(*np.full((2, 300), 500.0)))
    assert (out[0] >= 0).all()
    assert (out[0] <= 1024).all()


def test_what_was_spent_is_exact_after_years(filtered):
    run = filtered("sample", window=1).start(randomness(7))
    run.state[SPENT_WHOLE], run.state[SPENT] = 2.0**40, float(WHOLE - 1)
    run.push(1.0, 1.0)
    assert run.spent_parts == (2**40 + 2) * WHOLE - 1


@every_filter
def test_a_person_costs_every_window_and_the_whole_scene(name):
    law = mechanism(name, epsilon=2.0, window=60, radius=50.0, scene="0,0,1920,1080")
    shape = Shape(people=1, recordings=3, length=601, features=2, window=1)
    radii = math.hypot(1920, 1080) / 50
    assert law.cost(shape, law.unit).epsilon == 2.0
    assert law.cost(shape, PERSON).epsilon == pytest.approx(3 * 11 * 2.0 * radii)
    assert law.cost(shape, RECORDING).epsilon == pytest.approx(11 * 2.0 * radii)
    # Two windows of gaze, moved three times as far.
    assert law.cost(shape, Unit("event", 61, 150.0)).epsilon == pytest.approx(2 * 2.0 * 3)
    with pytest.raises(Refused, match="does not offer the unit 'chunk:60'"):
        law.cost(shape, Unit("chunk", 60))


@every_filter
def test_the_score_is_the_likelihood_ratio(name):
    # Under one of two neighbours its exponential is 1 on average; 6 standard errors, seed fixed.
    law = next(find(name).set_for_games())
    (pair,) = law.neighbour_pairs(law.unit)
    ratio = np.exp(law.score(law.play(pair.one, pair.shape, 4000, randomness(7)), pair))
    assert abs(ratio.mean() - 1) < 6 * ratio.std() / math.sqrt(len(ratio))
    assert np.log(ratio).max() <= law.epsilon
    assert ratio.std() > 0.3


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"window": 0}, "window must be a whole number of samples between 1 and"),
        ({"window": 2.5}, "window must be a whole number of samples"),
        ({"radius": 0.0}, "radius must be positive and finite, got 0"),
        ({"radius": math.inf}, "radius must be positive and finite, got inf"),
        ({"radius": 1e-6}, "radius 1e-06 is next to nothing in a scene of 0,0,1024,768"),
        ({"epsilon": 1e-7}, "asks for more noise than there are numbers for"),
    ],
)
def test_settings_that_make_no_sense_are_refused(filtered, parameters, text):
    with pytest.raises(InputError, match=text):
        filtered("bd", **parameters)


def test_where_there_are_no_tests_noise_has_no_end(filtered):
    # So much that outputs are corners, and no number overflows.
    law = filtered("uniform", epsilon=1e-100)
    x, _ = law.start(randomness(7)).push(512.0, 384.0)
    assert x in (0.0, 1024.0)
