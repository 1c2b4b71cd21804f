from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.papers.bozkir2021.fourier_noise import (
    Pieces,
    Scores,
    TaskNoise,
    Treatment,
    candidates,
    least_nmse,
    nmse,
)
from eyelid.papers.paper_mechanism import together
from eyelid.privacy import randomness


def plain_noisy(piece, draws, k, scale, treatment):
    """One piece made noisy as a person would write it down: transform, add, cut off, invert."""
    length = len(piece)
    spectrum = np.fft.rfft(np.diff(piece, prepend=0.0) if treatment.differenced else piece)
    first = 0 if treatment.noisy_mean else 1
    draw = iter(draws)
    for j in range(first, first + k):
        if j == 0 or 2 * j == length:
            spectrum[j] += scale * next(draw)
        else:
            spectrum[j] += scale * (next(draw) + 1j * next(draw))
    spectrum[first + k :] = 0
    noisy = np.fft.irfft(spectrum, n=length)
    return noisy.cumsum() if treatment.differenced else noisy


@given(
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
    st.floats(0.01, 100),
    st.integers(0, 2**32 - 1),
)
def test_errors_and_sums_are_those_of_the_noisy_piece(length, differenced, noisy, epsilon, seed):
    rng = np.random.default_rng(seed)
    treatment = Treatment(differenced, noisy)
    ks = [k for k in candidates(length, treatment) if k <= treatment.most(length)]
    if not ks:
        return
    values = rng.normal(3.0, 1.0, size=(2, 3, length))
    delta = rng.uniform(0.1, 5.0, size=3)
    draws = rng.laplace(size=(4, 2, 3, length))
    pieces = Pieces.of(values, treatment, ks, delta)
    squares, sums = pieces.outcome(pieces.respond(draws), epsilon)
    for run, person, feature, index in np.ndindex(4, 2, 3, len(ks)):
        scale = np.sqrt(length * ks[index]) * delta[feature] / epsilon
        x, z = values[person, feature], draws[run, person, feature]
        made = plain_noisy(x, z, ks[index], scale, treatment)
        at = (run, person, feature, index)
        assert squares[at] == pytest.approx(((made - x) ** 2).sum(), rel=1e-7, abs=1e-9)
        assert sums[at] == pytest.approx(made.sum(), rel=1e-7, abs=1e-7)


def test_the_chosen_candidates_are_picked_out():
    rng = np.random.default_rng(1)
    values, draws = rng.normal(size=(2, 3, 16)), rng.laplace(size=(5, 2, 3, 16))
    for differenced in (False, True):
        pieces = Pieces.of(values, Treatment(differenced), (1, 4, 9), np.ones(3))
        response = pieces.respond(draws)
        everything = pieces.outcome(response, 2.0)
        chosen = np.array([2, 0, 1])
        for whole, picked in zip(everything, pieces.outcome(response, 2.0, chosen), strict=True):
            np.testing.assert_allclose(picked, whole[:, :, np.arange(3), chosen])


def test_a_mean_without_noise_stays_where_it_is():
    values = np.random.default_rng(2).normal(size=(1, 1, 32))
    pieces = Pieces.of(values, Treatment(noisy_mean=False), (1, 5, 16), np.ones(1))
    draws = np.random.default_rng(3).laplace(size=(7, 1, 1, 32))
    _, sums = pieces.outcome(pieces.respond(draws), 0.1)
    np.testing.assert_allclose(sums, values.sum())


def test_nmse_is_that_of_the_audit(wandering):
    from eyelid.attacks.error import error_of
    from eyelid.mechanisms import mechanism_named
    from eyelid.papers.signals import signals_of
    from eyelid.privacy import randomness

    table = wandering()
    released = mechanism_named("lpa-paper", epsilon=50.0).apply(table, randomness(4))
    ours = []
    for x, y in zip(signals_of(table), signals_of(released), strict=True):
        squares = ((x.values - y.values) ** 2).sum(axis=2)
        ours.append(nmse(squares, y.values.sum(axis=2), x.values.sum(axis=2), 70.0))
    assert error_of(table, released).nmse == pytest.approx(np.mean(ours))


def test_candidates_are_powers_of_two_and_all():
    assert candidates(128, Treatment()) == (1, 2, 4, 8, 16, 32, 64, 65)
    assert candidates(32, Treatment(noisy_mean=False)) == (1, 2, 4, 8, 16)
    assert candidates(1, Treatment()) == candidates(1, Treatment(noisy_mean=False)) == (1,)


@pytest.fixture
def signals():
    rng = np.random.default_rng(5)
    return together(rng.uniform(2, 8, size=(3, 2, 1)) + rng.normal(size=(3, 2, 50)).cumsum(axis=2))


@pytest.mark.parametrize(
    "treatment", [Treatment(d, m) for d in (False, True) for m in (False, True)]
)
def test_without_noise_all_coefficients_give_the_signals_back(signals, treatment):
    task = TaskNoise.of(signals, 16, treatment, (treatment.most(16),))
    found = task.randomised(np.zeros((2, 4), dtype=int), 1e15, 2, randomness(0))
    np.testing.assert_allclose(found, np.stack([signals.values] * 2), atol=1e-9)


