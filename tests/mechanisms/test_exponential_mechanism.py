"""The exponential mechanism in integers, and k chosen with it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.override import override
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import PublicFacts, find, mechanism_named
from eyelid.mechanisms.exponential_mechanism import choose, log_chances
from eyelid.mechanisms.records.fourier import first_coefficients
from eyelid.privacy import PERSON, RECORDING, randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.game import attack_digits, play
from eyelid.verification.sensitivity import fuzz

NAMES = ["fpa", "cfpa", "dcfpa"]


def build(name, **parameters):
    return mechanism_named(name, **{"epsilon": 1.0, "k": "private"} | parameters)


def for_games(name, unit="person"):
    return mechanism_named(name, **find(name).private_game, unit=unit)


def table(values):
    features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(values.shape[-1])]
    return table_from_arrays(values, features)


@pytest.mark.parametrize("scale", [1, 7, 2**36])
@pytest.mark.parametrize(
    "relative", [[0.0], [0.0, 1.0], [2.0, 0.5, 0.0], [0.0] * 5, [3.0, 1.0, 0.2, 0.0, 0.0, 1.0, 9.0]]
)
def test_candidates_come_as_often_as_they_should(scale, relative):
    """Chi-square over 40 000 draws; false alarms 1e-6 each, the seed is fixed."""
    from scipy.special import softmax
    from scipy.stats import chisquare

    costs = np.rint(np.array(relative) * scale).astype(np.int64) + 17
    drawn = choose(np.broadcast_to(costs, (40_000, costs.size)), scale, randomness(3))
    chances = softmax(-costs / scale)
    np.testing.assert_allclose(np.exp(log_chances(costs, scale)), chances, rtol=1e-9)
    seen = np.bincount(drawn, minlength=costs.size)
    often = chances * drawn.size >= 5
    assert seen[~often].sum() <= 40
    if often.sum() > 1:
        wanted = chances[often] / chances[often].sum() * seen[often].sum()
        assert chisquare(seen[often], wanted).pvalue > 1e-6


def test_every_row_has_its_own_choice():
    costs = np.full((3, 4, 5), 900)
    costs[..., 2] = 0
    costs[1, 2] = [0, 900, 900, 900, 900]
    drawn = choose(costs, 3, randomness(1))
    assert drawn.shape == (3, 4)
    assert drawn[1, 2] == 0
    assert (np.delete(drawn.ravel(), 6) == 2).all()


nested = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 100), min_size=n, max_size=n).map(lambda v: sorted(v)[::-1])] * 2,
        st.lists(st.integers(0, 400), min_size=n, max_size=n),
    )
)


@given(nested)
def test_nested_costs_lose_their_range_once_not_twice(case):
    one, other, public = (np.array(costs) for costs in case)
    ratio = log_chances(one + public, 50) - log_chances(other + public, 50)
    assert np.abs(ratio).max() <= 100 / 50 + 1e-12


def test_costs_that_are_not_nested_lose_it_twice():
    """Why what is cut off must not grow with k, also after rounding."""
    one, other = np.array([100, 0, 0]), np.array([0, 100, 100])
    public = np.array([400, 0, 0])
    ratio = log_chances(one + public, 50) - log_chances(other + public, 50)
    assert np.abs(ratio).max() > 1.9 * 100 / 50


def plain_costs(values, k, name):
    """What a public k cuts off a piece, by numpy's transform alone."""
    source = np.diff(values, prepend=0.0) if name == "dcfpa" else values
    spectrum = np.fft.rfft(source)
    spectrum[k:] = 0
    kept = np.fft.irfft(spectrum, n=len(values))
    return np.linalg.norm(values - (np.cumsum(kept) if name == "dcfpa" else kept))


