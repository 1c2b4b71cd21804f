"""The test of plausible deniability against plain fractions, record by record."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.mechanisms.synthetic import deniability
from eyelid.mechanisms.synthetic.deniability import bucket, plausible_people


def chance(candidate, record, weights, lo, hi):
    """The probability that a record makes a candidate, by the sum over what is kept."""
    total = Fraction(0)
    for kept in range(lo, hi + 1):
        if (candidate[:kept] != record[:kept]).any():
            continue
        product = Fraction(1)
        for j in range(kept, len(candidate)):
            row = weights[j, candidate[j - 1] if j else 0]
            product *= Fraction(int(row[candidate[j]]), int(row.sum()))
        total += product / (hi - lo + 1)
    return total


def plain_bucket(p, gamma):
    base, i = Fraction(repr(gamma)), 0
    while p <= base ** (-i - 1):
        i += 1
    return i


def alike(p, q, gamma):
    if not p or not q:
        return False
    return p == q if gamma == 1 else plain_bucket(p, gamma) == plain_bucket(q, gamma)


def reference(candidates, made_of, seeds, owner, weights, kept, gamma):
    found = []
    for candidate, seed in zip(candidates, made_of, strict=True):
        chances = [chance(candidate, record, weights, *kept) for record in seeds]
        found.append(
            len({o for p, o in zip(chances, owner, strict=True) if alike(p, chances[seed], gamma)})
        )
    return found


def case(seed, kept=(1, 4), bins=3, features=5, candidates=30, records=25, powers=False):
    """Records that have a lot in common, and candidates that keep some of them."""
    rng = np.random.default_rng(seed)
    if powers:
        # Every probability is a power of two.
        halves = np.array([[1, 1, 2], [2, 1, 1], [1, 2, 1]])
        weights = np.stack([rng.permutation(halves) for _ in range(features)])
    else:
        cuts = np.sort(rng.integers(0, 1 << 30, (features, bins, bins - 1)), axis=-1)
        weights = np.diff(cuts, axis=-1, prepend=0, append=1 << 30)
    seeds = rng.choice(bins, (records, features), p=[0.8, 0.15, 0.05]).astype(np.uint8)
    made_of = rng.integers(0, records, candidates)
    drawn = rng.choice(bins, (candidates, features), p=[0.7, 0.2, 0.1]).astype(np.uint8)
    how_many = rng.integers(kept[0], kept[1] + 1, candidates)
    made = np.where(np.arange(features) < how_many[:, None], seeds[made_of], drawn)
    owner = rng.integers(0, 7, records)
    return made, made_of, seeds, owner, weights, kept


@pytest.mark.parametrize("kept", [(0, 0), (0, 5), (1, 4), (2, 2), (3, 5), (5, 5)])
@pytest.mark.parametrize("gamma", [1.0, 1.3, 2.0, 50.0])
def test_people_are_counted_as_one_would_by_hand(kept, gamma):
    given_ = case(kept[0] + 10 * kept[1], kept)
    assert plausible_people(*given_, gamma).tolist() == reference(*given_, gamma)


@pytest.mark.parametrize("kept", [(0, 3), (1, 2), (1, 4), (0, 5)])
@pytest.mark.parametrize("gamma", [2.0, 4.0])
def test_probabilities_on_the_edge_of_a_bucket_are_decided_exactly(kept, gamma, monkeypatch):
    asked = []
    monkeypatch.setattr(deniability, "bucket", lambda *given_: asked.append(1) or bucket(*given_))
    given_ = case(3, kept, powers=True)
    assert plausible_people(*given_, gamma).tolist() == reference(*given_, gamma)
    assert asked


def test_what_float64_cannot_tell_apart_is_told_apart():
    """Sharing 2 or 3 features makes p = 2⁻¹⁰⁰¹ or 3·2⁻¹⁰⁰², and 2⁻¹⁰⁵² more: above the edge."""
    total = 1 << 50
    weights = np.full((43, 2, 2), total // 2)
    weights[0, 0] = [1, total - 1]
    weights[1, 0] = weights[2, 0] = [total, 0]
    weights[3:, 0] = [1 << 25, total - (1 << 25)]
    seeds = np.zeros((3, 43), dtype=np.uint8)
    seeds[[1, 2], [2, 1]] = 1
    given_ = (seeds[:1], np.array([0]), seeds, np.arange(3), weights, (0, 3), 2.0)
    chances = [chance(seeds[0], record, weights, 0, 3) for record in seeds]
    assert chances[1] == Fraction(1, 2**1001) + Fraction(1, 2**1052)
    assert plausible_people(*given_).tolist() == [2] == reference(*given_)
    rounded = np.floor(-np.log2(np.array([float(p) * 2.0**900 for p in chances])) + 900)
    assert rounded[0] != rounded[1]


@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([1.1, 2.0, 3.7, 1.000001]))
def test_a_bucket_has_the_probability_between_its_ends(above, bits, gamma):
    p = Fraction(above + 1, (above + 1) << bits) if above % 3 == 0 else Fraction(above + 1, 10**7)
    i = bucket(p, gamma)
    base = Fraction(repr(gamma))
    if i < 5000:
        assert base ** (-i - 1) < p <= base**-i
    else:
        # Such powers have millions of digits: to 50 of them.
        from decimal import Decimal, localcontext

        with localcontext(prec=50):
            power = (Decimal(base.numerator) / base.denominator) ** -i
            exact = Decimal(p.numerator) / p.denominator
            assert power / Decimal(repr(gamma)) < exact <= power


@pytest.mark.parametrize("gamma", [1.1, 2.0, 1.25, 10.0])
def test_the_upper_end_belongs_to_a_bucket_and_the_lower_one_does_not(gamma):
    base, tiny = Fraction(repr(gamma)), Fraction(1, 10**90)
    for i in (0, 1, 7, 60):
        assert [bucket(base**-i - tiny, gamma), bucket(base**-i, gamma)] == [i, i]
        assert i == 0 or bucket(base**-i + tiny, gamma) == i - 1


def test_gamma_is_the_number_that_was_typed_not_the_nearest_float():
    """1.1 in float64 is a little more than 11/10, so that its powers lie elsewhere."""
    assert Fraction(1.1) > Fraction("1.1")
    assert bucket(Fraction("1.1") ** -3, 1.1) == 3
    assert bucket(Fraction(1.1) ** -3, 1.1) == 3
    assert bucket(Fraction(1.1) ** -3, 1.1) != bucket(Fraction("1.0999999999999999") ** -3, 1.1)


def test_with_a_number_of_its_own_for_each_record_records_are_counted():
    made, made_of, seeds, owner, weights, kept = case(8)
    records = plausible_people(made, made_of, seeds, np.arange(len(seeds)), weights, kept, 3.0)
    people = plausible_people(made, made_of, seeds, owner, weights, kept, 3.0)
    names = plausible_people(made, made_of, seeds, owner * 1000 - 5, weights, kept, 3.0)
    assert (people <= records).all()
    assert (people < records).any()
    assert (people == names).all()


def test_a_seed_that_cannot_have_made_the_candidate_leaves_nobody():
    weights = np.array([[[2, 0], [2, 0]], [[2, 0], [1, 1]]])
    seeds = np.array([[0, 0], [1, 0]], dtype=np.uint8)
    # The second one has another beginning, and 1 after 0 has no odds.
    candidates = np.array([[0, 0], [0, 0], [0, 1]], dtype=np.uint8)
    given_ = (candidates, np.array([0, 1, 0]), seeds, np.arange(2), weights, (1, 1), 2.0)
    assert plausible_people(*given_).tolist() == [1, 0, 0] == reference(*given_)


def test_blocks_do_not_show(monkeypatch):
    given_ = case(9, kept=(0, 4))
    whole = plausible_people(*given_, 2.5)
    monkeypatch.setattr(deniability, "_BLOCK_CANDIDATES", 7)
    assert (plausible_people(*given_, 2.5) == whole).all()
    none = (given_[0][:0], given_[1][:0], *given_[2:])
    assert plausible_people(*none, 2.5).shape == (0,)


def test_decisions_stay_exact_with_many_features():
    """52 features of 16 bins, where p is as small as 10⁻³⁰⁰ and less: far below float32."""
    rng = np.random.default_rng(4)
    cuts = np.sort(rng.integers(0, 1 << 30, (52, 16, 15)), axis=-1)
    weights = np.diff(cuts, axis=-1, prepend=0, append=1 << 30)
    seeds = rng.integers(0, 16, (40, 52)).astype(np.uint8)
    seeds[:, :6] = rng.integers(0, 2, (40, 6))
    made_of = np.arange(20)
    candidates = seeds[made_of].copy()
    candidates[:, 5:] = rng.integers(0, 16, (20, 47))
    assert float(min(chance(c, c, weights, 0, 0) for c in candidates)) < 1e-60
    given_ = (candidates, made_of, seeds, np.arange(40) // 2, weights, (0, 5), 20.0)
    assert plausible_people(*given_).tolist() == reference(*given_)


@pytest.mark.parametrize("gamma", [0.5, 0.0, -1.0, float("inf"), float("nan"), 1.0000001])
def test_ratios_that_make_no_buckets_are_refused(gamma):
    with pytest.raises(InputError, match="gamma must be 1, or a number of at least"):
        plausible_people(*case(0), gamma)


@pytest.mark.parametrize("kept", [(-1, 2), (3, 2), (2, 6)])
def test_more_features_than_there_are_cannot_be_kept(kept):
    with pytest.raises(InputError, match="kept features must be a range within 0 to 5"):
        plausible_people(*case(0)[:-1], kept, 2.0)
