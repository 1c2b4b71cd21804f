"""Results against plain statistics of the same people, at so large an ε that noise is nothing."""

import numpy as np
import pytest
from scipy import stats

from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.statistics.estimates import estimates, people_outside
from eyelid.mechanisms.statistics.ranges import Entry, Range, places_of
from eyelid.mechanisms.statistics.summary import StatisticsFacts
from eyelid.privacy.noise import randomness

PEOPLE = 60
ENTRIES = (
    Entry("duration", "text", Range.around(220, 0.2, 3, "log"), "ms"),
    Entry("rate", "text", Range.around(3.0, 0.5, 3, within=(0, 20)), "1/s"),
    Entry("rate", "text-comic", Range(-2, 2, sd=0.5), "1/s", ("text", "comic")),
    Entry("looked", "page", Range(0, 1)),
)
YES_OR_NO = (False, False, False, True)
GROUPS = (25, 35)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    rate = rng.normal(3.1, 0.5, PEOPLE)
    return np.stack(
        [
            220 * np.exp(rng.normal(0.1, 0.2, PEOPLE)),
            rate,
            0.2 * (rate - 3.1) + rng.normal(0.25, 0.4, PEOPLE),
            (rng.random(PEOPLE) < 0.3).astype(float),
        ],
        axis=1,
    )


def results(values, statistics, name="summary-box", epsilon=1e5, entries=ENTRIES, **given):
    mechanism = mechanism_named(name, epsilon=epsilon, statistics=statistics, **given)
    groups = GROUPS if mechanism.by else ()
    facts = StatisticsFacts.of(PEOPLE, len(entries), groups)
    labels = np.repeat([0, 1], GROUPS) if groups else None
    shown = mechanism.measure(places_of(values, entries), labels, facts, randomness(3))
    return estimates(mechanism.parts_for(facts), entries, YES_OR_NO, shown)


def noted(draw, norm, runs=200, people=34):
    """How often a mean of few people is marked as far from its norm."""
    rng = np.random.default_rng(2)
    entry = (Entry("time", "", Range.around(*norm, 2.3, within=(0, 10_000)), "ms"),)
    mechanism = mechanism_named("summary-box", epsilon=2.0, statistics="mean")
    facts = StatisticsFacts.of(people, 1)
    parts, count = mechanism.parts_for(facts), 0
    for seed in range(runs):
        places = places_of(draw(rng, people)[:, None], entry)
        shown = mechanism.measure(places, None, facts, randomness(seed))
        (found,) = estimates(parts, entry, (False,), shown)
        count += "far from its norm" in found.note or "at the end of its range" in found.note
    return count / runs


def test_a_norm_that_cannot_be_right_is_told_where_nobody_counts_who_is_outside():
    def normal(rng, people):
        return rng.normal(1775, 340, people)

    def skewed(rng, people):
        return rng.lognormal(np.log(1400), 0.45, people)

    assert noted(normal, (1775, 340)) < 0.09
    assert noted(skewed, (1549, 734)) < 0.09
    assert noted(normal, (1350, 200)) > 0.95
    assert noted(skewed, (1000, 180)) > 0.95


def test_estimates_are_those_of_people(people):
    found = results(people, "mean,sd;higher:3,signed-rank:3,tau:1:2@0.3;median:2;slope:2:3")
    log, rate, contrast, looked = people.T
    wanted = [
        np.exp(np.log(log).mean()),
        rate.mean(),
        contrast.mean(),
        looked.mean(),
        np.log(log).std(),
        rate.std(),
        contrast.std(),
        (contrast > 0).mean(),
        (np.sign(contrast) * stats.rankdata(np.abs(contrast))).sum() / (PEOPLE * (PEOPLE + 1) / 2),
        stats.kendalltau(log, rate).statistic,
        np.median(rate),
        stats.theilslopes(contrast, rate).slope,
    ]
    # Of a yes or no the share says it all.
    assert found.pop(7).note == "see the share"
    room = [0.01, 0.01, 0.01, 0.01, 0.02, 0.04, 0.04, 0.01, 0.01, 0.01, 0.02, 0.05]
    for one, value, error in zip(found, wanted, room, strict=True):
        assert one.estimate == pytest.approx(value, rel=error, abs=error)
        assert one.low <= one.estimate <= one.high
    assert [one.unit for one in found[:5]] == ["ms", "1/s", "1/s", "1", "1"]
    assert all(sum(one.shares) == pytest.approx(1) for one in found if one.shares)
    assert "natural logarithms" in found[4].note


def test_without_noise_intervals_and_p_values_are_the_textbook_s(people):
    mean, higher, signed = results(people, "mean:3,higher:3,signed-rank:3")
    contrast = people[:, 2]
    assert mean.low == pytest.approx(contrast.mean() - 1.96 * 1.25 * 0.5 / PEOPLE**0.5, abs=0.01)
    assert mean.high == pytest.approx(contrast.mean() + 1.96 * 1.25 * 0.5 / PEOPLE**0.5, abs=0.01)
    assert mean.shares[0] > 0.99
    assert higher.p == pytest.approx(
        stats.binomtest(int((contrast > 0).sum()), PEOPLE).pvalue, rel=0.05, abs=0.01
    )
    exact = stats.wilcoxon(contrast, method="exact").pvalue
    assert signed.p == pytest.approx(exact, rel=0.1, abs=1e-4)


