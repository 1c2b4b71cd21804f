"""The averaging attack: the same people released again and again, and the mean of it all attacked.

Fresh noise averages out: that of a mean of m releases is √m times smaller. Composition accounts
for it, so each number of releases has a bound of its own: m·ε for pure guarantees, μ·√m for
Gaussian ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.identification import Finding, identify
from eyelid.attacks.protocols import Material, find_protocol
from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.privacy.composition import sequential
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.rank1 import rank1_bounds


@dataclass(frozen=True, eq=False)
class Averaged:
    """How an attacker fared against the mean of several releases.

    Attributes:
        releases: how many.
        total: what they promise together; None where nothing is promised.
        finding: the rate beside the bound that the total allows.
    """

    releases: int
    total: Guarantee | None
    finding: Finding


def averaging(
    material: Material,
    person_level: Guarantee | None,
    counts: Sequence[int] = (1, 4, 16),
    attacker: Attacker | None = None,
    seed: int = 0,
) -> list[Averaged]:
    """Release again and again, and attack the mean after so many releases.

    The first release is the one that there is. The bounds stand beside the rates; these attacks
    refute nothing, since releases that nobody made have no certificate.

    Args:
        material: with a mechanism that can be run again.
        person_level: what one release promises a person, marked as not holding where people are
            told apart by something that is not protected; None for nothing.
        counts: after how many releases to attack.
        attacker: who re-identifies people from the raw data; by default by the means of recordings,
            since an attacker who averages releases averages rows too.
        seed: of the attacker's choices.
    """
    if material.released is None or material.again is None:
        raise InputError("averaging needs a release and a mechanism that can be run again")
    if not counts or min(counts) < 1:
        raise InputError(f"give numbers of releases of at least 1, got {list(counts)}")
    if attacker is None:
        from eyelid.attacks.attackers.means import Means

        attacker = Means()
    protocol = find_protocol("raw→release")
    wanted = sorted(set(counts))
    attacked: list[Averaged] = []
    for count, mean in zip(wanted, _means(material, wanted), strict=True):
        (finding,) = identify(Material(material.original, mean), [attacker], [protocol], seed)
        total = None if person_level is None else sequential([person_level] * count)
        bound = None
        if total is not None:
            bound = rank1_bounds(total, len(material.people))["raw_to_release"]
        attacked.append(Averaged(count, total, replace(finding, bound=bound)))
    return attacked


def _means(material: Material, counts: Sequence[int]) -> Iterator[FeatureTable]:
    """The mean of the first so many releases; only their running sum is kept."""
    first, again = material.released, material.again
    assert first is not None
    assert again is not None
    running = first.data.select(first.names).cast(pl.Float64).to_numpy(writable=True)
    for done in track(range(1, counts[-1] + 1), "releasing again", total=counts[-1]):
        if done > 1:
            fresh = again(material.original)
            if len(fresh.data) != len(running):
                raise InputError(
                    f"the release has {len(running)} rows and another of the same people "
                    f"{len(fresh.data)}: is this the mechanism that made it?"
                )
            running += fresh.data.select(first.names).to_numpy()
        if done in counts:
            mean = running / done
            columns = [pl.Series(name, mean[:, j]) for j, name in enumerate(first.names)]
            yield replace(first, data=first.data.with_columns(columns))
