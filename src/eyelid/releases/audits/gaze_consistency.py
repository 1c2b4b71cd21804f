"""Does released gaze agree with its certificate, its filter and its original?

What is checked here needs no luck: a disagreement is as good as a refutation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.study import Study
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import gaze_columns
from eyelid.privacy.noise import randomness
from eyelid.releases.audits.accounts import Account
from eyelid.releases.audits.consistency import MISSTATED, among_promises, as_declared
from eyelid.releases.audits.nearness import ALARM, ENOUGH, Nearness, nearness
from eyelid.releases.certificate import (
    NOT_SAID_OF_CHOICE,
    Certificate,
    ReleasedAs,
    form_given,
    shown_by_choice,
)
from eyelid.releases.kinds.streams.plan import filtered, unprotected
from eyelid.releases.kinds.streams.preparation import (
    TIMES,
    recordings_touched,
    shape_of,
    shortest_of,
)
from eyelid.version import __version__

Floats = NDArray[np.float64]

# Released gaze is this much of a grid step off its grid at most, after unit vectors.
_OFF_GRID = 1e-3
# Of what a fresh run is off: for so many publications seven standard errors of a median.
_TOO_GOOD = 0.5
_ENOUGH_FOR_MEDIANS = 200


def gaze_disagreements(
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
    shape, guaranteed = shape_of(taken), mechanism.guaranteed
    yield from as_declared(certificate, mechanism, shape, called="filter")
    if certificate.version == __version__:
        shown = set(certificate.unprotected)
        if not set(shown_by_choice(taken.chosen)) <= shown:
            yield NOT_SAID_OF_CHOICE
        touched = 1
        if guaranteed is not None:
            touched = recordings_touched(guaranteed.window, shape.recordings, shortest_of(taken))
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


def _amiss(law: Filter, taken: Study, points: Floats) -> Iterator[str]:
    """What a filter with a budget never does."""
    yield from _noise_amiss(law, taken, points)
    steps = _steps(law, points)
    regions = law.eventful
    # Regions have middles of their own, on no grid.
    if not regions and np.abs(steps - np.rint(steps)).max() > _OFF_GRID:
        yield "released gaze is not on the public grid: its low-order digits betray values"
    new, slot = _published(law, taken, points), law.slot_samples
    if (new & (_index_in_recording(taken) % slot != 0)).any():
        yield f"released gaze changes at samples other than every {slot}th, where its filter looks"
    if not regions and (new & np.isnan(_points(law, taken)[:, 0])).any():
        yield "released gaze changes where none was seen: its filter would have repeated the last"
    spent = worst_window(law, taken)
    if spent > WHOLE:
        yield f"its filter, run again, spends {spent / WHOLE:.3g} ε in one window"


def _noise_amiss(law: Filter, taken: Study, points: Floats) -> Iterator[str]:
    """Whether released gaze is nearer to the original than noise can make it."""
    units = law.place.spoken_units
    if not law.eventful:
        near = _nearness(law, taken, points)
        if near.chance <= ALARM:
            yield (
                f"released gaze is {near.off * law.step:.3g} {units} off where it changes, so near "
                f"as its filter comes with a probability of {ALARM:g} at most: the noise is "
                "missing or too small"
            )
            return
    # Where budgets are used up in ways that the release does not tell, a fresh run tells more.
    # Seeded, so that whoever audits twice finds the same; nothing of it is released.
    noise = randomness(np.random.default_rng([0, *b"released gaze again"]))
    again = _points(law, filtered(law, taken, noise))
    ours, fresh = (_distances(law, taken, shown) for shown in (points, again))
    if min(len(ours), len(fresh)) >= _ENOUGH_FOR_MEDIANS:
        off, usual = float(np.median(ours)), float(np.median(fresh))
        if off < _TOO_GOOD * usual:
            yield (
                f"released gaze is {off:.3g} {units} off where it changes, and that of its filter "
                f"{usual:.3g}: the noise is missing or too small"
            )


def too_few_to_check(mechanism: StreamMechanism | None, taken: Study, released: Study) -> list[str]:
    """A note where too little is published to find fault with the noise."""
    law = None if mechanism is None else mechanism.guaranteed
    if law is None:
        return []
    points = _points(law, released)
    if law.eventful:
        there, enough = len(_distances(law, taken, points)), _ENOUGH_FOR_MEDIANS
    else:
        there, enough = _nearness(law, taken, points).inside, ENOUGH
    if there >= enough:
        return []
    return [
        f"too few publications to check the noise: {there} within the scene, and with fewer than "
        f"{enough} much of it may be missing without being noticed"
    ]


def worst_window(law: Filter, taken: Study) -> int:
    """The most that any window of any recording spends, in parts of ε, in a fresh run."""
    noise, columns, worst = randomness(0), gaze_columns(taken), 0
    for recording in taken.recordings():
        run = law.start(noise)
        run.push_many(*law.place.to_plane(*(recording[name] for name in columns)))
        worst = max(worst, run.worst_parts)
    return worst


def _points(law: StreamMechanism, study: Study) -> Floats:
    """Gaze in the plane of the scene, one row a sample."""
    columns = [
        study.data[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in gaze_columns(study)
    ]
    return np.stack(law.place.to_plane(*columns), axis=1)


def _inside(points: Floats, low: tuple[float, float], high: tuple[float, float]) -> bool:
    # Unit vectors round in the last digit.
    slack = 1e-9 * (np.abs(high).max() + np.abs(low).max())
    return bool(((points >= np.array(low) - slack) & (points <= np.array(high) + slack)).all())


def _index_in_recording(study: Study) -> NDArray[np.int64]:
    """The number of each sample in its recording."""
    row = pl.int_range(pl.len()).over("person", "recording")
    return study.data.select(row.alias("row"))["row"].to_numpy()


def _steps(law: Filter, points: Floats) -> Floats:
    """Places in the plane in steps of the grid."""
    return np.asarray((points - np.array(law.place.plane[:2])) / law.step)


def _published(law: Filter, study: Study, points: Floats) -> NDArray[np.bool_]:
    """Where something new is released; before a recording that is the middle of the scene."""
    first = _index_in_recording(study) == 0
    new = np.ones(len(points), dtype=bool)
    new[1:] = (np.diff(points, axis=0) != 0).any(axis=1)
    away = np.abs(_steps(law, points) - np.array(law.middle_steps)).max(axis=1) > 1
    return np.where(first, away, new)


def _nearness(law: Filter, taken: Study, points: Floats) -> Nearness:
    """How near publications are to gaze as the filter saw it."""
    index = _index_in_recording(taken)
    gaze = np.rint(np.clip(_steps(law, _points(law, taken)), 0, law.size_steps))
    steps = np.rint(_steps(law, points))
    seen = np.isfinite(gaze).all(axis=1)
    new, looked = _published(law, taken, points), seen & (index % law.slot_samples == 0)
    # One that falls into the corner where the last was cut off, too, cannot be seen.
    cornered = ((steps <= 0) | (steps >= np.array(law.size_steps))).all(axis=1)
    at = np.flatnonzero(seen & new | looked & cornered)
    row = np.arange(len(new))
    before = np.maximum.accumulate(np.where(new, row, -1))
    since = row - np.concatenate([[-1], before[:-1]])
    return nearness(
        law, gaze[at], steps[at], np.minimum(since, index + 1)[at], looked=int(looked.sum())
    )


def _distances(law: Filter, taken: Study, points: Floats) -> Floats:
    """How far what is released is from gaze, where it is new and gaze was seen."""
    where = _published(law, taken, points)
    found = np.linalg.norm(points - _points(law, taken), axis=1)[where]
    return np.asarray(found[np.isfinite(found)])
