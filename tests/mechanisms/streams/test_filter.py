"""What all filters with a budget have in common."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError, Refused
from eyelid.mechanisms import PublicFacts, find, mechanism_named
from eyelid.mechanisms.streams import draws
from eyelid.mechanisms.streams import filter_run as filters
from eyelid.mechanisms.streams.draws import BLOCK, Ahead, own_sources
from eyelid.mechanisms.streams.filter_run import FilterRun
from eyelid.mechanisms.streams.state import (
    PLANES_USED,
    PUBLISH_PARTS,
    SCALE_PARTS,
    SPENT,
    SPENT_WHOLE,
    STATE_SIZE,
    TESTS_USED,
    WHOLE,
)
from eyelid.privacy import PERSON, RECORDING, Unit
from eyelid.privacy.noise import SystemRandomness, randomness
from eyelid.privacy.noise.continuous import planar
from eyelid.verification.streams import seen_to_spend

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
    mechanism = mechanism_named(
        name, **told, **({"skip": min(skip, window)} if name == "kaleido" else {})
    )
    run = mechanism.start(SystemRandomness())
    gaze = np.stack([3.0 * np.array(radii)] * 2, axis=1)
    cost = mechanism.reach_steps / mechanism.test_scale_steps if mechanism.test_parts else 0.0
    spent = seen_to_spend(run, gaze, Told(outcomes), mechanism.reach_steps, cost)
    windows = np.convolve(spent, np.ones(window))
    assert windows.max() <= epsilon * (1 + 1e-5)
    # The meter tells no less, and never more than is promised.
    assert windows.max() / epsilon - 1e-5 <= run.worst_parts / WHOLE <= 1


def settled(run, monkeypatch):
    """The draws of a run that floating point did not settle, as they are."""
    asked, settle = [], run.planes.settle
    monkeypatch.setattr(run.planes, "settle", lambda *given: asked.append(given) or settle(*given))
    return asked


def in_doubt(monkeypatch):
    """Noise of which half must be settled."""

    def doubtful(words):
        x, y, doubt = planar(words)
        return x, y, 2**20 * doubt

    monkeypatch.setattr(draws, "planar", doubtful)


@every_filter
def test_single_samples_arrays_and_compiled_code_give_the_same_stream(
    filtered, gaze, name, monkeypatch
):
    mechanism = filtered(name)
    many = np.tile(gaze, (math.ceil(2200 / len(gaze)), 1))
    single, together, doubtful = (mechanism.start(randomness(7)) for _ in range(3))
    one_by_one = np.array([single.push(*point) for point in many.tolist()])
    monkeypatch.setattr(filters, "_WORTH_COMPILING", math.inf)
    assert np.array_equal(one_by_one, np.stack(together.push_many(*many.T), axis=1))
    assert (single.worst_parts, single.spent_parts) == (together.worst_parts, together.spent_parts)
    in_doubt(monkeypatch)
    asked = settled(doubtful, monkeypatch)
    parts = np.array_split(many, 3)
    slow = [np.array([doubtful.push(*point) for point in parts[0].tolist()]).T]
    slow += [doubtful.push_many(*part.T) for part in parts[1:]]
    assert np.array_equal(one_by_one, np.concatenate(slow, axis=1).T)
    assert len(asked) > 10
    pytest.importorskip("numba")
    monkeypatch.setattr(filters, "_WORTH_COMPILING", 0)
    fast = mechanism.start(randomness(7))
    asked = settled(fast, monkeypatch)
    together = [fast.push_many(*part.T) for part in parts]
    assert np.array_equal(one_by_one, np.concatenate(together, axis=1).T)
    assert fast.spent_parts == single.spent_parts
    assert len(asked) > 10


@pytest.mark.parametrize("doubtful", [False, True], ids=["sure", "in doubt"])
def test_many_runs_are_those_of_a_run_begun_again(filtered, gaze, doubtful, monkeypatch):
    mechanism = filtered("kaleido", skip=1)
    short = np.nan_to_num(gaze[:5], nan=300.0)
    run = mechanism.start(randomness(7))
    slow = []
    for _ in range(30):
        run.begin()
        slow.append(np.stack(run.push_many(*short.T), axis=1) / mechanism.step)
    if doubtful:
        in_doubt(monkeypatch)
    # Compiled it is the same, which `make proof` looks at.
    assert np.array_equal(mechanism.start(randomness(7)).repeated(short, 30), slow)


@pytest.mark.parametrize("name", [*NAMES, "fixations"])
def test_a_question_about_noise_changes_nothing_else(filtered, name, monkeypatch):
    run = filtered(name).start(randomness(7))
    run.planes.ensure(1)
    run.planes.columns[2][2:] = math.inf

    def stop(*given):
        raise Asked(*given)

    monkeypatch.setattr(run.planes, "settle", stop)
    places = np.tile(np.repeat([[300.0, 300.0], [800.0, 600.0]], 30, axis=0), (20, 1)).tolist()
    with pytest.raises(Asked) as question:
        for place in places:
            before, used = run.saved(), (run.tests.used, run.planes.used)
            FilterRun.push(run, *place)
    after = run.saved()
    if name == "fixations":
        # The sample itself is among those that tests look back at.
        after["state"], before["state"] = after["state"][:STATE_SIZE], before["state"][:STATE_SIZE]
    before["state"][TESTS_USED], before["state"][PLANES_USED] = used
    assert after == before
    number, at, scale, most = question.value.args
    assert number == used[1] == 2
    assert at == pytest.approx([part / run.mechanism.step for part in place])
    assert scale >= run.mechanism.scale_parts / run.mechanism.publish_parts
    assert most == run.mechanism.size_steps


class Asked(Exception):
    """A draw was to be settled."""


def on_an_edge(run, words, cell):
    """The scale at which these words bring gaze at the origin to the edge of a cell, nearly."""
    with mpmath.workdps(200):
        one, two, turn = ((mpmath.mpf(word) + 0.5) / 2**64 for word in words)
        radius = -mpmath.log(one) - mpmath.log(two)
        return float((cell + mpmath.mpf(1) / 2) / (radius * mpmath.cospi(2 * turn)))


def test_noise_that_lands_on_the_edge_of_a_cell_is_rounded_as_by_all_its_digits(
    filtered, monkeypatch
):
    mechanism = filtered("uniform", window=1)
    wrong = 0
    for seed in range(60):
        run = mechanism.start(randomness(seed))
        asked = settled(run, monkeypatch)
        run.planes.ensure(1)
        _, source = own_sources(randomness(seed), 2)
        words = source.words(3 * BLOCK).reshape(3, BLOCK)[:, 0].tolist()
        # Into the quarter that the scene is in.
        words[2] >>= 2
        run.planes._kept[0][2, 0] = words[2]
        run.planes.columns = tuple(planar(run.planes._kept[0]))
        cell = 10**8 + seed
        scale = on_an_edge(run, words, cell)
        run._facts[SCALE_PARTS] = scale * run._facts[PUBLISH_PARTS]
        scale = run._facts[SCALE_PARTS] / run._facts[PUBLISH_PARTS]
        x, y = (round(part / mechanism.step) for part in run.push(0.0, 0.0))
        assert len(asked) == 1
        with mpmath.workdps(200):
            one, two, turn = ((mpmath.mpf(word) + 0.5) / 2**64 for word in words)
            radius = -scale * (mpmath.log(one) + mpmath.log(two))
            exact = radius * mpmath.cospi(2 * turn), radius * mpmath.sinpi(2 * turn)
            limits = mechanism.size_steps
            wanted = [
                min(int(mpmath.floor(e + 0.5)), most) for e, most in zip(exact, limits, strict=True)
            ]
            assert abs(exact[0] - cell - 0.5) < 1e-6
        assert [x, y] == wanted
        wrong += math.floor(scale * float(planar(run.planes._kept[0])[0][0]) + 0.5) != wanted[0]
    # Floating point alone would have said otherwise.
    assert wrong > 5


class AtQuarterTurns:
    """Words of planar noise that goes straight up, to 51 bits: to either side by chance."""

    name, private = "at quarter turns", False

    def __init__(self, seed):
        self.rng = randomness(seed)

    def words(self, count):
        words = self.rng.words(count)
        if count % (3 * BLOCK) == 0:
            turns = words.reshape(-1, 3, BLOCK)[:, 2]
            turns[:] = np.uint64(2**62 - 2**12) + (turns >> np.uint64(51))
        return words


def test_an_attack_by_directions_that_52_bits_cannot_take():
    """What was released beside gaze came from its neighbour, many times as often.

    No direction of 52 bits, offset by half a bit, is straight up. So noise so wide that these bits
    show in a scene, as tiny ε ask for, missed gaze itself, where both must be as likely. So few
    outputs land there at all that their directions are given here.
    """
    mechanism = mechanism_named("uniform", epsilon=1e-14, window=1, radius=1.0, scene="-2,-2,2,2")
    beside, apart = 2**15 * mechanism.step, 2**19 * mechanism.step
    assert apart < mechanism.radius
    runs = [mechanism.start(AtQuarterTurns(seed)) for seed in range(2)]
    # So few at once that nothing is compiled for them.
    shown = [
        np.concatenate([run.push_many(np.full(1000, place), np.zeros(1000))[0] for _ in range(2)])
        for run, place in zip(runs, (0.0, apart), strict=True)
    ]
    from_gaze, from_neighbour = (int((np.abs(x) <= beside).sum()) for x in shown)
    assert from_neighbour > 10
    assert from_neighbour < 3 * from_gaze


@every_filter
def test_a_run_goes_on_where_it_was_saved(filtered, gaze, name):
    mechanism = filtered(name)
    before, after = mechanism.start(randomness(7)), mechanism.start(randomness(8))
    before.push_many(*gaze[:50].T)
    after.restore(before.saved())
    assert after.saved() == before.saved()
    assert after.push(math.nan, 0.0) == before.push(math.nan, 0.0)


@every_filter
def test_gaze_far_outside_is_at_the_edge_and_what_is_no_number_is_lost(filtered, name):
    mechanism = filtered(name, window=1)
    runs = [mechanism.start(randomness(7)) for _ in range(2)]
    assert runs[0].push(1e308, -1e308) == runs[1].push(1024.0, 0.0)
    spent = runs[0].spent_parts
    last = runs[0].push(math.nan, 1.0)
    assert runs[0].push(math.inf, 1.0) == runs[0].push(5.0, -math.inf) == last
    assert runs[0].spent_parts == spent
    out = np.stack(mechanism.start(randomness(7)).push_many(*np.full((2, 300), 500.0)))
    assert (out[0] >= 0).all()
    assert (out[0] <= 1024).all()


def test_what_was_spent_is_exact_after_years(filtered):
    run = filtered("sample", window=1).start(randomness(7))
    run.state[SPENT_WHOLE], run.state[SPENT] = 2.0**40, float(WHOLE - 1)
    run.push(1.0, 1.0)
    assert run.spent_parts == (2**40 + 2) * WHOLE - 1


@every_filter
def test_a_person_costs_every_window_and_the_whole_scene(name):
    mechanism = mechanism_named(name, epsilon=2.0, window=60, radius=50.0, scene="0,0,1920,1080")
    facts = PublicFacts(people=1, recordings=3, length=601, features=2, window=1)
    radii = math.hypot(1920, 1080) / 50
    assert mechanism.cost(facts, mechanism.unit).epsilon == 2.0
    assert mechanism.cost(facts, PERSON).epsilon == pytest.approx(3 * 11 * 2.0 * radii)
    assert mechanism.cost(facts, RECORDING).epsilon == pytest.approx(11 * 2.0 * radii)
    # Two windows of gaze, moved three times as far.
    assert mechanism.cost(facts, Unit("event", 61, 150.0)).epsilon == pytest.approx(2 * 2.0 * 3)
    with pytest.raises(Refused, match="does not offer the unit 'chunk:60'"):
        mechanism.cost(facts, Unit("chunk", 60))


@every_filter
def test_the_score_is_the_likelihood_ratio(name):
    # Under one of two neighbours its exponential is 1 on average; 6 standard errors, seed fixed.
    mechanism = next(find(name).set_for_games())
    (pair,) = mechanism.neighbour_pairs(mechanism.unit)
    ratio = np.exp(mechanism.score(mechanism.play(pair.one, pair.facts, 4000, randomness(7)), pair))
    assert abs(ratio.mean() - 1) < 6 * ratio.std() / math.sqrt(len(ratio))
    assert np.log(ratio).max() <= mechanism.epsilon
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
    mechanism = filtered("uniform", epsilon=1e-100)
    x, _ = mechanism.start(randomness(7)).push(512.0, 384.0)
    assert x in (0.0, 1024.0)