@pytest.mark.parametrize("name", NAMES)
def test_costs_are_what_is_cut_off_and_the_noise(name):
    mechanism = build(name, epsilon=5.0, **({} if name == "fpa" else {"chunk": 12}))
    facts = PublicFacts(1, 1, 12, 1)
    values = np.random.default_rng(2).random((1, 12, 1))
    candidates = mechanism.candidates(facts)
    assert [each.k for each in candidates] == [1, 2, 4, 7]
    noises = [each.expected_rmse_of_span(facts) * math.sqrt(12) for each in candidates]
    lost = [plain_costs(values[0, :, 0], each.k, name) for each in candidates]
    lost = np.minimum.accumulate(np.minimum(lost, math.sqrt(12) / 2))
    wanted = (lost + noises - noises[0]) / (math.sqrt(12) / 2) * 0.5
    found = mechanism.costs(values, facts)[0, 0, 0] / mechanism.noise(facts).scale
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.1, 0.7])
def test_choice_and_noise_together_lose_no_more_than_epsilon(name, share):
    """From integers: for random and extreme neighbours, whatever k comes out."""
    rng = np.random.default_rng(5)
    mechanism = build(name, epsilon=3.0, choice_share=share, unit=RECORDING)
    facts = PublicFacts(1, 2, 40, 3)
    one, other = (np.rint(rng.random((300, 1, 40, 3)) * 2) / 2 for _ in range(2))
    one[:20], other[10:30] = 0.5, rng.random((20, 1, 1, 1))
    scale = mechanism.noise(facts).scale
    choice, noise = mechanism.shares()
    assert choice + noise == Fraction(3)
    for values in (one, other):
        lost = mechanism.costs(values, facts) - mechanism.costs_of_noise(facts)
        assert (np.diff(lost, axis=-1) <= 0).all()
        assert lost.min() >= 0
        assert lost.max() <= scale * choice / mechanism.blocks(facts, RECORDING)
    chances = [log_chances(mechanism.costs(values, facts), scale) for values in (one, other)]
    of_choice = np.abs(chances[0] - chances[1])
    of_noise = []
    for each in mechanism.candidates(facts):
        moved = np.abs(each.query(one, facts) - each.query(other, facts))
        parts = moved.reshape(300, mechanism.pieces(facts), -1, 3).sum(axis=2)
        of_noise.append(parts[:, None] / scale)
    loss = (of_choice + np.stack(of_noise, axis=-1)).max(axis=-1).sum(axis=(1, 2, 3))
    assert loss.max() <= 3.0
    assert of_choice.max() <= float(choice) / mechanism.blocks(facts, RECORDING)


@given(
    st.sampled_from(NAMES),
    st.floats(1e-3, 1e3),
    st.floats(1e-6, 0.99),
    st.integers(1, 5),
    st.integers(1, 200),
    st.integers(1, 20),
)
def test_the_shares_never_exceed_epsilon(name, epsilon, share, r, n, f):
    mechanism = build(
        name, epsilon=epsilon, choice_share=share, **({} if name == "fpa" else {"chunk": 1})
    )
    facts = PublicFacts(5, r, n, f)
    blocks = mechanism.blocks(facts, PERSON)
    scale = mechanism.noise(facts).scale
    choice = Fraction(math.floor(scale * mechanism.shares()[0] / blocks), scale) * blocks
    noise = max(
        Fraction(each.sensitivity(facts, PERSON)) / scale for each in mechanism.candidates(facts)
    )
    assert choice + noise <= Fraction(repr(epsilon)) * (1 + Fraction(1, 10**12))


