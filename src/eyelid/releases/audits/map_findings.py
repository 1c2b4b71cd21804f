"""What an audit of a heatmap found, in plain words: the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyelid.attacks.maps import MapAttacks, MapUse, TableUse
from eyelid.attacks.membership import Membership
from eyelid.attacks.statistics import Rate
from eyelid.attacks.subtraction import Subtraction
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.sentences import SAYS_NOTHING, coarse, limits, percent

if TYPE_CHECKING:
    from eyelid.releases.audits.maps import MapsAudit

NOT_TRIED = "whoever was drawn is in it without noise, as its δ says"


@dataclass(frozen=True)
class Finding:
    """One attack, or one check, and what came of it.

    Attributes:
        of: whose map, or which tables.
        attack: who tried what.
        found: with what success.
        means: what to make of it; empty where that is plain.
        bad: whether it speaks against the release.
    """

    of: str
    attack: str
    found: str
    means: str = ""
    bad: bool = False


def findings(audit: MapsAudit) -> list[Finding]:
    """Everything that was tried."""
    return [
        found
        for what, attack in audit.attacks.items()
        for found in _of_attack(what or "everybody", attack, audit)
    ]


def _of_attack(of: str, attack: MapAttacks, audit: MapsAudit) -> Iterator[Finding]:
    games = {
        "told who is in it": attack.membership,
        "the same without noise (control)": attack.positive,
        "the same where neither is (control)": attack.null,
    }
    for name, game in games.items():
        if game is not None:
            means = "REFUTES the certificate" if game.refutes else ""
            yield Finding(of, name, _better(game), means, bad=game.refutes)
    yield _of_subtraction(of, attack.subtraction)
    noise = attack.noise
    if noise is not None:
        means = "" if noise.amiss is None else f"REFUTES the certificate: {noise.amiss}"
        if audit.excused(noise):
            means = "may be another original"
        found = f"{coarse(noise.spread)} of what is declared"
        yield Finding(of, "noise found", found, means, bad=noise.amiss is not None)


def _of_subtraction(of: str, left: Subtraction | None) -> Finding:
    attack = "somebody who knows everybody else"
    if left is None:
        return Finding(of, attack, "was not tried", NOT_TRIED, bad=True)
    return Finding(
        of,
        attack,
        f"recovers the last person with an error of {coarse(left.rmse_of_span)} (guessing blindly: "
        f"{coarse(left.blind_rmse_of_span)})",
        "the last person comes back EXACTLY"
        if left.exact
        else "LEARNS something"
        if left.learned
        else "learns nothing",
        bad=left.learned,
    )


def _better(game: Membership) -> str:
    said = [f"95 % limits {signed_limits(game.advantage)}"]
    if game.bound is not None:
        allowed = f"{rounded_up(100 * game.bound, 3)} %"
        said.append(f"allowed: {'almost anything' if game.bound > SAYS_NOTHING else allowed}")
    return f"better than chance by {signed(game.advantage.rate)} ({'; '.join(said)})"


def signed(share: float) -> str:
    """A share that may be negative.

    >>> signed(-0.05), signed(0.2)
    ('−5 %', '20 %')
    """
    return percent(share).replace("-", "−")


def signed_limits(rate: Rate) -> str:
    """Its 95 % limits.

    >>> signed_limits(Rate(-0.05, -0.1, 0.01, 0.0, 20))
    '−10 to 1 %'
    """
    return limits(rate).replace("–", " to ").replace("-", "−")


def map_words(use: MapUse) -> str:
    """What a map is worth."""
    against = [
        "shows no more than the blob" * (not use.beats_blob),
        "is worse than a blank picture" * use.worse_than_blank,
    ]
    return " and ".join(word for word in against if word) or "shows more than the blob"


def table_words(use: TableUse) -> str:
    """What a table is worth."""
    return f"is {'' if use.beats_nothing else 'no '}better than saying nothing"


def worth(audit: MapsAudit) -> Iterator[str]:
    """What maps and tables are still good for: groups one by one, many layers together."""
    uses = audit.uses
    if len(uses) == 1 or audit.target.design.by:
        for use in uses:
            yield _of_one(use, f" of {use.name}" if use.name else "")
    elif uses:
        yield _of_many(uses)
    if audit.tables:
        each = ", ".join(
            f"{table.name} {coarse(table.rmse)} (saying nothing: {coarse(table.nothing_rmse)})"
            for table in audit.tables
        )
        useless = [table.name for table in audit.tables if not table.beats_nothing]
        no_better = f"; no better than saying nothing: {', '.join(useless)}" if useless else ""
        yield f"Errors of the tables of areas: {each}{no_better}."


def _of_one(use: MapUse, whose: str) -> str:
    return (
        f"The map{whose} has a correlation of {coarse(use.released.correlation or 0.0)} with the "
        "heatmap without noise, and a public blob in the middle of the picture has "
        f"{coarse(use.blob.correlation or 0.0)}: it {map_words(use)}."
    )


def _of_many(uses: Sequence[MapUse]) -> str:
    released, blob = (
        sum(getattr(use, which).correlation or 0.0 for use in uses) / len(uses)
        for which in ("released", "blob")
    )
    blank = sum(use.worse_than_blank for use in uses)
    beaten = sum(not use.beats_blob for use in uses)
    return (
        f"{len(uses)} maps have on average a correlation of {coarse(released)} with the heatmap "
        "without noise, and a public blob in the middle of the picture has "
        f"{coarse(blob)}. Maps that show no more than the blob: {beaten}; that are worse than a "
        f"blank picture: {blank}."
    )
