"""Results of simulated studies: do intervals cover, do tests err as often as they say?

Everything is drawn and released by the mechanism itself, thousands of studies at once: people are
simulated, sums are in whole numbers, noise is exact. What is estimated of each study knows only
what was shown. Standard deviations between people are 1 and the norm is right, but where it is
said to be wrong.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import mechanism_named
from eyelid.mechanisms.statistics import intervals
from eyelid.mechanisms.statistics.estimates import estimates, people_outside
from eyelid.mechanisms.statistics.power import noise_of_test, power, statistics_under
from eyelid.mechanisms.statistics.ranges import Entry, Range
from eyelid.mechanisms.statistics.significance import SIGNIFICANT, null_of
from eyelid.mechanisms.statistics.spread import NoiseOfOne
from eyelid.mechanisms.statistics.summary import StatisticsFacts
from eyelid.privacy.noise import DiscreteBox, SeededRandomness
from proofs.result import Effort, Result, progress

Floats = NDArray[np.float64]

STUDIES, NULLS = 1_000, 10_000
_FLAGGED_STUDIES = 400
PEOPLE = (20, 50, 100)
EPSILONS = (1.0, 2.0)
# At ± 2.5 standard deviations between one and three people in a hundred are clipped.
K = 2.5
ENTRIES = 3
LEAST, MOST, MOST_CLIPPED = 0.93, 0.98, 0.03
LEAST_FLAGGED = 0.9
# A count of clipped people is as noisy as a mean: with five numbers in a box at ε = 2 by 3.7 people
# in a hundred of 50, and by 1.9 of 100. Six or eight that are clipped do not stand out of that, or
# every second sound study would be flagged (`seen_at_best` says so of the whole ε). What counts is
# that intervals which are not flagged are hardly ever wrong.
MOST_UNSEEN = 0.05
FALSE_ALARMS = 0.1
MOST_ERRORS = 0.057
POWER_ROOM = 0.05
# THEORY 13, at ε = 1 and an effect of 0.8.
POWER: dict[tuple[str, tuple[int, ...]], float] = {
    **{("sign", (n,)): p for n, p in ((20, 0.61), (30, 0.84), (50, 0.98))},
    **{("signed-rank", (n,)): p for n, p in ((20, 0.50), (30, 0.82), (50, 0.99))},
    **{("superiority", (n, n)): p for n, p in ((10, 0.16), (15, 0.30), (25, 0.60), (50, 0.92))},
}
# Of Kendall's τ at N = 95: the most in τ and in r, with sampling, over r = 0, .3 and .5.
TAU = {2.0: (0.08, 0.12), 1.0: (0.10, 0.15)}
CORRELATIONS = (0.0, 0.3, 0.5)
TAU_PEOPLE = 95


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.normal(size=shape)


def _gamma(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Of skewness 1."""
    return np.asarray((rng.gamma(4.0, 1.0, shape) - 4) / 2)


def _lognormal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """As reading times are: logarithms with a standard deviation of 0.45, of skewness 1.5."""
    s = 0.45
    drawn = np.exp(rng.normal(0.0, s, shape))
    middle = math.exp(s * s / 2)
    return np.asarray((drawn - middle) / (middle * math.sqrt(math.exp(s * s) - 1)))


SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "normal": _normal,
    "gamma": _gamma,
    "lognormal": _lognormal,
}


@dataclass(frozen=True)
class Released:
    """Many studies, released.

    Attributes:
        shown: whole numbers of each study.
        part: that showed them.
        entries: with their ranges.
        clipped: the share of people outside of the first range.
        places: of people, before they were clipped.
    """

    shown: NDArray[np.int64]
    part: Any
    entries: tuple[Entry, ...]
    clipped: float
    places: Floats


def prove(effort: Effort) -> Result:
    """All of it, each with its aim."""
    rng = np.random.default_rng(13)
    figures: dict[str, Any] = {}
    passed = {}
    figures["coverage"], passed["coverage"] = coverage(rng)
    figures["flagged"], passed["flagged"] = flagged(rng)
    figures["seen_at_best"] = seen_at_best(rng)
    figures["type_one"], passed["type_one"] = type_one(rng)
    figures["power"], passed["power"] = powers()
    figures["tau"], passed["tau"] = correlations(rng)
    figures["beside"] = beside(rng)
    figures["failed"] = [name for name, fine in passed.items() if not fine]
    target = (
        f"95% intervals cover in {LEAST:g} of studies where up to {MOST_CLIPPED:g} of people are "
        f"clipped, in at most {MOST:g} where spreads are measured; elsewhere {LEAST_FLAGGED:g} are "
        f"flagged, or at most {MOST_UNSEEN:g} are both wrong and not flagged (the aim itself is "
        f"missed where few more are clipped, as `aim_missed` says); tests err in at most "
        f"{MOST_ERRORS:g}, their power is within {POWER_ROOM:g} of the theory's; Kendall's τ is as "
        "near as was aimed at"
    )
    return Result(figures, target, all(passed.values()))