def test_smooth_signals_get_few_coefficients_and_detailed_ones_more():
    time = np.arange(64) / 64
    waves = [np.full(64, 0.3), 0.5 + 0.4 * np.sin(2 * np.pi * 3 * time), np.resize([0.0, 1.0], 64)]
    mechanism = build("fpa", epsilon=1e5)
    released = mechanism.apply(table(np.stack(waves, axis=-1)[None, None]), randomness(1))
    found = released.data.select(released.names).to_numpy()
    power = np.abs(np.fft.rfft(found, axis=0)) > 1e-9
    assert [int(np.flatnonzero(column).max()) + 1 for column in power.T] == [1, 4, 33]
    np.testing.assert_allclose(found, np.stack(waves, axis=-1), atol=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_not_chosen_is_zero_and_says_what_was(name):
    mechanism = build(name, epsilon=2.0, **({} if name == "fpa" else {"chunk": 16}))
    facts = PublicFacts(1, 1, 16, 1)
    outputs = mechanism.play(np.zeros((1, 16, 1)), facts, 500, randomness(2))
    pieces = mechanism.prepare(outputs[:, :, None])
    seen = mechanism._choice_seen_in(mechanism.analyse(outputs[:, None, :, None], facts), facts)[
        :, 0, 0, 0
    ]
    for which, each in enumerate(mechanism.candidates(facts)):
        spectrum = np.abs(first_coefficients(pieces, 16)[seen == which, : 16 // 2 + 1, 0])
        assert (spectrum[:, each.k :] < 1e-9 * max(1, spectrum.max(initial=0))).all()
        assert (spectrum[:, : each.k] > 0).all()
    assert len(set(seen.tolist())) > 1


@pytest.mark.parametrize("name", NAMES)
def test_expected_error_is_what_constant_signals_get(name):
    """The standard error of the mean square is about 2%; a draw of k adds to it."""
    mechanism = build(name, epsilon=30.0, **({} if name == "fpa" else {"chunk": 8}))
    values = np.full((3000, 1, 16, 2), 0.5)
    if name == "dcfpa":
        # One coefficient of differences makes a ramp.
        values[:] = (np.arange(16) % 8 + 1)[:, None] / 8
    released = mechanism.apply(table(values), randomness(4))
    error = released.data.select(released.names).to_numpy().reshape(values.shape) - values
    facts = mechanism.facts(table(values[:2]))
    expected = mechanism.expected_rmse_of_span(facts), mechanism.expected_mean_rmse_of_span(facts)
    found = np.sqrt((error**2).mean()), np.sqrt((error.mean(axis=2) ** 2).mean())
    assert found == pytest.approx(expected, rel=0.06)


def test_a_private_k_beats_a_public_one_on_signals_that_need_few_coefficients():
    values = np.random.default_rng(1).random((200, 1, 1, 1)) * np.ones((1, 1, 600, 1))
    errors = {}
    for k in ("public", "private"):
        mechanism = mechanism_named("fpa", epsilon=20.0, k=k)
        released = mechanism.apply(table(values), randomness(5)).data["feature_0"].to_numpy()
        errors[k] = np.sqrt(((released - values.ravel()) ** 2).mean())
    assert errors["private"] < errors["public"] / 3


@pytest.mark.parametrize("name", NAMES)
def test_the_certificate_s_words_state_the_split(name):
    mechanism = build(name, epsilon=2.0, choice_share=0.25, unit=RECORDING)
    facts = PublicFacts(20, 3, 64, 4)
    assert "with ε = 0.5 in total for one recording; the noise has ε = 1.5" in mechanism.sampler(
        facts
    )
    assert "first 1, 2, 4, 8, 16" in mechanism.sampler(facts)
    assert mechanism.parameters()["choice_share"] == 0.25
    assert mechanism.numerics == "exact"
    assert mechanism.cost(facts, RECORDING).epsilon == 2.0
    assert mechanism.cost(facts, PERSON).epsilon == 6.0


@pytest.mark.parametrize("name", NAMES)
def test_the_game_does_not_refute_choice_and_noise(name):
    """False alarms: 1e-6 a game; the seed is fixed.

    Half of ε is for a choice that noise makes one-sided: a game sees less of it than the fuzz.
    """
    mechanism = for_games(name)
    result = play(mechanism, PERSON, 8_000, randomness(7))
    assert not result.refuted
    assert result.lower_bound > 0.4 * result.claimed
    assert not fuzz(mechanism, PERSON, pairs=500).refuted
    pair = list(mechanism.neighbour_pairs(PERSON))[-1]
    assert not attack_digits(mechanism, pair, 5_000, randomness(8)).refuted


@pytest.mark.parametrize("name", NAMES)
def test_a_choice_that_is_not_paid_for_or_not_private_is_caught(name):
    faults = [fault for fault in mutants_of(find(name)) if fault.name.startswith("choice of k")]
    assert {f.name for f in faults} == {
        "choice of k not paid for",
        "choice of k without noise",
        "choice of k on top of ε",
        "choice of k with 4 × its share",
    }
    runs = {"choice of k not paid for": 20_000}
    missed = [f.name for f in faults if not f.caught(runs.get(f.name, 2_000), randomness(3))]
    assert missed == []


def test_leaving_the_noise_out_of_the_costs_is_no_fault():
    """It is what the planted choices have in common, and public."""
    free = {"costs_of_noise": lambda self, facts: np.zeros(2, dtype=np.int64)}
    mechanism = for_games("fpa")
    pairs = list(mechanism.neighbour_pairs(PERSON))[-1:]
    broken = override(mechanism, free | {"neighbour_pairs": lambda self, unit: iter(pairs)})
    assert not play(broken, PERSON, 20_000, randomness(2)).refuted


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 2.0, math.nan])
def test_a_share_that_leaves_nothing_is_named(share):
    with pytest.raises(InputError, match=r"choice_share must be above 0 and at most 0\.99"):
        build("fpa", choice_share=share)


def test_pieces_of_one_value_have_one_candidate():
    mechanism = build("cfpa", chunk=1, epsilon=1e4)
    facts = PublicFacts(2, 1, 3, 1)
    assert [each.k for each in mechanism.candidates(facts)] == [1]
    values = np.array([0.1, np.nan, 5.0]).reshape(1, 1, 3, 1)
    released = mechanism.randomise(np.repeat(values, 2, axis=0), facts, randomness(1))
    np.testing.assert_allclose(released[0, 0, :, 0], [0.1, 0.5, 1.0], atol=0.01)
    assert replace(mechanism, length=2).cost(facts, PERSON).epsilon == 1e4
