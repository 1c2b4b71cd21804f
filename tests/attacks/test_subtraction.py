import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.subtraction import subtract, subtraction
from eyelid.errors import InputError
from eyelid.privacy import laplace_noise


@given(st.integers(2, 60), st.integers(0, 2**32 - 1), st.sampled_from(["mean", "sum"]))
def test_an_exact_aggregate_gives_the_last_person_back(people, seed, of):
    everybody = np.random.default_rng(seed).uniform(-5, 5, (people, 7))
    aggregate = everybody.mean(axis=0) if of == "mean" else everybody.sum(axis=0)
    assert subtract(aggregate, everybody[1:], of) == pytest.approx(everybody[0], abs=1e-10)
    assert subtraction(aggregate, everybody, span=10.0, of=of).exact


def test_a_heatmap_gives_a_person_s_own_map_back():
    maps = np.random.default_rng(1).poisson(0.3, (12, 24, 32)).astype(float)
    returned = subtract(maps.mean(axis=0), maps[:-1])
    assert np.array_equal(np.rint(returned), maps[-1])


def test_the_error_is_the_number_of_people_times_the_noise():
    """And the same whoever is left: here each is left in turn, by hand."""
    rng = np.random.default_rng(2)
    people, spans = rng.uniform(0, [1.0, 10.0], (20, 2)), np.array([1.0, 10.0])
    noise = rng.normal(size=2) * spans
    aggregate = people.mean(axis=0) + noise
    found = subtraction(aggregate, people, spans)
    for left in range(20):
        error = subtract(aggregate, np.delete(people, left, axis=0)) - people[left]
        assert np.sqrt(np.mean((error / spans) ** 2)) == pytest.approx(found.rmse_of_span)
    assert found.rmse_of_span == pytest.approx(20 * np.sqrt(np.mean((noise / spans) ** 2)))


def test_sound_noise_tells_less_than_the_others_do():
    """A mean over 20 people of 50 values, Laplace at ε = 1: scale 50/20 spans per value."""
    people = np.random.default_rng(3).uniform(0, 1, (20, 50))
    noisy = people.mean(axis=0) + laplace_noise(50 / 20, 50, rng=4)
    found = subtraction(noisy, people)
    # Twenty times the noise: 50 spans of scale, a standard deviation of 71.
    assert 40 < found.rmse_of_span < 110
    assert not found.learned
    assert not found.exact


def test_the_blind_guess_is_the_mean_of_the_others():
    people = np.array([[0.0], [1.0], [5.0]])
    guesses = [np.delete(people, i, axis=0).mean() - people[i, 0] for i in range(3)]
    found = subtraction([2.0], people)
    assert found.blind_rmse_of_span == pytest.approx(np.sqrt(np.mean(np.square(guesses))))


def test_real_people_come_back_from_the_mean_of_a_study(real_windows):
    means = real_windows.data.group_by("person", maintain_order=True).agg(
        pl.col(real_windows.names).mean()
    )
    people = means.select(real_windows.names).fill_null(0).fill_nan(0).to_numpy()
    spans = np.array([f.span for f in real_windows.features])
    found = subtraction(people.mean(axis=0), people, spans)
    assert found.people == 20
    assert found.exact
    assert found.learned


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"shape \(3,\) and the people \(4, 2\)"):
        subtract(np.zeros(3), np.zeros((4, 2)))
    with pytest.raises(InputError, match="missing values"):
        subtraction([np.nan], [[1.0], [2.0]])
    with pytest.raises(InputError, match="an aggregate of 1 people has no others"):
        subtraction([1.0], [[1.0]])
