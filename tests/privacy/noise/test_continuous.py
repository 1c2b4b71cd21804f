"""Spherical and planar Laplace noise: its law, its rounding, and attacks on how it is computed."""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaincinv

from eyelid.privacy.noise import continuous, randomness
from eyelid.privacy.noise.continuous import (
    SphericalLaplace,
    planar,
    rounded_spherical,
    settled_planar,
)

DIGITS = 200


class Leading:
    """Words whose leading bits are given, the others random."""

    name, private = "leading", False

    def __init__(self, bits, count, seed):
        self.mask, self.bits = np.uint64(2**64 - 2 ** (64 - count)), np.uint64(bits)
        self.rng = randomness(seed)

    def words(self, count):
        return (self.rng.words(count) & ~self.mask) | (self.bits & self.mask)


class Recorded:
    """A source that remembers what it gave, and begins as it is told to."""

    name, private = "recorded", False

    def __init__(self, seed, *first):
        self.rng, self.given, self.first = randomness(seed), [], list(first)

    def words(self, count):
        words = self.rng.words(count)
        if self.first:
            words = np.array(self.first.pop(0), dtype=np.uint64)
        self.given.append(words.tolist())
        return words

    @property
    def numbers(self):
        """The uniform numbers that all words are digits of, one word of each after the other."""
        with mpmath.workdps(DIGITS):
            return [
                mpmath.fsum(mpmath.ldexp(word, -64 * (i + 1)) for i, word in enumerate(words))
                + mpmath.ldexp(0.5, -64 * len(words))
                for words in zip(*self.given, strict=True)
            ]


def planar_oracle(numbers, scale):
    """Noise of three uniform numbers, to 200 digits."""
    with mpmath.workdps(DIGITS):
        one, two, turn = numbers
        radius = -scale * (mpmath.log(one) + mpmath.log(two))
        return radius * mpmath.cospi(2 * turn), radius * mpmath.sinpi(2 * turn)


def spherical_oracle(numbers, scale, dimension):
    """A vector from its uniform numbers, to 200 digits: exponentials, pairs, directions."""
    with mpmath.workdps(DIGITS):
        shared, pairs = (dimension + 1) // 2, dimension // 2 + 1
        energies = [-2 * mpmath.log(number) for number in numbers[: shared + pairs]]
        normals = []
        for energy, turn in zip(energies[shared:], numbers[shared + pairs :], strict=True):
            normals += [
                mpmath.sqrt(energy) * mpmath.cospi(2 * turn),
                mpmath.sqrt(energy) * mpmath.sinpi(2 * turn),
            ]
        mixing = mpmath.fsum(energies[:shared])
        if dimension % 2 == 0:
            mixing += normals[dimension] ** 2
        return [scale * mpmath.sqrt(mixing) * normal for normal in normals[:dimension]]


def nearest(number):
    with mpmath.workdps(DIGITS):
        return int(mpmath.floor(number + 0.5))


def on_52_bits(steps, scale):
    """Which numbers a length made of 52 random bits can be, by trying the bits next to each."""
    about = np.floor(-np.expm1(-np.abs(steps) / scale) * 2.0**52)
    tried = (about[:, None] + np.arange(-4, 5) + 0.5) * 2.0**-52
    lengths = np.rint(scale * gammaincinv(1, np.clip(tried, 0.0, 1 - 2.0**-53)))
    return (lengths == np.abs(steps)[:, None]).any(axis=1)


def test_an_attack_by_lengths_that_52_bits_cannot_reach():
    """Far out, an output showed which of two neighbours it came from, with certainty.

    A uniform number of 52 bits reaches every 2⁻²⁰/p-th step where noise of 2³² steps has a tail of
    probability p: at p = 10⁻⁶ the first are left out, and here, at 2⁻²⁴, 15 of 16 are.
    """
    scale, leading = 2**32, 24
    mechanism = SphericalLaplace(scale, 1)
    # The tail takes too long to wait for: it is where some leading bits are all 0, or all 1.
    drawn = [
        mechanism.draw((400, 1), Leading(bits, leading, seed)).ravel()
        for seed, bits in enumerate((0, 2**64 - 1))
    ]
    noise = np.concatenate(drawn)
    noise = noise[np.abs(noise) > 16 * scale]
    assert len(noise) >= 400
    gaze, neighbour = 1000, 1000 + scale
    released = gaze + noise
    from_gaze, from_neighbour = (
        on_52_bits(released - place, scale).mean() for place in (gaze, neighbour)
    )
    # Before, all came from gaze, and 1 of 16 could have come from its neighbour.
    assert abs(from_gaze - from_neighbour) < 0.2


@pytest.mark.parametrize("scale", [1.0, 2.0**31, 2.0**90, 1e150])
def test_planar_noise_is_settled_as_by_all_digits(scale):
    where = (2.0**40 + 0.5, 3.25)
    for seed in range(20):
        source = Recorded(seed)
        words = source.words(3)
        limits = (10**200, 10**200)
        found = settled_planar(words, source, where, scale, limits)
        noise = planar_oracle(source.numbers, mpmath.mpf(scale))
        with mpmath.workdps(DIGITS):
            wanted = [max(0, nearest(at + by)) for at, by in zip(where, noise, strict=True)]
        assert list(found) == wanted
        # The more steps there are, the more bits it takes, but for points below all limits.
        assert max(found) == 0 or 64 * len(source.given) >= math.log2(scale)


