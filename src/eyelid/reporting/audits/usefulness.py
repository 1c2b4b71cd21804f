"""Whether anything useful was found in a release: privacy alone makes no release a good one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eyelid.attacks.error import error_of
from eyelid.attacks.statistics import rate_of_shares
from eyelid.reporting.audits.verdict import CLEARLY, best_learned, informative
from eyelid.reporting.sentences import coarse, limits, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyelid.attacks.utility import Use
    from eyelid.gaze.table import FeatureTable
    from eyelid.reporting.audits.results import TableAudit

# How often a release of which nothing is learned may be called useful, over all models together.
_ALPHA = 0.05


@dataclass(frozen=True)
class Usefulness:
    """What the first screen says of a release's use.

    Attributes:
        found: whether anything is left to learn.
        figure: the number to look at.
        what: what it is, going on from the number.
        beside: what it must be compared with.
        how: how it was measured.
    """

    found: bool
    figure: str
    what: str
    beside: str
    how: str


def usefulness(audit: TableAudit) -> Usefulness | None:
    """What was found to be left in people's records or groups; None where that was not measured."""
    uses = _comparable(audit.utility)
    best = best_learned(uses)
    if best is not None and best.rate is not None:
        return Usefulness(
            any(_beats_guessing(use, _ALPHA / len(uses)) for use in uses),
            percent(best.rate.rate),
            f"of windows: {best.target} recognised from the release",
            f"guessing {percent(best.rate.chance)}, from raw data {percent(best.raw.rate)}",
            f"95% limits {limits(best.rate)}. By {best.model}, the best for this of those tried.",
        )
    if audit.error is None:
        return None
    off, guess = audit.error.rmse_of_span, _data_free_error(audit.target.original)
    return Usefulness(
        off < CLEARLY * guess,
        coarse(off),
        "of a feature’s range is how far a released value is off",
        f"data-free guess (range midpoint): {coarse(guess)}",
        "Root mean square over all features. No task or attribute could be recognised to compare.",
    )


def useful(audit: TableAudit) -> bool:
    """Whether anything is left to learn, of every kind of release; where not measured, it may be.

    Args:
        audit: of a release.
    """
    if audit.means is not None:
        return informative(audit.means)
    if audit.synthetic is not None:
        uses = _comparable(audit.utility)
        learned = any(_beats_guessing(use, _ALPHA / len(uses)) for use in uses)
        return learned or audit.synthetic.wasserstein < CLEARLY * audit.synthetic.uniform
    found = usefulness(audit)
    return found is None or found.found


def _comparable(uses: Sequence[Use]) -> list[Use]:
    """What was learned from the release and can be learned from raw data, tested on people's data.

    Protocols of papers test on the release itself; what raw data do not tell says nothing.
    """
    return [
        use
        for use in uses
        if use.rate is not None
        and not use.protocol.startswith("paper")
        and use.raw.low > use.raw.chance
    ]


def _beats_guessing(use: Use, alpha: float) -> bool:
    rate = use.rate
    if rate is None:
        return False
    shares = np.asarray(use.shares, dtype=np.float64)
    known = shares[np.isfinite(shares)]
    if len(known):
        rate = rate_of_shares(known, rate.chance, alpha=alpha)
    return rate.low > rate.chance


def _data_free_error(original: FeatureTable) -> float:
    """How far the middle of each feature's public bounds is off, as a share of its range."""
    middle = [pl.lit((f.lower + f.upper) / 2).alias(f.name) for f in original.features]
    constant = replace(original, data=original.data.with_columns(middle))
    return error_of(original, constant).rmse_of_span
