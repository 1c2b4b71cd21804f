import numpy as np
import pytest

from eyelid.papers.bozkir2021.fourier_noise import Scores, TaskNoise, Treatment, least_nmse
from eyelid.papers.paper_mechanism import together
from eyelid.privacy import randomness


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
    """Two ways to the same mean squared error; 4 000 runs are within 10 % but once in 10⁵ times."""
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
    from dataclasses import replace

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
    from dataclasses import replace

    nothing = replace(signals, values=np.zeros_like(signals.values))
    task = TaskNoise.of(nothing, 16, Treatment(), (1, 4, 9))
    assert (least_nmse(task, 1.0, 10, randomness(7)) == 0).all()