def test_planar_noise_ends_where_it_is_told_to():
    words = np.full(3, 2**62, dtype=np.uint64)
    assert settled_planar(words, randomness(1), (5.0, 5.0), 1e9, (20, 30)) == (5, 30)
    assert settled_planar(words + np.uint64(2**63), randomness(1), (5.0, 5.0), 1e9, (20, 30)) == (
        5,
        0,
    )


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 9, 70])
@pytest.mark.parametrize("scale", [2.0**50, 2.0**100], ids=["2^50", "2^100"])
def test_spherical_noise_is_settled_as_by_all_digits(dimension, scale):
    every = list(range(dimension))
    for seed in range(4):
        source = Recorded(seed)
        words = source.words((dimension + 1) // 2 + 2 * (dimension // 2 + 1))
        found = continuous._settled_spherical(words, source, scale, dimension, every)
        wanted = spherical_oracle(source.numbers, mpmath.mpf(scale), dimension)
        assert found == [nearest(number) for number in wanted]
        assert 64 * len(source.given) >= math.log2(scale)


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_floating_point_alone_settles_nearly_all_and_rightly(dimension, monkeypatch):
    asked = []
    settle = continuous._settled_spherical
    monkeypatch.setattr(
        continuous, "_settled_spherical", lambda *given: asked.append(given[-1]) or settle(*given)
    )
    source = Recorded(3)
    words = source.words(2000 * ((dimension + 1) // 2 + 2 * (dimension // 2 + 1)))
    found = rounded_spherical(2.0**36, dimension, 2000, Recorded(4, words))
    assert 0 < sum(map(len, asked)) < 0.02 * found.size
    for row, some in zip(found[:100], words.reshape(2000, -1).tolist(), strict=False):
        with mpmath.workdps(DIGITS):
            numbers = [(mpmath.mpf(word) + 0.5) / 2**64 for word in some]
        wanted = spherical_oracle(numbers, mpmath.mpf(2) ** 36, dimension)
        assert row.tolist() == [nearest(number) for number in wanted]


def extreme_words():
    """Words that are tiny, next to all ones, at quarter turns, and any; 3 × draws."""
    rng = np.random.default_rng(5)
    special = [1, 2, 3, 2**11, 2**40, 2**62, 2**63, 3 * 2**62, 2**64 - 2**11, 2**64 - 1]
    special += [word - 1 for word in special if word > 3]
    some = rng.choice(np.array(special, dtype=np.uint64), (3, 300))
    return np.concatenate([some, rng.integers(0, 2**64, (3, 300), dtype=np.uint64)], axis=1)


def test_no_error_of_floating_point_is_half_of_what_is_allowed_for():
    """Of this platform's functions; what follows the words is in the other half."""
    words = extreme_words()
    x, y, doubt = planar(words)
    for i, some in enumerate(words.T.tolist()):
        with mpmath.workdps(DIGITS):
            ideal = planar_oracle([(mpmath.mpf(word) + 0.5) / 2**64 for word in some], 1)
            off = max(abs(ideal[0] - float(x[i])), abs(ideal[1] - float(y[i])))
            assert off <= doubt[i] / 2


def test_what_follows_a_word_is_within_the_doubt():
    words = extreme_words()
    x, y, doubt = planar(words)
    for i, some in enumerate(words.T.tolist()):
        for end in (1e-9, 1 - 1e-9):
            with mpmath.workdps(DIGITS):
                ideal = planar_oracle([(mpmath.mpf(word) + end) / 2**64 for word in some], 1)
                off = max(abs(ideal[0] - float(x[i])), abs(ideal[1] - float(y[i])))
                assert off <= doubt[i]


def test_a_word_of_zeros_is_no_end_of_the_noise():
    words = np.zeros((3, 1), dtype=np.uint64)
    assert planar(words)[2].tolist() == [math.inf]
    source = Recorded(1)
    source.given.append([0, 0, 0])
    x, y = settled_planar(words[:, 0], source, (0.0, 0.0), 1.0, (10**6, 10**6))
    assert (x, y) == tuple(map(nearest, planar_oracle(source.numbers, 1)))
    # Farther than 64 bits go.
    assert x > 2 * 64 * math.log(2)
    zeros = Recorded(2, [0] * 5)
    (found,) = rounded_spherical(1.0, 2, 1, zeros)
    wanted = spherical_oracle(zeros.numbers, mpmath.mpf(1), 2)
    assert found.tolist() == [nearest(number) for number in wanted]


@pytest.mark.parametrize("dimension", [1, 2, 4, 5])
def test_coordinates_are_those_of_the_law_one_by_one(dimension):
    """Lengths and directions are looked at elsewhere; here each coordinate's square, with its mean.

    E z⁴ of a coordinate is 3(K + 1)(K + 3): six standard errors, the seed is fixed.
    """
    count = 60_000
    draws = rounded_spherical(2.0**20, dimension, count, randomness(6)) / 2.0**20
    spread = math.sqrt((3 * (dimension + 1) * (dimension + 3) - (dimension + 1) ** 2) / count)
    assert (np.abs((draws**2).mean(axis=0) - (dimension + 1)) < 6 * spread).all()
    if dimension > 1:
        signs = np.sign(draws[:, 0]) == np.sign(draws[:, 1])
        assert stats.binomtest(int(signs.sum()), count).pvalue > 1e-6