def test_groups_have_results_of_their_own_and_one_of_both(people):
    found = results(people, "mean:2;superiority:2", by="group")
    rate = people[:, 1]
    assert [one.people for one in found] == [25, 35, 60]
    assert found[0].estimate == pytest.approx(rate[:25].mean(), rel=0.01)
    u = stats.mannwhitneyu(rate[:25], rate[25:])
    assert found[2].estimate == pytest.approx(u.statistic / (25 * 35), abs=0.01)
    assert found[2].p == pytest.approx(u.pvalue, rel=0.1, abs=0.01)


def test_a_histogram_counts_those_who_took_part(people):
    found = results(people, "histogram:2:4")
    counts = np.bincount((places_of(people, ENTRIES)[:, 1] * 4).astype(int), minlength=5)
    assert [round(one.estimate) for one in found] == counts.tolist()
    assert {one.unit for one in found} == {"people"}


def test_a_gaussian_summary_says_the_same(people):
    asked = "mean,sd:1,sd:2,sd:3"
    box = results(people, asked)
    joint = results(people, asked, "summary-gaussian", epsilon=500.0)
    for one, other in zip(box, joint, strict=True):
        assert one.estimate == pytest.approx(other.estimate, rel=0.05)


def test_noise_widens_intervals_and_is_told_its_share(people):
    quiet, loud = (results(people, "mean:2", epsilon=e)[0] for e in (50.0, 0.5))
    assert loud.high - loud.low > 2 * (quiet.high - quiet.low)
    assert loud.noise_sd == pytest.approx(100 * quiet.noise_sd, rel=1e-6)
    assert loud.shares[1] > 0.5 > quiet.shares[1]


def test_people_outside_of_the_range_make_a_clipped_mean(people):
    entries = (
        *ENTRIES[:1],
        Entry("rate", "text", Range.around(2.0, 0.5, 2, within=(0, 20)), "1/s"),
    )
    assert (people[:, 1] > 3.0).mean() > 0.4
    found = results(people[:, :2], "mean,clipped:2", epsilon=20.0, entries=entries)
    assert "clipped mean" in found[1].note
    # The farthest that anybody can be outside is 17, and about half of them are.
    assert "% of people lie outside" in found[1].note
    assert "clipped" not in found[0].note
    honest = results(people[:, :2], "mean,clipped", epsilon=20.0, entries=ENTRIES[:2])
    assert all("clipped mean" not in one.note for one in honest)


def test_means_near_an_end_tell_of_people_outside_what_a_noisy_count_does_not():
    entries = (Entry("rate", "text", Range.around(0.0, 1.0, 2.5), "1/s"),)
    mechanism = mechanism_named("summary-box", epsilon=2.0, statistics="mean,clipped")
    (part,) = mechanism.parts_for(StatisticsFacts.of(100, 1))

    def flagged(mean, outside):
        sums = np.array([entries[0].range.place(mean), outside]) * 100 * 2**30
        return people_outside([part], [np.rint(sums).astype(np.int64)], entries)

    # The noise of the count has a standard deviation of one person in a hundred.
    assert not flagged(0.0, 0.02)
    assert not flagged(0.0, 0.034)
    assert flagged(1.6, 0.034)
    assert flagged(0.0, 0.2)
    assert flagged(2.4, 0.0)
    (said,) = flagged(2.4, 0.0).values()
    assert 0.03 < said.estimate <= said.high <= 1.0


def test_a_mean_that_ends_where_its_range_does_says_so(people):
    off = Entry("rate", "text", Range.around(1.5, 0.5, 2, within=(0, 20)), "1/s")
    (mean,) = results(people[:, 1:2], "mean", epsilon=20.0, entries=(off,))
    assert mean.note.startswith("at the end of its range: most people may lie outside of it")
    assert mean.low <= mean.estimate < people[:, 1].mean() < mean.high
    fitting, whole = ENTRIES[1], Entry("rate", "text", Range(0, 3.0), "1/s")
    for entry in (fitting, whole):
        (mean,) = results(people[:, 1:2], "mean", epsilon=20.0, entries=(entry,))
        assert "at the end" not in mean.note


def test_counts_beyond_everybody_leave_no_narrow_interval(people):
    found = results(np.full((PEOPLE, 4), np.nan), "histogram:2:4", epsilon=0.05)
    assert all(one.high - one.low > PEOPLE / 3 for one in found)


def test_a_measure_without_a_norm_says_what_was_taken_for_its_spread(people):
    entries = (Entry("rate", "text", Range(0, 20), "1/s"),)
    (mean,) = results(people[:, 1:2], "mean", entries=entries)
    assert mean.note.startswith("spread between people taken as large as one peak in this range")
    assert "too narrow only where they form two clumps" in mean.note
    spread, _ = results(people[:, 1:2], "sd,mean", entries=entries)
    assert spread.estimate == pytest.approx(people[:, 1].std(), rel=0.1)


def test_nobody_and_everybody_alike_give_results_too():
    nobody = np.full((PEOPLE, 4), np.nan)
    found = results(
        nobody, "mean,sd:1,sd:2;higher:3,signed-rank:3,tau:1:2;median:1;slope:1:2", epsilon=1.0
    )
    assert all(np.isfinite(one.estimate) for one in found)
    alike = np.tile([220.0, 3.0, 0.0, 1.0], (PEOPLE, 1))
    higher, signed, tau = results(alike, "higher:3,signed-rank:3,tau:1:2")
    assert higher.estimate == pytest.approx(0.5, abs=0.01)
    assert min(higher.p, signed.p, tau.p) > 0.5