@pytest.mark.parametrize(
    "treatment", [Treatment(d, m) for d in (False, True) for m in (False, True)]
)
def test_released_signals_have_the_error_that_the_choice_of_k_counts_on(signals, treatment):
    """Two ways to the same mean squared error; 4 000 runs are within 10% but once in 10⁵ times."""
    task = TaskNoise.of(signals, 16, treatment, (2,))
    chosen, runs = np.zeros((2, 4), dtype=int), 4_000
    released = task.randomised(chosen, 0.5, runs, randomness(1))
    measured = ((released - signals.values) ** 2).sum(axis=3).mean(axis=0)
    draws = np.random.default_rng(2).laplace(size=(runs, 3, 2, 50))
    counted = np.zeros((3, 2))
    for block in task.blocks:
        squares, _ = block.pieces.outcome(block.respond(draws), 0.5, chosen[:, block.chunk])
        counted[block.recordings] += squares.mean(axis=0)
    np.testing.assert_allclose(measured, counted, rtol=0.1)


def test_chunks_are_cut_where_each_recording_ends(signals):
    lengths = np.array([50, 33, 20])
    values = np.where(np.arange(50) < lengths[:, None, None], signals.values, 0.0)
    short = replace(signals, values=values, lengths=lengths)
    task = TaskNoise.of(short, 16, Treatment(), (1,))
    seen = {(b.first, b.pieces.values.shape[2]): b.recordings.tolist() for b in task.blocks}
    assert seen == {
        (0, 16): [0, 1, 2],
        (16, 16): [0, 1],
        (16, 4): [2],
        (32, 16): [0],
        (32, 1): [1],
        (48, 2): [0],
    }
    found = task.randomised(np.zeros((2, 4), dtype=int), 1.0, 1, randomness(3))[0]
    assert not found[1, :, 33:].any()
    assert not found[2, :, 20:].any()


def test_the_best_k_is_small_under_much_noise_and_large_under_little(signals):
    task = TaskNoise.of(signals, 16, Treatment(), (1, 2, 4, 8, 9))
    assert (least_nmse(task, 1e-3, 50, randomness(4)) == 0).all()
    full = least_nmse(task, 1e9, 50, randomness(4))[:, :3]
    assert (full >= 3).all()


def test_batches_of_runs_add_up_to_the_whole(signals):
    task = TaskNoise.of(signals, 16, Treatment(True), (1, 4, 9))
    draws = np.random.default_rng(6).laplace(size=(6, 3, 2, 50))
    whole, parts = Scores(task, (0.5, 5.0)), Scores(task, (0.5, 5.0))
    whole.add(draws)
    parts.add(draws[:2])
    parts.add(draws[2:])
    assert (whole.best() == parts.best()).all()


def test_signals_whose_mean_is_zero_have_no_say_in_k(signals):
    nothing = replace(signals, values=np.zeros_like(signals.values))
    task = TaskNoise.of(nothing, 16, Treatment(), (1, 4, 9))
    assert (least_nmse(task, 1.0, 10, randomness(7)) == 0).all()


def plain_fpa(signals, k, epsilon):
    """FPA of one feature as the paper has it, every draw of the noise being 1.

    "n denotes the maximum length of the observation vectors": one scale for everybody.
    """
    n = max(len(x) for x in signals)
    padded = [np.pad(x, (0, n - len(x))) for x in signals]
    delta = max(np.linalg.norm(p - q) for p in padded for q in padded)
    scale = np.sqrt(n) * np.sqrt(k) * delta / epsilon
    released = []
    for x in signals:
        spectrum = np.zeros(len(x), dtype=complex)
        spectrum[:k] = np.fft.fft(x)[:k] + scale * (1 + 1j)
        spectrum[0] = spectrum[0].real
        spectrum[len(x) - k + 1 :] = spectrum[1:k][::-1].conj()
        released.append(np.fft.ifft(spectrum).real)
    return released


@pytest.mark.parametrize("k", [1, 3])
def test_everybody_has_the_scale_of_the_longest_signal(monkeypatch, k):
    """The mechanism itself on signals of unequal lengths, against a plain one."""
    from eyelid.gaze.study import Feature
    from eyelid.gaze.table import table_from_arrays
    from eyelid.mechanisms import mechanism_named
    from eyelid.papers.bozkir2021 import fourier_noise

    lengths = (23, 16, 9)
    rng = np.random.default_rng(8)
    signals = [rng.normal(5, 1, size=rows).cumsum() for rows in lengths]
    whole = np.stack([np.pad(x, (0, max(lengths) - len(x))) for x in signals])
    table = table_from_arrays(whole[:, None, :, None], [Feature("rate", "1", "", -1e3, 1e3)])
    row = np.tile(np.arange(max(lengths)), len(lengths))
    own = row < np.repeat(lengths, max(lengths))
    table = replace(table, data=table.data.filter(own))
    monkeypatch.setattr(fourier_noise, "laplaces", lambda facts, noise: np.ones(facts))
    released = mechanism_named("fpa-paper", epsilon=0.5, k=k).apply(table, randomness(0))
    wanted = np.concatenate(plain_fpa(signals, k, 0.5))
    np.testing.assert_allclose(released.data["rate"].to_numpy(), wanted)


def test_a_short_last_chunk_has_the_scale_of_the_longest_at_its_place(signals):
    lengths = np.array([50, 41, 20])
    values = np.where(np.arange(50) < lengths[:, None, None], signals.values, 0.0)
    task = TaskNoise.of(replace(signals, values=values, lengths=lengths), 16, Treatment(), (1, 4))
    scales = {}
    for block in task.blocks:
        scales.setdefault(block.chunk, []).append(block.pieces.spread)
    for chunk, own in scales.items():
        rows = min(16, 50 - 16 * chunk)
        # Of two values in the last chunk, two coefficients can be kept.
        ks = np.minimum((1, 4), rows // 2 + 1)
        wanted = task.sensitivity[:, [chunk]] * np.sqrt(rows * ks)
        for spread in own:
            np.testing.assert_allclose(spread, wanted)
