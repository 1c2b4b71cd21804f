"""Attacks on synthetic recordings: whose numbers are they drawn after, and are they at all?

All that synthetic recordings have of people are the answers that they are drawn after, so that
nobody who has recordings can do better than those who have the answers themselves: the membership
attack has them, and all other people's gaze. What recordings show beyond their answers is looked
for apart: the parameters that are measured in them must be those of other recordings drawn after
the same answers. A generator that was fitted to one person, or to anything but the answers, fails
that. Of groups without noise an attacker learns from synthetic recordings who belongs to which, and
is tested on everybody's real recordings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.membership import Membership, told_apart
from eyelid.attacks.statistics import Rate, rate_of_shares
from eyelid.gaze.generator.measurement import measured
from eyelid.gaze.generator.signal import samples_of
from eyelid.gaze.study import Study
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.gaze_mechanism import Answers, GazeMechanism, entropy_of
from eyelid.mechanisms.gaze.ksame_gaze import KSameGaze
from eyelid.mechanisms.gaze.people import PeopleGaze
from eyelid.mechanisms.gaze.portrait import Portrait
from eyelid.mechanisms.gaze.recordings import blocks_of, names_of
from eyelid.mechanisms.gaze.synthetic_gaze import SyntheticGaze
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import randomness

Floats = NDArray[np.float64]

TRIALS, _RUNS_OF_TARGET = 1000, 10
CERTAIN = 5.0
"""Standard errors that parameters of recordings may be from those of their answers."""
# Of recordings that are drawn again: people and minutes, and samples of all of them together.
_MOST_COMPARED = 24
_COMPARED_MINUTES, _FEWEST_MINUTES = 1.0, 0.1
_COMPARED_SAMPLES = 3_000_000
# Synthetic participants of each person in the control.
_OF_CONTROL = 4
_AGAIN = 5


def opposite(people: PeopleGaze, facts: GazeDesignFacts, who: int) -> PeopleGaze:
    """Everybody, but one of them with the farther end of every range, who looked elsewhere.

    Args:
        people: everybody.
        facts: what is public.
        who: whose data are replaced.
    """
    values, looks = people.values.copy(), people.looks.copy()
    for number, one in enumerate(facts.parameters):
        mine = np.nan_to_num(values[who, :, number], nan=one.lower)
        middle = float(one.natural((one.bounds[0] + one.bounds[1]) / 2))
        values[who, :, number] = np.where(mine < middle, one.upper, one.lower)
    seen = np.nan_to_num(looks[who])
    away = np.zeros_like(seen)
    away[np.arange(len(seen)), seen.argmin(axis=1)] = 1.0
    looks[who] = away
    return PeopleGaze(values, looks)


def membership_in_gaze(
    mechanism: SyntheticGaze,
    facts: GazeDesignFacts,
    people: PeopleGaze,
    promised: Guarantee,
    *,
    nearest: int | None = None,
    known: SyntheticGaze | None = None,
    trials: int = TRIALS,
    seed: int = 0,
) -> Membership:
    """Measure again and again, with a person or with their opposite by the toss of a coin.

    A claim is for everybody, and fails first for those whom a release is like: where such a person
    is named, half of the games are about them alone, which is what is told where it refutes the
    claim.

    Args:
        mechanism: of the release.
        facts: what is public.
        people: everybody's numbers.
        promised: to a person.
        nearest: the person whom a release is most like.
        known: what the attacker takes the mechanism for; itself by default.
        trials: how often.
        seed: of targets and coins, and of the noise, which is fresh each time.
    """
    known = known or mechanism
    each = (mechanism, facts, people, promised, known)
    if nearest is None:
        return _game(*each, None, trials, seed)
    everybody, about = (_game(*each, who, trials // 2, seed) for who in (None, nearest))
    # Of two games the chance of either is twice as large. One person gives no limits over people.
    corrected = [
        replace(one, p_value=None if one.p_value is None else min(1.0, 2 * one.p_value))
        for one in (everybody, about)
    ]
    return corrected[1] if corrected[1].refutes else corrected[0]


def _game(
    mechanism: SyntheticGaze,
    facts: GazeDesignFacts,
    people: PeopleGaze,
    promised: Guarantee,
    known: SyntheticGaze,
    about: int | None,
    trials: int,
    seed: int,
) -> Membership:
    """One game, about everybody in turn or about one person."""
    rng, noise = np.random.default_rng(seed), randomness(seed)
    many = max(2, trials // _RUNS_OF_TARGET)
    targets = rng.permutation(np.arange(many) % people.people)
    if about is not None:
        targets[:] = about
    scores, coins, owner = [], [], []
    true, thought = (_sums(each, people, facts) for each in (mechanism, known))
    for who in targets.tolist():
        other = opposite(people, facts, who)
        coin = rng.random(_RUNS_OF_TARGET) < 0.5
        shown = np.empty((_RUNS_OF_TARGET, sum(each.size for each in true if each is not None)))
        for side, sums in ((coin, true), (~coin, _sums(mechanism, other, facts))):
            shown[side] = mechanism.shown(*sums, facts, int(side.sum()), noise)
        inside = known.log_chance_of(shown, *thought, facts)
        outside = known.log_chance_of(shown, *_sums(known, other, facts), facts)
        scores.append(inside - outside)
        coins.append(coin)
        owner.append(np.full(_RUNS_OF_TARGET, who))
    return told_apart(
        np.concatenate(scores), np.concatenate(coins), np.concatenate(owner), promised
    )


def _sums(
    mechanism: SyntheticGaze, people: PeopleGaze, facts: GazeDesignFacts
) -> tuple[Integers | None, Integers | None]:
    """What both answers are without noise."""
    return mechanism.asked_of_box(people, facts), mechanism.asked_of_maps(people, facts)


@dataclass(frozen=True)
class Resemblance:
    """How near released recordings are to what they should be drawn after, and to people.

    Attributes:
        parameter: that is farthest from that of other recordings drawn after the same answers.
        errors: by how many standard errors it is.
        nearest: distance of the release's mean to the nearest person, in standard deviations
            between people, over all parameters.
        centre: its distance to the mean of everybody.
    """

    parameter: str
    errors: float
    nearest: float
    centre: float

    @property
    def follows(self) -> bool:
        """Whether recordings may be drawn after these answers."""
        return self.errors <= CERTAIN


def resemblance(
    mechanism: GazeMechanism,
    facts: GazeDesignFacts,
    answers: Answers,
    released: Study,
    people: PeopleGaze,
    seed: int = 0,
) -> tuple[Resemblance, int]:
    """Whether recordings follow from answers, and whom of the people they are most like.

    Args:
        mechanism: of the release.
        facts: what is public.
        answers: that it should be drawn after.
        released: the synthetic recordings.
        people: everybody's numbers.
        seed: of the recordings that they are compared with.

    Returns:
        what was found, and the number of the nearest person.
    """
    some = _some_people(released)
    short = _shortened(facts, some.people.height)
    cut = replace(some, data=some.data.filter(pl.col("time_ms") < short.length_ms))
    entropy = entropy_of(randomness(seed))
    other = drawn_study(mechanism, short, answers, entropy, released, some.people.height)
    mine, theirs = _by_person(cut, facts), _by_person(other, facts)
    errors = np.zeros(len(facts.measurable))
    for number in range(errors.size):
        one, two = (side[:, number][np.isfinite(side[:, number])] for side in (mine, theirs))
        if min(len(one), len(two)) > 2:
            spread = np.sqrt(one.var(ddof=1) / len(one) + two.var(ddof=1) / len(two))
            errors[number] = abs(one.mean() - two.mean()) / max(spread, 1e-12)
    worst = int(errors.argmax())
    distance = _distances(_scaled(people, facts), np.nanmean(mine, axis=0), facts)
    middle = _distances(
        np.nanmean(_scaled(people, facts), axis=0)[None], np.nanmean(mine, axis=0), facts
    )
    found = Resemblance(
        facts.measurable[worst], float(errors[worst]), float(distance.min()), float(middle[0])
    )
    return found, int(distance.argmin())


def _some_people(released: Study) -> Study:
    names = released.people["person"].to_list()
    if len(names) > _MOST_COMPARED:
        step = len(names) / _MOST_COMPARED
        names = [names[int(step * number)] for number in range(_MOST_COMPARED)]
    mine = pl.col("person").is_in(names)
    return replace(
        released, data=released.data.filter(mine), people=released.people.filter(mine), events=None
    )


def _shortened(facts: GazeDesignFacts, people: int) -> GazeDesignFacts:
    """Public facts with recordings that are short enough to be drawn again for so many people."""
    affordable = _COMPARED_SAMPLES / (people * len(facts.slots) * facts.rate_hz * 60.0)
    minutes = min(facts.minutes, _COMPARED_MINUTES, max(affordable, _FEWEST_MINUTES))
    return replace(facts, minutes=minutes, length=samples_of(minutes * 60_000.0, facts.rate_hz))


def drawn_study(
    mechanism: GazeMechanism,
    facts: GazeDesignFacts,
    answers: Answers,
    entropy: int,
    like: Study,
    people: int | None = None,
) -> Study:
    """Synthetic recordings drawn after answers, as a study.

    Args:
        mechanism: that draws them.
        facts: what is public.
        answers: that are drawn after.
        entropy: that they are made of.
        like: a study with their units, screen and the like.
        people: of one portrait, how many; all by default.
    """
    portraits = list(mechanism.inputs(answers, facts))
    if people is not None and len(portraits) == 1:
        portraits[0] = replace(portraits[0], people=people)
    return drawn_after(mechanism, facts, portraits, entropy, like)


def drawn_after(
    mechanism: GazeMechanism,
    facts: GazeDesignFacts,
    portraits: Sequence[Portrait],
    entropy: int,
    like: Study,
) -> Study:
    """Synthetic recordings drawn after portraits, as a study.

    Args:
        mechanism: that draws them.
        facts: what is public.
        portraits: that are drawn after.
        entropy: that they are made of.
        like: a study with their units, screen and the like.
    """
    everybody = replace(facts, people=sum(each.people for each in portraits))
    sizes = [each.people for each in portraits]
    made = [
        each
        for block in blocks_of(sizes, len(facts.slots))
        for each in mechanism.draw(block, portraits, everybody, entropy)
    ]
    form = facts.form
    return replace(
        like,
        data=pl.concat([data for data, _ in made]),
        people=names_of(portraits),
        events=None,
        units=form.units,
        xy_origin=form.xy_origin,
        screen=form.screen,
        rate_hz=facts.rate_hz,
        pupil_unit=form.pupil,
    )


def _by_person(study: Study, facts: GazeDesignFacts) -> Floats:
    """People × parameters on their scales, averages over all recordings."""
    rows = measured(study)
    scaled = []
    for one in facts.parameters:
        values = rows[one.name].to_numpy().astype(np.float64)
        known = np.where(np.isnan(values), one.lower, values)
        scaled.append(pl.Series(one.name, np.where(np.isnan(values), np.nan, one.scaled(known))))
    means = rows.select("person").with_columns(scaled).fill_nan(None)
    found = means.group_by("person", maintain_order=True).mean().drop("person")
    return found.select(pl.all().cast(pl.Float64).fill_null(np.nan)).to_numpy()


def _scaled(people: PeopleGaze, facts: GazeDesignFacts) -> Floats:
    """People × parameters on their scales, averages over all tasks."""
    found = np.full((people.people, len(facts.measurable)), np.nan)
    for number, one in enumerate(facts.parameters):
        own = people.values[..., number]
        there = np.isfinite(own)
        scaled = np.where(there, one.scaled(np.nan_to_num(own, nan=one.lower)), 0.0)
        count = there.sum(axis=1)
        found[:, number] = np.divide(
            scaled.sum(axis=1), count, out=np.full(people.people, np.nan), where=count > 0
        )
    return found


def _distances(people: Floats, mean: Floats, facts: GazeDesignFacts) -> Floats:
    """Root mean square distance to each person, in standard deviations between people."""
    sd = np.array([one.between for one in facts.parameters])
    squared = np.nan_to_num(((people - mean) / sd) ** 2, nan=1.0)
    return np.asarray(np.sqrt(squared.mean(axis=1)))


@dataclass(frozen=True, eq=False)
class GroupAttack:
    """What synthetic recordings of groups tell of who is in which.

    Attributes:
        identification: how often the synthetic participant made for a person is named.
        groups: how often the right group of a person is found.
        alone: how often a person is named where every synthetic participant is drawn after one
            person alone: the control.
        k: people of a group, at least.
    """

    identification: Rate
    groups: Rate
    alone: Rate
    k: int

    @property
    def refutes(self) -> bool:
        """Whether people are named more often than 1/k allows."""
        return self.identification.low > 1 / self.k


def attack_groups(
    mechanism: KSameGaze,
    facts: GazeDesignFacts,
    people: PeopleGaze,
    like: Study,
    seed: int = 0,
    releases: int = _AGAIN,
) -> GroupAttack:
    """Release again and again; learn groups from synthetic recordings, and test on real people.

    Args:
        mechanism: of the release.
        facts: what is public.
        people: everybody's numbers.
        like: a study with the release's units, screen and the like.
        seed: of groups and recordings.
        releases: how many.
    """
    noise, rng = randomness(seed), np.random.default_rng(seed)
    short = _shortened(facts, people.people)
    right, found_groups = np.zeros((2, people.people))
    for _ in range(releases):
        member = mechanism.partition(people.people, noise)
        answers = mechanism.averaged(people, short, member)
        scores = _scores(mechanism, short, answers, entropy_of(noise), like, people)
        guess = scores.argmax(axis=1)
        hit = guess == member
        found_groups += hit
        # Chance deals a group's synthetic participants to its members: one of them is named.
        sizes = np.bincount(member)
        right += hit * (rng.random(people.people) < 1 / sizes[member])
    alone = _alone(mechanism, short, people, like, entropy_of(noise))
    return GroupAttack(
        rate_of_shares(right / releases, 1 / people.people),
        rate_of_shares(found_groups / releases, 1 / max(1, people.people // mechanism.k)),
        rate_of_shares(alone, 1 / people.people),
        mechanism.k,
    )


def _scores(
    mechanism: GazeMechanism,
    facts: GazeDesignFacts,
    answers: Answers,
    entropy: int,
    like: Study,
    people: PeopleGaze,
) -> Floats:
    """People × groups: how much a person is like the synthetic participants of a group."""
    made = drawn_study(mechanism, facts, answers, entropy, like)
    rows = measured(made)
    group = np.repeat(np.arange(len(answers.sizes)), answers.sizes)
    return _likeness(rows, made.people["person"].to_list(), group, facts, people)


def _likeness(
    rows: pl.DataFrame,
    names: Sequence[str],
    group: NDArray[np.intp],
    facts: GazeDesignFacts,
    people: PeopleGaze,
) -> Floats:
    """Negative squared distances to the mean of each group, task by task, by what varies within."""
    tasks = {task: number for number, task in enumerate(facts.tasks)}
    place = {name: number for number, name in enumerate(names)}
    who = np.array([place[name] for name in rows["person"]])
    which = np.array([tasks[task] for task in rows["task"]])
    total = np.zeros((people.people, int(group.max()) + 1))
    for number, one in enumerate(facts.parameters):
        values = rows[one.name].to_numpy().astype(np.float64)
        there = np.isfinite(values)
        scaled = np.where(there, one.scaled(np.nan_to_num(values, nan=one.lower)), np.nan)
        for task in range(len(tasks)):
            mine = there & (which == task)
            if mine.sum() < 2:
                continue
            of = group[who[mine]]
            count = np.bincount(of, minlength=total.shape[1])
            means = np.bincount(of, scaled[mine], minlength=total.shape[1]) / np.maximum(count, 1)
            spread = float(np.sqrt(np.mean((scaled[mine] - means[of]) ** 2))) + 0.1 * one.between
            own = people.values[:, task, number]
            known = np.isfinite(own)
            apart = (one.scaled(np.nan_to_num(own, nan=one.lower))[:, None] - means) / spread
            total -= np.where(known[:, None] & (count > 0), np.minimum(apart**2, 25.0), 0.0)
    return total


def _alone(
    mechanism: KSameGaze, facts: GazeDesignFacts, people: PeopleGaze, like: Study, entropy: int
) -> Floats:
    """Who is re-identified where synthetic participants are drawn after one person each.

    There is no spread between those of one person.
    """
    some = people.some(np.arange(min(people.people, _MOST_COMPARED)))
    few = replace(facts, people=some.people)
    answers = mechanism.averaged(some, few, np.arange(some.people))
    portraits = [
        replace(each, people=_OF_CONTROL, between=dict.fromkeys(each.between, 0.0))
        for each in mechanism.inputs(answers, few)
    ]
    made = drawn_after(mechanism, few, portraits, entropy, like)
    group = np.repeat(np.arange(some.people), _OF_CONTROL)
    names = made.people["person"].to_list()
    scores = _likeness(measured(made), names, group, few, some)
    return np.asarray(scores.argmax(axis=1) == np.arange(some.people), dtype=np.float64)


def errors_of(
    portraits: Sequence[Portrait], facts: GazeDesignFacts, people: PeopleGaze
) -> Iterator[dict[str, Any]]:
    """How far what recordings are drawn after is from the people, parameter by parameter.

    Args:
        portraits: that they are drawn after.
        facts: what is public.
        people: everybody's numbers.
    """
    weights = np.array([each.people for each in portraits], dtype=np.float64)
    for number, one in enumerate(facts.parameters):
        for task, name in enumerate(facts.tasks):
            own = people.values[:, task, number]
            own = one.scaled(own[np.isfinite(own)])
            if not len(own):
                continue
            drawn = float(np.average([p.means[task][one.name] for p in portraits], weights=weights))
            truth = float(own.mean())
            yield {
                "parameter": one.name,
                "task": name,
                "unit": one.unit,
                "drawn": float(one.natural(drawn)),
                "people": float(one.natural(truth)),
                "error_in_sd": (drawn - truth) / one.between,
            }
