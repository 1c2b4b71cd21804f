"""Does released gaze agree with its certificate, its filter and its original?

What is checked here needs no luck: a disagreement is as good as a refutation.

Is released gaze nearer to the original than the noise of its filter makes it?
A publication is off by a distance of law Gamma(2, radius/εᵢ), and budgets say how large εᵢ can be.
So how likely it is, at most, to be that near is known exactly, for few publications as for many;
and the same across and up, each for itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.study import Study
from eyelid.mechanisms.certificate import (
    NOT_SAID_OF_CHOICE,
    Certificate,
    ReleasedAs,
    form_given,
    shown_by_choice,
)
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.state import ABSORBING, HALVING, WHOLE
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import filtered, gaze_columns
from eyelid.privacy.noise import randomness
from eyelid.releases.audits.accounts import Account
from eyelid.releases.audits.consistency import MISSTATED, among_promises, as_declared
from eyelid.releases.kinds.streams.plan import unprotected
from eyelid.releases.kinds.streams.preparation import facts_of, recordings_touched, shortest_of
from eyelid.reporting.gaze_sentences import TIMES
from eyelid.version import build

Floats = NDArray[np.float64]

# Released gaze is this much of a grid step off its grid at most, after unit vectors.
_OFF_GRID = 1e-3
# Of what a fresh run is off: for so many publications seven standard errors of a median.
_TOO_GOOD = 0.5
_ENOUGH_FOR_MEDIANS = 200


Samples = NDArray[np.int64]
ALARM = 1e-6
"""How likely, at most, honest gaze is taken for too near."""
ENOUGH = 15
"""So many publications show that a tenth of the noise is there only; one, that none is."""
# Both places are on the grid, which moves each of them by less than a step.
_ROUNDING_STEPS = 1.0


def gaze_inconsistencies(
    certificate: Certificate,
    taken: Study,
    released: Study,
    account: Account,
    mechanism: StreamMechanism | None,
) -> Iterator[str]:
    """What of a certificate of released gaze cannot be true, in words.

    Args:
        certificate: of the release.
        taken: what the filter took.
        released: what was released.
        account: what the ledger knows of it.
        mechanism: the filter that the certificate names; None where it is not known here.
    """
    yield from among_promises(certificate, account)
    extra = [name for name in released.data.columns if name not in taken.data.columns]
    if extra:
        yield f"the released data have a column that no release has ({extra[0]})"
    keys = [name for name in taken.data.columns if name not in gaze_columns(taken)]
    if not taken.data.select(keys).equals(released.data.select(keys)):
        yield "the release has not the recordings and time stamps of the original"
        return
    if mechanism is not None:
        yield from _with(mechanism, certificate, taken, released)


def _with(
    mechanism: StreamMechanism, certificate: Certificate, taken: Study, released: Study
) -> Iterator[str]:
    """What the filter would have said and done otherwise."""
    facts, guaranteed = facts_of(taken), mechanism.guaranteed
    yield from as_declared(certificate, mechanism, facts, called="filter")
    if certificate.version == build():
        shown = set(certificate.unprotected)
        if not set(shown_by_choice(taken.chosen)) <= shown:
            yield NOT_SAID_OF_CHOICE
        touched = 1
        if guaranteed is not None:
            touched = recordings_touched(guaranteed.window, facts.recordings, shortest_of(taken))
        if not any(set(unprotected(times, mechanism, touched)) <= shown for times in TIMES):
            yield "the certificate leaves out what its filter does not protect"
        form = form_given(taken.chosen, mechanism.form)
        if certificate.misstates(form, ReleasedAs(mechanism.release)):
            yield MISSTATED
    x0, y0, x1, y1 = mechanism.place.plane
    points = _points(mechanism, released)
    if not (np.isfinite(points).all() and _inside(points, (x0, y0), (x1, y1))):
        yield "released gaze is missing, or outside the scene"
        return
    if guaranteed is not None:
        yield from _amiss(guaranteed, taken, points)


def _amiss(mechanism: Filter, taken: Study, points: Floats) -> Iterator[str]:
    """What a filter with a budget never does."""
    yield from _wrong_noise(mechanism, taken, points)
    steps = _steps(mechanism, points)
    regions = mechanism.eventful
    # Regions have middles of their own, on no grid.
    if not regions and np.abs(steps - np.rint(steps)).max() > _OFF_GRID:
        yield "released gaze is not on the public grid: its low-order digits betray values"
    new, slot = _published(mechanism, taken, points), mechanism.slot_samples
    if (new & (_index_in_recording(taken) % slot != 0)).any():
        yield f"released gaze changes at samples other than every {slot}th, where its filter looks"
    if not regions and (new & np.isnan(_points(mechanism, taken)[:, 0])).any():
        yield "released gaze changes where none was seen: its filter would have repeated the last"
    spent = worst_window(mechanism, taken)
    if spent > WHOLE:
        yield f"its filter, run again, spends {spent / WHOLE:.3g} ε in one window"


def _wrong_noise(mechanism: Filter, taken: Study, points: Floats) -> Iterator[str]:
    """Whether released gaze is nearer to the original than noise can make it."""
    units = mechanism.place.spoken_units
    if not mechanism.eventful:
        near = _nearness(mechanism, taken, points)
        if near.chance <= ALARM:
            yield (
                f"released gaze is {near.off * mechanism.step:.3g} {units} off where it changes, "
                f"so near as its filter comes with a probability of {ALARM:g} at most: the noise "
                "is missing or too small"
            )
            return
    # Where budgets are used up in ways that the release does not tell, a fresh run tells more.
    # Seeded, so that a second audit finds the same; nothing of it is released.
    noise = randomness(np.random.default_rng([0, *b"released gaze again"]))
    again = _points(mechanism, filtered(mechanism, taken, noise))
    ours, fresh = (_distances(mechanism, taken, shown) for shown in (points, again))
    if min(len(ours), len(fresh)) >= _ENOUGH_FOR_MEDIANS:
        off, usual = float(np.median(ours)), float(np.median(fresh))
        if off < _TOO_GOOD * usual:
            yield (
                f"released gaze is {off:.3g} {units} off where it changes, and that of its filter "
                f"{usual:.3g}: the noise is missing or too small"
            )


def too_few_to_check(mechanism: StreamMechanism | None, taken: Study, released: Study) -> list[str]:
    """A note where too little is published to find fault with the noise."""
    filter = None if mechanism is None else mechanism.guaranteed
    if filter is None:
        return []
    points = _points(filter, released)
    if filter.eventful:
        there, enough = len(_distances(filter, taken, points)), _ENOUGH_FOR_MEDIANS
    else:
        there, enough = _nearness(filter, taken, points).inside, ENOUGH
    if there >= enough:
        return []
    return [
        f"too few publications to check the noise: {there} within the scene, and with fewer than "
        f"{enough} much of it may be missing without being noticed"
    ]


def worst_window(mechanism: Filter, taken: Study) -> int:
    """The most that any window of any recording spends, in parts of ε, in a fresh run."""
    noise, columns, worst = randomness(0), gaze_columns(taken), 0
    for recording in taken.recordings():
        run = mechanism.start(noise)
        run.push_many(*mechanism.place.to_plane(*(recording[name] for name in columns)))
        worst = max(worst, run.worst_parts)
    return worst


def _points(mechanism: StreamMechanism, study: Study) -> Floats:
    """Gaze in the plane of the scene, one row a sample."""
    columns = [
        study.data[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in gaze_columns(study)
    ]
    return np.stack(mechanism.place.to_plane(*columns), axis=1)


def _inside(points: Floats, low: tuple[float, float], high: tuple[float, float]) -> bool:
    # Unit vectors round in the last digit.
    slack = 1e-9 * (np.abs(high).max() + np.abs(low).max())
    return bool(((points >= np.array(low) - slack) & (points <= np.array(high) + slack)).all())


def _index_in_recording(study: Study) -> NDArray[np.int64]:
    """The number of each sample in its recording."""
    row = pl.int_range(pl.len()).over("person", "recording")
    return study.data.select(row.alias("row"))["row"].to_numpy()


def _steps(mechanism: Filter, points: Floats) -> Floats:
    """Places in the plane in steps of the grid."""
    return np.asarray((points - np.array(mechanism.place.plane[:2])) / mechanism.step)


def _published(mechanism: Filter, study: Study, points: Floats) -> NDArray[np.bool_]:
    """Where something new is released; before a recording that is the middle of the scene."""
    first = _index_in_recording(study) == 0
    new = np.ones(len(points), dtype=bool)
    new[1:] = (np.diff(points, axis=0) != 0).any(axis=1)
    away = np.abs(_steps(mechanism, points) - np.array(mechanism.middle_steps)).max(axis=1) > 1
    return np.where(first, away, new)


def _nearness(mechanism: Filter, taken: Study, points: Floats) -> Nearness:
    """How near publications are to gaze as the filter saw it."""
    index = _index_in_recording(taken)
    gaze = np.rint(np.clip(_steps(mechanism, _points(mechanism, taken)), 0, mechanism.size_steps))
    steps = np.rint(_steps(mechanism, points))
    seen = np.isfinite(gaze).all(axis=1)
    new, looked = _published(mechanism, taken, points), seen & (index % mechanism.slot_samples == 0)
    # One that falls into the corner where the last was cut off, too, cannot be seen.
    cornered = ((steps <= 0) | (steps >= np.array(mechanism.size_steps))).all(axis=1)
    at = np.flatnonzero(seen & new | looked & cornered)
    row = np.arange(len(new))
    before = np.maximum.accumulate(np.where(new, row, -1))
    since = row - np.concatenate([[-1], before[:-1]])
    return nearness(
        mechanism, gaze[at], steps[at], np.minimum(since, index + 1)[at], looked=int(looked.sum())
    )


def _distances(mechanism: Filter, taken: Study, points: Floats) -> Floats:
    """How far what is released is from gaze, where it is new and gaze was seen."""
    where = _published(mechanism, taken, points)
    found = np.linalg.norm(points - _points(mechanism, taken), axis=1)[where]
    return np.asarray(found[np.isfinite(found)])


@dataclass(frozen=True)
class Nearness:
    """What distances from the original say about noise.

    Attributes:
        off: at the median, in steps.
        inside: publications that were not cut off at the edge of the scene.
        chance: that a valid release is as near as this, at most.
    """

    off: float
    inside: int
    chance: float


def nearness(
    mechanism: Filter, gaze: Floats, released: Floats, since: Samples, looked: int
) -> Nearness:
    """How near publications are to gaze, given the least noise that their budgets allow.

    Args:
        mechanism: the filter; of its outputs points, not regions.
        gaze: publications × 2, on the grid and in the scene, in steps.
        released: the same for what was released.
        since: samples since the publication before, or since before the recording.
        looked: how many samples could have been published.
    """
    away = np.abs(released - gaze)
    distances = np.hypot(*away.T)
    cut_off = (released <= 0) | (released >= np.array(mechanism.size_steps))
    scales = mechanism.scale_parts / most_parts(mechanism, since)
    edge = cut_off.any(axis=1)
    # What was cut off would have been farther away: nobody knows how far.
    chances = [np.where(edge, 1.0, nearer((distances + _ROUNDING_STEPS) / scales))]
    for axis in range(2):
        along = nearer_along((away[:, axis] + _ROUNDING_STEPS) / scales)
        chances.append(np.where(cut_off[:, axis], 1.0, along))
    # Whichever of them is too near is found.
    chance = len(chances) * min(chance_of(each, looked) for each in chances)
    return Nearness(
        off=float(np.median(distances)) if len(distances) else math.nan,
        inside=int((~edge).sum()),
        chance=min(1.0, chance),
    )


def nearer(distances: Floats) -> Floats:
    """How likely planar Laplace noise of scale 1 is no longer than this."""
    from scipy.special import gammainc

    return np.asarray(gammainc(2, distances))


def nearer_along(distances: Floats) -> Floats:
    """The chance of being nearer along one coordinate, whose density is |x|·K₁(|x|)/π."""
    from scipy.special import iti0k0, k0

    return np.asarray(np.clip(2 / np.pi * (iti0k0(distances)[1] - distances * k0(distances)), 0, 1))


def most_parts(mechanism: Filter, since: Samples) -> Floats:
    """The most that publications can have spent, in parts of ε; some spent less.

    Args:
        mechanism: the filter.
        since: samples since the publication before, or since before the recording.
    """
    parts = np.full(len(since), float(mechanism.publish_parts))
    if mechanism.rule == HALVING:
        return np.floor(parts / 2)
    if mechanism.rule == ABSORBING:
        return np.asarray(parts * np.minimum(since, mechanism.window))
    return parts


def chance_of(chances: Floats, looked: int) -> float:
    """How likely it is that so many are so small, or that one of them is: at most this.

    Each is, given those before it, at most t with probability at most t. Then κ·p^(κ−1) has mean
    at most 1, so has the product over publications, and so has its average over κ from 0 to 1,
    eˢ·n!·P(n + 1, S)/Sⁿ⁺¹ with S = −Σ log p and P the regularised gamma function. However long one
    goes on, a product like that exceeds c with probability at most 1/c (Ville 1939).

    Args:
        chances: of each publication, to be as near as it is or nearer.
        looked: how many there could have been.
    """
    from scipy.special import gammainc, gammaln

    if not len(chances):
        return 1.0
    count, total = len(chances), max(-float(np.log(np.maximum(chances, 1e-300)).sum()), 1e-9)
    with np.errstate(divide="ignore"):
        # Far below what is expected its last part is nothing, and so is the evidence.
        evidence = total - (count + 1) * math.log(total) + gammaln(count + 1)
        evidence += float(np.log(gammainc(count + 1, total)))
    together = math.exp(-max(evidence, 0.0))
    # All of them together or one alone may be too near.
    return min(1.0, 2 * min(together, looked * float(chances.min())))