def released(
    shape: str,
    people: int,
    epsilon: float,
    statistics: str,
    rng: np.random.Generator,
    k: float = K,
    shift: float = 0.0,
    spread: float = 1.0,
    studies: int = STUDIES,
) -> Released:
    """Studies of three measures, released with seeded exact noise.

    Args:
        shape: of people.
        people: N.
        epsilon: of the release.
        statistics: as the mechanism takes them.
        rng: of people and noise.
        k: of the ranges.
        shift: of people's mean from the norm's.
        spread: of people, over the norm's.
        studies: how many.
    """
    numbers = shift + spread * SHAPES[shape](rng, (studies, people, ENTRIES))
    around = Range.around(0.0, 1.0, k)
    entries = tuple(Entry(f"measure {j}", "", around) for j in range(ENTRIES))
    places = around.place(numbers)
    mechanism = mechanism_named("summary-box", epsilon=epsilon, statistics=statistics)
    (part,) = mechanism.parts_for(StatisticsFacts.of(people, ENTRIES))
    noise = SeededRandomness(rng)
    query = part.query(places, np.zeros(people, dtype=np.int64))
    first = places[..., 0]
    clipped = float(((first < 0) | (first > 1)).mean())
    return Released(part.draw(query, noise), part, entries, clipped, places)


def covered(studies: Released, truth: float) -> tuple[float, float]:
    """How often the first mean's interval holds the truth, and how wide it is on average."""
    found = [_first_mean(studies.part, studies.entries, shown) for shown in studies.shown]
    inside = [one.low <= truth <= one.high for one in found]
    return float(np.mean(inside)), float(np.mean([one.high - one.low for one in found]))


def holding(studies: Released, truth: float) -> NDArray[np.bool_]:
    """Of which studies the first mean's interval holds the truth."""
    found = (_first_mean(studies.part, studies.entries, shown) for shown in studies.shown)
    return np.array([one.low <= truth <= one.high for one in found])


def _first_mean(part: Any, entries: tuple[Entry, ...], shown: NDArray[np.int64]) -> Any:
    """The interval of the first mean, as `estimates` makes it, without the others' time."""
    range_ = entries[0].range
    names = [(s.name, s.columns) for s in part.statistics]
    place = part.mean_of(int(shown[names.index(("mean", (0,)))]))
    sd = range_.sd_in_places or 0.0
    if ("sd", (0,)) in names:
        moment = part.mean_of(int(shown[names.index(("sd", (0,)))]))
        found = intervals.mean_and_spread(place, moment, part.people, part.noise, sd).mean
    else:
        found = intervals.mean_by_norm(place, part.people, sd, part.noise)
    return intervals.Interval(range_.value(found.low), range_.value(found.high))


def coverage(rng: np.random.Generator) -> tuple[list[dict[str, Any]], bool]:
    """Of people's mean, where norms are right, and where people spread half as much again."""
    rows, fine = [], True
    asked = {"measured": "mean,sd", "by norm": "mean"}
    for how, statistics in asked.items():
        for shape in SHAPES:
            for people in PEOPLE:
                for epsilon in EPSILONS:
                    studies = released(shape, people, epsilon, statistics, rng)
                    share, width = covered(studies, 0.0)
                    # More than so many of 1,000 studies by chance alone.
                    doubt = 2 * math.sqrt(MOST * (1 - MOST) / STUDIES)
                    within = share >= LEAST and (how != "measured" or share <= MOST + doubt)
                    fine &= within or studies.clipped > MOST_CLIPPED
                    rows.append(
                        {
                            "spread": how,
                            "people": shape,
                            "N": people,
                            "ε": epsilon,
                            "clipped": studies.clipped,
                            "covered": share,
                            "width_sd": width,
                        }
                    )
                    progress(f"statistics: {rows[-1]}")
    _check_shortcut(released("normal", 20, 2.0, "mean,sd", rng, studies=3))
    return rows, fine


