"""Maps of where people looked: is anybody in one exposed, and what does it still show?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eyelid.attacks.maps import (
    MapAttacks,
    MapNoise,
    MapUse,
    TableUse,
    attack_map,
    map_use,
    table_use,
)
from eyelid.attacks.membership import Membership
from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.spread import heatmap
from eyelid.privacy.guarantee import rounded_up
from eyelid.releases.audits.attack import Attack, AuditPlan
from eyelid.releases.audits.audit_json import SCHEMA, UNCOVERED
from eyelid.releases.audits.map_findings import NOT_TRIED, signed, signed_limits, worth
from eyelid.releases.audits.map_target import MapTarget
from eyelid.releases.audits.results import Audit
from eyelid.reporting.sentences import SAYS_NOTHING
from eyelid.version import __version__

AREAS = "tables of areas"
_ANOTHER = (
    "the released cells are farther from these looks than noise can put them, and no ledger was "
    "asked: this may not be the original, and then the figures mean nothing"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class MapsAudit(Audit):
    """Everything that was tried on a heatmap, and what came of it.

    Attributes:
        attacks: on the cells of each map's people and on tables, by what they are of.
        uses: how much of each noise-free heatmap is left.
        tables: how far each table of areas is from the one without noise.
        not_compared: maps without a use, and why.
    """

    target: MapTarget
    attacks: dict[str, MapAttacks]
    uses: tuple[MapUse, ...]
    tables: tuple[TableUse, ...] = ()
    not_compared: tuple[str, ...] = ()

    @property
    def refuted(self) -> list[str]:
        """What of the certificate turned out false, in words."""
        found = list(self.target.disagreements)
        if not self.target.certificate.person_level.holds:
            return found
        for what, attack in self.attacks.items():
            where = f" ({what})" if what else ""
            noise = attack.noise
            if noise is not None and noise.amiss is not None and not self.excused(noise):
                found.append(f"{noise.amiss}{where}")
            if attack.subtraction is not None and attack.subtraction.exact:
                found.append(f"whoever subtracts all others gets the last one back exactly{where}")
            member = attack.membership
            if member is not None and member.refutes:
                found.append(
                    "somebody who knows everybody else tells which of two people is in it better "
                    f"than chance by {signed(member.advantage.rate)}, and the certificate allows "
                    f"{rounded_up(100 * (member.bound or 0), 3)} %{where}"
                )
        return found

    def excused(self, noise: MapNoise) -> bool:
        """Whether there is too much of it, and no ledger says that these are the map's looks."""
        return self.target.total is None and noise.too_much

    @property
    def _another_original(self) -> bool:
        """Whether these may be other looks than the map's."""
        noises = [attack.noise for attack in self.attacks.values()]
        return any(one is not None and self.excused(one) for one in noises)

    @property
    def not_tried(self) -> list[str]:
        """What could not be checked."""
        found = [*self.target.notes, *self.not_compared]
        if self._another_original:
            found.append(_ANOTHER)
        return found

    @property
    def notes(self) -> list[str]:
        """What could not be checked, under the name that it has in version 0.1."""
        return self.not_tried

    @property
    def verdict(self) -> str:
        """The outcome in a sentence or two."""
        if self.refuted:
            return f"The certificate is refuted: {self.refuted[0]}. Do not share this release."
        if self._another_original:
            return f"Nothing can be said: {_ANOTHER}."
        return " ".join([f"{self._promise}; {self._left_out}.", *worth(self)])

    @property
    def worst(self) -> MapAttacks:
        """The attack that told most of who is in it; without any the first subtraction."""
        return max(self.attacks.values(), key=lambda one: _advantage(one.membership))

    @property
    def _promise(self) -> str:
        promised, member = self.target.certificate.person_level, self.worst.membership
        if not promised.holds:
            why = f" ({promised.reasons[0]})" if promised.reasons else ""
            return f"This release carries no guarantee{why}"
        if member is None or self.worst.positive is None:
            return "Not refuted, and there are too few people to ask who is in it"
        allowed = "at this size the guarantee rules out almost nothing"
        if member.bound is not None and member.bound <= SAYS_NOTHING:
            allowed = f"the certificate allows at most {rounded_up(100 * member.bound, 3)} %"
        return (
            "Not refuted: somebody who knows everybody else tells which of two people is in it "
            f"better than chance by {signed(member.advantage.rate)} (95 % limits "
            f"{signed_limits(member.advantage)}; without noise "
            f"{signed(self.worst.positive.advantage.rate)}), and {allowed}"
        )

    @property
    def _left_out(self) -> str:
        """What subtraction told, where it told most."""
        tried = [attack.subtraction for attack in self.attacks.values()]
        found = [one for one in tried if one is not None]
        if len(found) < len(tried):
            return f"subtracting all others was not tried: {NOT_TRIED}"
        if any(one.exact for one in found):
            return "subtracting all others gives the last one back exactly"
        if any(one.learned for one in found):
            return "subtracting all others tells something of the last one"
        return "subtracting all others tells nothing of the last one"

    def to_dict(self) -> dict[str, Any]:
        """As in audit.json; of single people it says nothing."""
        certificate = self.target.certificate
        return {
            "schema": SCHEMA,
            "subject": "heatmap",
            "people": certificate.people,
            "release_sha256": certificate.output_sha256,
            "identification": [],
            "attributes": [],
            "maps": [
                {"of": what or "everybody", **_attack_told(attack)}
                for what, attack in self.attacks.items()
            ],
            "utility": [
                {
                    "task": "heatmap",
                    "layer": use.name,
                    "correlation": _coarse(use.released.correlation),
                    "nmse": _coarse(use.released.nmse),
                    "blob_correlation": _coarse(use.blob.correlation),
                    "blank_nmse": 1.0,
                }
                for use in self.uses
            ]
            + [
                {
                    "task": "table of areas",
                    "table": table.name,
                    "rmse": _coarse(table.rmse),
                    "nothing_rmse": _coarse(table.nothing_rmse),
                }
                for table in self.tables
            ],
            "error": None,
            "controls": {
                which: _right(getattr(self.worst, which)) for which in ("positive", "null")
            },
            "refuted": self.refuted,
            "verdict": self.verdict,
            "notes": [*self.not_tried, UNCOVERED],
            "seed": self.seed,
            "version": __version__,
        }


