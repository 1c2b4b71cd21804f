"""What an audit of a heatmap found, in figures and in plain words: on a terminal and on a page."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eyelid.attacks.maps import MapAttacks, MapNoise, MapUse, TableUse
from eyelid.attacks.membership import Membership
from eyelid.attacks.statistics import Rate
from eyelid.attacks.subtraction import Subtraction
from eyelid.attacks.target import HeatmapTarget
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.audits.audit_json import UNCOVERED, json_of_everybody, membership_of_last
from eyelid.reporting.audits.page import Standing, total_sentence
from eyelid.reporting.audits.results import Audit
from eyelid.reporting.maps.page import guarantee_legend
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import SAYS_NOTHING, coarse, formal_only, limits, percent, stated
from eyelid.spelling import Table, plural
from eyelid.version import build

if TYPE_CHECKING:
    from markupsafe import Markup

    from eyelid.reporting.attack_rates import Rates

NOT_TRIED = "the people drawn are in it without noise, as its δ says"
_ANOTHER = (
    "the released cells are farther from these gaze points than noise can put them, and no ledger "
    "was asked: this may not be the original, and then the figures mean nothing"
)
_SHOWN = {
    "overlay.png": "The released map. It is all that others see, and shows noise as well as gaze.",
    "reliable.png": "The same map, hatched where it cannot be distinguished from noise.",
    "difference.png": "Where the two groups differ, as released.",
    "areas.png": "The released tables of areas.",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MapsAudit(Audit):
    """Everything that was tried on a heatmap, and what came of it.

    Attributes:
        attacks: on the cells of each map's people and on tables, by what they are of.
        uses: how much of each noise-free heatmap is left.
        tables: how far each table of areas is from the one without noise.
        not_compared: maps without a use, and why.
        grouped: whether maps are of groups of people, and not of pictures.
    """

    target: HeatmapTarget
    attacks: dict[str, MapAttacks]
    uses: tuple[MapUse, ...]
    tables: tuple[TableUse, ...] = ()
    not_compared: tuple[str, ...] = ()
    grouped: bool = False

    @property
    def refuted(self) -> list[str]:
        """What of the certificate turned out false, in words."""
        found = list(self.target.inconsistencies)
        if not self.target.certificate.person_level.holds:
            return found
        for what, attack in self.attacks.items():
            where = f" ({what})" if what else ""
            noise = attack.noise
            if noise is not None and noise.objection is not None and not self.excused(noise):
                found.append(f"{noise.objection}{where}")
            if attack.subtraction is not None and attack.subtraction.exact:
                found.append(f"subtracting all others gives the last one back exactly{where}")
            member = attack.membership
            if member is not None and member.refutes:
                found.append(f"{beyond_bound(member)}{where}")
        return found

    def lines(self) -> Iterator[str | Table]:
        """What was asked of it, and how much of the one without noise is left."""
        from eyelid.reporting.audits.tables import heatmap_lines

        return heatmap_lines(self)

    @property
    def rates(self) -> Rates | None:
        """How well it is told which of two people is in it."""
        from eyelid.reporting.attack_rates import rates_of_game

        found = self.worst
        if found.membership is None:
            return None
        return rates_of_game(found.membership, found.positive, "knows everybody else")

    def excused(self, noise: MapNoise) -> bool:
        """Whether there is too much, and no ledger says that these are the map's gaze points."""
        return self.target.total is None and noise.too_much

    @property
    def _another_original(self) -> bool:
        """Whether these may be other gaze points than the map's."""
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
            return (
                "The certificate is not contradicted, and there are too few people to ask who is "
                "in it"
            )
        allowed = "at this size the guarantee rules out almost nothing"
        if member.bound is not None and member.bound <= SAYS_NOTHING:
            allowed = f"the certificate allows at most {rounded_up(100 * member.bound, 3)}%"
        return (
            "The certificate is not contradicted: an attacker who knows all others tells which of "
            f"two people is in it better than chance by {signed(member.advantage.rate)} (95% "
            f"limits {signed_limits(member.advantage)}; without noise "
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
        attacks = [
            {"of": what or "everybody", **_attack_to_dict(attack)}
            for what, attack in self.attacks.items()
        ]
        maps: list[dict[str, Any]] = [
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
        tables = [
            {
                "task": "table of areas",
                "table": table.name,
                "rmse": _coarse(table.rmse),
                "nothing_rmse": _coarse(table.nothing_rmse),
            }
            for table in self.tables
        ]
        controls = {which: _right(getattr(self.worst, which)) for which in ("positive", "null")}
        return json_of_everybody(self, "heatmap", {"maps": attacks}, maps + tables, controls)


def _attack_to_dict(attack: MapAttacks) -> dict[str, Any]:
    left, member, noise = attack.subtraction, attack.membership, attack.noise
    return {
        "subtraction": None
        if left is None
        else {name: _coarse(value) for name, value in asdict(left).items()}
        | {"people": left.people, "exact": left.exact, "learned": left.learned},
        "membership": None if member is None else membership_of_last(member),
        "noise": None
        if noise is None
        else {"cells": noise.cells, "spread": _coarse(noise.spread), "amiss": noise.objection},
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
        "membership inference": attack.membership,
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
        means = "" if noise.objection is None else f"REFUTES the certificate: {noise.objection}"
        if audit.excused(noise):
            means = "may be another original"
        found = f"{coarse(noise.spread)} of what is declared"
        yield Finding(of, "noise found", found, means, bad=noise.objection is not None)


def _of_subtraction(of: str, left: Subtraction | None) -> Finding:
    attack = "an attacker who knows all others"
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
    said = [f"95% limits {signed_limits(game.advantage)}"]
    if game.bound is not None:
        allowed = f"{rounded_up(100 * game.bound, 3)}%"
        said.append(f"allowed: {'almost anything' if game.bound > SAYS_NOTHING else allowed}")
    return f"better than chance by {signed(game.advantage.rate)} ({'; '.join(said)})"


def beyond_bound(member: Membership) -> str:
    """That membership is found more often than the certificate allows.

    Args:
        member: what was found.
    """
    return (
        "an attacker who knows all others tells which of two people is in it better than chance by "
        f"{signed(member.advantage.rate)}, and the certificate allows "
        f"{rounded_up(100 * (member.bound or 0), 3)}%"
    )


def signed(share: float) -> str:
    """A share that may be negative.

    >>> signed(-0.05), signed(0.2)
    ('−5%', '20%')
    """
    return percent(share)


def signed_limits(rate: Rate) -> str:
    """Its 95% limits.

    >>> signed_limits(Rate(-0.05, -0.1, 0.01, 0.0, 20))
    '−10 to 1%'
    """
    return limits(rate).replace("–", " to ")


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
    if len(uses) == 1 or audit.grouped:
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


def map_report(audit: MapsAudit) -> str:
    """The audit of a heatmap as a page."""
    target = audit.target
    return rendered(
        "map-report.html.j2",
        audit=audit,
        target=target,
        certificate=target.certificate,
        standing=map_standing(audit),
        about=f"audit of a heatmap by {target.certificate.mechanism}: "
        f"{plural(target.certificate.people, 'person', 'people')}",
        pictures=[] if target.path is None else list(_pictures(target.path)),
        total=total_sentence(target.total, target.certificate.people),
        notes=audit.not_tried,
        says_nothing=SAYS_NOTHING,
        stated=stated,
        # In words of gaze points: the usual ones are of features.
        promise=lambda guarantee, others="", form="": guarantee_legend(
            guarantee, target.certificate.people
        ),
        findings=findings(audit),
        map_words=map_words,
        table_words=table_words,
        signed=signed,
        signed_limits=signed_limits,
        uncovered=UNCOVERED,
        version=build(),
    )


def map_standing(audit: MapsAudit) -> Standing:
    """How good or bad the news is."""
    target, promised = audit.target, audit.target.certificate.person_level
    if audit.refuted:
        return Standing("refuted", "Refuted: the certificate of this heatmap is not true")
    if not promised.holds or not promised.kind.differential:
        return Standing("none", "This heatmap carries no guarantee")
    if formal_only(promised) or (promised.delta or 0.0) * target.certificate.people >= 1:
        return Standing("weak", "A guarantee in form only: it rules out almost nothing")
    if target.total is not None and (not target.total.holds or formal_only(target.total)):
        return Standing(
            "weak", "Not contradicted, but little guarantee over all releases of these people"
        )
    if audit.worst.membership is None or target.total is None:
        return Standing("weak", "Certificate not contradicted; not everything could be tested")
    return Standing("sound", "Certificate not contradicted by any attack")


def _pictures(folder: Path) -> list[tuple[Markup, str]]:
    """The released pictures that are there, and what each shows."""
    from markupsafe import Markup

    found = []
    for name, words in _SHOWN.items():
        if (folder / name).is_file():
            data = base64.b64encode((folder / name).read_bytes()).decode("ascii")
            found.append(
                (Markup('<img alt="{}" src="data:image/png;base64,{}">').format(words, data), words)
            )
    return found