def _check_shortcut(studies: Released) -> None:
    """What is timed above is what a release says."""
    part, entries = studies.part, studies.entries
    for shown in studies.shown:
        said = estimates([part], entries, [False] * len(entries), [shown])[0]
        ours = _first_mean(part, entries, shown)
        if not np.allclose([said.low, said.high], [ours.low, ours.high]):
            raise AssertionError(f"a release says {said}, this proof {ours}")


def flagged(rng: np.random.Generator) -> tuple[list[dict[str, Any]], bool]:
    """Where norms are wrong: how many studies are said to be of clipped means, by whom."""
    rows, fine = [], True
    wrong = [(s, 1.0) for s in (0.0, 0.5, 1.0, 1.5, 2.0)] + [(0.0, 1.5), (0.0, 2.0), (1.0, 1.5)]
    for shape in ("normal", "lognormal"):
        for people in (50, 100):
            for shift, spread in wrong:
                studies = released(
                    shape,
                    people,
                    2.0,
                    "mean,sd:1,clipped:1",
                    rng,
                    2.5,
                    shift,
                    spread,
                    _FLAGGED_STUDIES,
                )
                part = studies.part
                warned = [
                    bool(people_outside([part], [shown], studies.entries))
                    for shown in studies.shown
                ]
                told = float(np.mean(warned))
                held = holding(studies, shift)
                share = float(np.mean(held))
                unseen = float(np.mean(~held & ~np.array(warned)))
                bad = studies.clipped > MOST_CLIPPED and share < LEAST
                missed = bad and told < LEAST_FLAGGED
                doubt = 2 * math.sqrt(MOST_UNSEEN * (1 - MOST_UNSEEN) / _FLAGGED_STUDIES)
                fine &= unseen <= MOST_UNSEEN + doubt
                rows.append(
                    {
                        "people": shape,
                        "N": people,
                        "off_sd": shift,
                        "spread": spread,
                        "clipped": studies.clipped,
                        "covered": share,
                        "flagged": told,
                        "wrong_and_not_flagged": unseen,
                        "aim_missed": missed,
                        "clipped_mean_covered": _of_clipped(studies, warned),
                    }
                )
                progress(f"statistics: {rows[-1]}")
    return rows, fine


def seen_at_best(rng: np.random.Generator) -> dict[str, float]:
    """How often a count that has all of ε = 2 to itself tells more clipped people from few.

    One study in ten with as many as are allowed is flagged, too.
    """
    found = {}
    for people in (50, 100):
        noise = NoiseOfOne(1 / (2 * people), 1)

        def counts(share: float, people: int = people, noise: NoiseOfOne = noise) -> Floats:
            drawn = rng.binomial(people, share, 10 * NULLS) / people
            return np.asarray(drawn + noise.draw(drawn.shape, rng))

        needed = np.quantile(counts(MOST_CLIPPED), 1 - FALSE_ALARMS)
        for share in (0.06, 0.08, 0.1):
            found[f"{share:.0%} of {people}"] = float((counts(share) > needed).mean())
    progress(f"statistics: seen at best {found}")
    return found


def _of_clipped(studies: Released, warned: list[bool], most: int = 60) -> float | None:
    """How often the interval of a flagged study holds the mean of clipped people."""
    entries = studies.entries
    clipped = np.clip(studies.places[..., 0], 0.0, 1.0).mean()
    truth, inside = entries[0].range.value(float(clipped)), []
    for shown in studies.shown[np.flatnonzero(warned)[:most]]:
        said = estimates([studies.part], entries, [False] * ENTRIES, [shown])[0]
        inside.append((said.low or 0.0) <= truth <= (said.high or 0.0))
    return float(np.mean(inside)) if inside else None


def type_one(rng: np.random.Generator) -> tuple[dict[str, float], bool]:
    """How often a test finds what is not there, over many null studies with exact noise."""
    found = {}
    for test in ("sign", "signed-rank", "superiority", "tau"):
        for people in ((20,), (50,)) if test != "superiority" else ((10, 10), (25, 25)):
            for numbers in (1, 4):
                noise = noise_of_test(test, 1.0, *people, numbers=numbers)
                drawn = DiscreteBox(2**30, numbers).draw((NULLS, numbers), SeededRandomness(rng))
                shown = statistics_under(test, 0.0, NULLS, rng, *people)
                shown = shown + drawn[:, 0] / 2**30 * noise.scale
                p = null_of(test, *people).beyond(shown, noise)
                name = f"{test}, {sum(people)} people, {numbers} numbers"
                found[name] = float((p <= SIGNIFICANT).mean())
    progress(f"statistics: type one {found}")
    return found, max(found.values()) <= MOST_ERRORS