class MapsAttack(Attack):
    """Maps of where people looked, and tables of areas."""

    def audit(self, target: MapTarget, plan: AuditPlan) -> MapsAudit:
        """Is anybody in it exposed, and what does it still show?"""
        uses, without = _uses(target)
        return MapsAudit(
            target=target,
            attacks=dict(_attacks(target, plan.seed)),
            uses=uses,
            tables=tuple(_table_uses(target)),
            not_compared=without,
            seed=plan.seed,
        )

    def page(self, audit: MapsAudit) -> str:
        """The report, for the owner of the data."""
        from eyelid.releases.audits.map_report import map_report

        return map_report(audit)


def _attacks(target: MapTarget, seed: int) -> Iterator[tuple[str, MapAttacks]]:
    """On each map's people, and on tables."""
    plan, promised = target.plan, target.certificate.person_level
    for number, (mechanism, observers) in enumerate(
        zip(target.mechanisms, plan.observers, strict=True)
    ):
        counts = target.gaze_points_of[number].counts(observers.facts.grid)
        cells = target.cells(number)
        yield (
            observers.name,
            attack_map(mechanism, counts, observers.facts, cells, promised, seed),
        )
    if plan.tables is not None and target.tables is not None:
        counts = plan.tables.mechanism.tables_of(target.looks, plan.tables.areas)
        yield (
            AREAS,
            attack_map(
                plan.tables.mechanism,
                counts,
                plan.tables.facts,
                target.table_cells,
                promised,
                seed,
            ),
        )


def _uses(target: MapTarget) -> tuple[tuple[MapUse, ...], tuple[str, ...]]:
    """Every released map beside the heatmap of the same people without noise."""
    plan, uses, without = target.plan, [], []
    layers = plan.layers
    for number, observers in enumerate(plan.observers):
        for layer, name in enumerate(layers):
            released = target.arrays["map"][number * len(layers) + layer].astype(float)
            raw = gaze_map(target.gaze_points_of[number].of_layer(name)).values
            try:
                truth = heatmap(raw, plan.view.sigma_px)
                uses.append(map_use(observers.name or name, truth, released))
            except InputError as error:
                without.append(str(error))
    return tuple(uses), tuple(without)


def _table_uses(target: MapTarget) -> Iterator[TableUse]:
    """Every released table beside that of the same people, and the same visits, without noise."""
    plan = target.plan.tables
    if plan is None or target.tables is None:
        return
    looks, mechanism = target.looks, plan.mechanism
    counts = mechanism.tables_of(looks, plan.areas)
    summed = np.bincount(counts.cell, weights=counts.count, minlength=counts.cells)
    means = (summed / counts.people).reshape(len(looks.layers), -1)
    truth = mechanism.presented(means, plan.facts, looks.layers, [area.name for area in plan.areas])
    for limits in mechanism.limits(plan.facts):
        noise_free, released = (
            table.filter(table["table"] == limits.table)["value"].to_numpy()
            for table in (truth, target.tables)
        )
        yield table_use(limits.table, noise_free, released, limits.total)


def _attack_told(attack: MapAttacks) -> dict[str, Any]:
    left, member, noise = attack.subtraction, attack.membership, attack.noise
    return {
        "subtraction": None
        if left is None
        else {name: _coarse(value) for name, value in asdict(left).items()}
        | {"people": left.people, "exact": left.exact, "learned": left.learned},
        "membership": None
        if member is None
        else {
            "attacker": "likelihood ratio, knows everybody else",
            "decisions": member.decisions,
            "advantage": member.advantage.rate,
            "low": member.advantage.low,
            "high": member.advantage.high,
            "chance": 0.0,
            "bound": member.bound,
            "p_value": member.p_value,
            "refutes": member.refutes,
        },
        "noise": None
        if noise is None
        else {"cells": noise.cells, "spread": _coarse(noise.spread), "amiss": noise.amiss},
    }


def _right(member: Membership | None) -> dict[str, Any] | None:
    """How often a control was right about who is in it."""
    if member is None:
        return None
    right = member.right
    return {"rate": right.rate, "low": right.low, "high": right.high, "chance": right.chance}


def _advantage(member: Membership | None) -> float:
    return -math.inf if member is None else member.advantage.rate


def _coarse(value: float | None) -> float | None:
    """Two digits: more would be a fingerprint of the raw data."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.2g}")