def powers() -> tuple[dict[str, tuple[float, float]], bool]:
    """Beside the theory's."""
    found = {}
    for (test, people), wanted in POWER.items():
        is_ = power(test, 0.8, noise_of_test(test, 1.0, *people), *people, studies=NULLS)
        found[f"{test}, {'+'.join(map(str, people))}"] = (is_, wanted)
    progress(f"statistics: power {found}")
    return found, all(abs(is_ - wanted) <= POWER_ROOM for is_, wanted in found.values())


def correlations(rng: np.random.Generator) -> tuple[dict[str, Any], bool]:
    """Root mean square errors of τ, and of r = sin(πτ/2), sampling included."""
    found, fine = {}, True
    for epsilon, (most_tau, most_r) in TAU.items():
        mechanism = mechanism_named("summary-box", epsilon=epsilon, statistics="tau:1:2")
        (part,) = mechanism.parts_for(StatisticsFacts.of(TAU_PEOPLE, 2))
        squares: list[tuple[float, float]] = []
        for r in CORRELATIONS:
            x, y = rng.normal(size=(2, 2 * STUDIES, TAU_PEOPLE))
            places = np.stack([x, r * x + math.sqrt(1 - r * r) * y], axis=-1) / 8 + 0.5
            query = part.query(places, np.zeros(TAU_PEOPLE, dtype=np.int64))
            shown = part.draw(query, SeededRandomness(rng))[:, 0]
            factor = part.sensitivity(part.statistics[0]) / (TAU_PEOPLE * (TAU_PEOPLE - 1) / 2)
            tau = np.clip(shown / 2**30 * factor, -1, 1)
            errors = tau - 2 / math.pi * math.asin(r), np.sin(math.pi * tau / 2) - r
            squares.append((float((errors[0] ** 2).mean()), float((errors[1] ** 2).mean())))
            found[f"ε={epsilon:g}, r={r:g}"] = tuple(math.sqrt(each) for each in squares[-1])
        whole = np.sqrt(np.mean(squares, axis=0))
        found[f"ε={epsilon:g}"] = (float(whole[0]), float(whole[1]))
        # As printed: two digits.
        fine &= bool(whole[0] < most_tau + 0.005 and whole[1] < most_r + 0.005)
    progress(f"statistics: tau {found}")
    return found, fine


def beside(rng: np.random.Generator) -> dict[str, Any]:
    """Errors of three means against the same people's, in standard deviations between people.

    OpenDP's mean clamps to the same bounds and adds Laplace noise at ε/3 each; bounds by definition
    are those of a fixation's duration instead of people's averages (2,900 ms for 40).
    """
    people, epsilon = 45, 1.0
    wide = 2_900 / 40 / 2
    found: dict[str, Any] = {"N": people, "ε": epsilon}
    for name, k in (("norm ± 3", 3.0), ("norm ± best", 1.8), ("definition", wide)):
        studies = released("normal", people, epsilon, "mean", rng, k, studies=400)
        truth = studies.places.mean(axis=1)
        ours = np.clip(studies.shown / 2**30 / people, 0, 1)
        row = {"box": _rms(ours - truth) * 2 * k}
        opendp = _opendp()
        if opendp is None:
            row["opendp"] = "not installed"
        else:
            measure = _laplace_mean(opendp, people, epsilon / ENTRIES)
            clipped = np.clip(studies.places, 0, 1)
            theirs = np.array(
                [[measure(study[:, j].tolist()) for j in range(ENTRIES)] for study in clipped]
            )
            row["opendp"] = _rms(np.clip(theirs, 0, 1) - truth) * 2 * k
        found[name] = row
    progress(f"statistics: beside {found}")
    return found


def _rms(errors: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def _opendp() -> Any:
    """The library, where it is installed (the extra `bench`)."""
    try:
        return importlib.import_module("opendp.prelude")
    except ImportError:
        return None


def _laplace_mean(dp: Any, people: int, epsilon: float) -> Callable[[list[float]], float]:
    """Its mean of numbers between 0 and 1 under Laplace noise, replace-one."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0)), size=people)
    chain = (space, dp.symmetric_distance()) >> dp.t.then_mean()
    # To replace a person is to take one out and to put one in.
    measured = dp.binary_search_chain(
        lambda scale: chain >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon
    )
    return lambda data: float(measured(data))


if __name__ == "__main__":
    print(prove(Effort()).to_json("statistics", 0.0))
