"""What an audit of synthetic recordings found, in figures and in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from eyelid.attacks.gaze_use import EVENTS, MAPS, SPECTRA, TASK, Figure, GazeUse
from eyelid.attacks.membership import Membership
from eyelid.attacks.samples.generated import SampleAttack
from eyelid.attacks.synthetic_gaze import GroupAttack, Resemblance
from eyelid.attacks.target import ResultsTarget
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.audits.audit_json import UNCOVERED, json_of_everybody, membership_of_last
from eyelid.reporting.audits.maps import beyond_bound, signed, signed_limits
from eyelid.reporting.audits.page import Standing
from eyelid.reporting.audits.results import Audit
from eyelid.reporting.audits.verdict import ALLOWS_MUCH
from eyelid.reporting.gaze_pictures import distributions_picture
from eyelid.reporting.rendering import rendered
from eyelid.reporting.sentences import SAYS_NOTHING, coarse, limits, percent
from eyelid.spelling import Table, plural
from eyelid.version import build

if TYPE_CHECKING:
    from eyelid.reporting.attack_rates import Rates


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SyntheticGazeAudit(Audit):
    """Everything that was tried on synthetic recordings, and what came of it.

    Attributes:
        membership: how well a person is told from their opposite, all others being known; None of
            groups without noise.
        resemblance: how near recordings are to their answers, and to people; None of groups.
        members: how well members of groups are told apart; None where there are none.
        errors: of each parameter and task what recordings are drawn after, and what people are.
        samples: what attackers who know samples found.
        use: what recordings are good for; None where they could not be compared.
        left_out: what was not tried of samples, and why.
    """

    target: ResultsTarget
    membership: Membership | None
    resemblance: Resemblance | None
    members: GroupAttack | None
    errors: tuple[Mapping[str, Any], ...]
    samples: tuple[SampleAttack, ...] = ()
    use: GazeUse | None = None
    left_out: tuple[str, ...] = ()

    @property
    def rates(self) -> Rates | None:
        """How well a participant is told from their opposite."""
        from eyelid.reporting.attack_rates import rates_of_game

        if self.membership is None:
            return None
        return rates_of_game(self.membership, None, "knows all others")

    @property
    def refuted(self) -> list[str]:
        """What of the certificate turned out false, in words."""
        found = list(self.target.inconsistencies)
        if not self.target.certificate.person_level.holds:
            return found
        member, like, groups = self.membership, self.resemblance, self.members
        if member is not None and member.refutes:
            found.append(beyond_bound(member))
        if like is not None and not like.follows:
            found.append(
                f"recordings are not drawn after what was measured: {like.parameter} is "
                f"{like.errors:.1f} standard errors off"
            )
        if groups is not None and groups.refutes:
            found.append(
                f"participants are named in {percent(groups.identification.rate)} of cases, and "
                f"k = {groups.k} allows {percent(1 / groups.k)}"
            )
        for attack in self.samples:
            if attack.refutes:
                found.append(
                    "synthetic participants are those in whose places they stand: "
                    f"{attack.attacker} names {percent(attack.within.rate)}{self._among} "
                    f"where chance is {percent(attack.within.chance)}"
                )
        return found

    @property
    def _among(self) -> str:
        return "" if self.members is None else " among members of their group"

    @property
    def not_tried(self) -> list[str]:
        """What could not be checked."""
        found = list(self.target.notes)
        if self.membership is not None:
            found.append(
                "membership by attackers who have recordings alone, samples included: recordings "
                "are drawn after the answers and nothing else of people, so that the likelihood "
                "ratio of the answers, as here, bounds whatever samples can add"
            )
        else:
            found.append(
                "what was measured of each group, which is not released: whether the recordings "
                "are drawn after it"
            )
            if self.samples:
                found.append(
                    "samples of this very release: nobody knows its groups, so that attackers on "
                    "samples have other releases of the same mechanism, whose groups are known"
                )
        return [*found, *self.left_out]

    @property
    def verdict(self) -> str:
        """The outcome in a sentence or two."""
        if self.refuted:
            return f"The certificate is refuted: {self.refuted[0]}. Do not share this release."
        promised, found = self.target.certificate.person_level, self._found
        if not promised.holds:
            why = f" ({promised.reasons[0]})" if promised.reasons else ""
            return f"This release carries no guarantee{why}: {found}."
        return f"Certificate not contradicted: {found}, and {self._allowed}."

    @property
    def _found(self) -> str:
        member, groups = self.membership, self.members
        if member is not None:
            return (
                "an attacker who knows all others tells a participant from their opposite better "
                f"than chance by {signed(member.advantage.rate)} (95% limits "
                f"{signed_limits(member.advantage)})"
            )
        assert groups is not None, "recordings are of everybody, or of groups"
        return (
            "an attacker who learns from synthetic recordings names the one made for a participant "
            f"in {percent(groups.identification.rate)} of cases (95% limits "
            f"{limits(groups.identification)})"
        )

    @property
    def _allowed(self) -> str:
        if self.members is not None:
            return f"k = {self.members.k} allows {percent(1 / self.members.k)}"
        bound = None if self.membership is None else self.membership.bound
        if bound is None or bound > SAYS_NOTHING:
            return "the guarantee rules out almost nothing at this size"
        return f"the certificate allows at most {rounded_up(100 * bound, 3)}%"

    def lines(self) -> Iterator[str | Table]:
        """What was tried, and how far off recordings are, for a terminal."""
        rows = []
        member, like, groups = self.membership, self.resemblance, self.members
        if member is not None:
            rows.append(("membership inference", f"{signed(member.advantage.rate)} over chance"))
        if like is not None:
            rows += [
                (
                    "recordings against others of the same answers",
                    f"{like.errors:.1f} standard errors at most ({like.parameter})",
                ),
                (
                    "nearest participant, and everybody's mean",
                    f"{like.nearest:.2f} and {like.centre:.2f} standard deviations away",
                ),
            ]
        if groups is not None:
            rows += [
                (
                    "synthetic participant made for a person named",
                    f"{percent(groups.identification.rate)} ({limits(groups.identification)})",
                ),
                ("group of a person found", f"{percent(groups.groups.rate)}"),
                ("control: drawn after each person alone, named", f"{percent(groups.alone.rate)}"),
            ]
        rows += [self._told(attack) for attack in self.samples]
        yield Table("Is any participant exposed?", ["attack", "found"], rows)
        if self.use is not None and (kept := self._in_short(self.use)):
            columns = ["figure", "people", "release", "guess without data"]
            yield Table("What recordings are good for", columns, kept)
        if self.errors:
            columns = ["parameter", "task", "drawn after", "of these people", "error in SD"]
            yield Table("How far off recordings are", columns, self.rows())

    def _told(self, attack: SampleAttack) -> tuple[str, str]:
        """One attacker on samples, in a line."""
        rate = attack.within
        of = f"chance {percent(rate.chance)}"
        if self.members is not None:
            of = f"k allows {percent(1 / self.members.k)}"
        said = f"{percent(rate.rate)} ({limits(rate)}; {of})"
        if attack.found is not None:
            said += f"; group {percent(attack.found.rate)} (chance {percent(attack.found.chance)})"
        if attack.control is not None:
            said += f"; in people's own recordings {percent(attack.control.rate)}"
        member = "person" if self.members is None else "member of a group"
        return f"{attack.attacker}: {member} named by synthetic recordings", said

    @staticmethod
    def _in_short(use: GazeUse) -> list[list[str]]:
        """The worst of each kind of figure."""
        words = {
            EVENTS: "events, the farthest (halves of people: 1)",
            SPECTRA: "spectra, the farthest, in dB",
            MAPS: "maps, mean correlation with other people's",
            TASK: "task recognised in real windows",
        }
        found = []
        for kind, said in words.items():
            each = use.worst(kind)
            if each[1] is not None:
                found.append([said, *map(_told, each)])
        return found

    def figures(self) -> Table | None:
        """Every figure of what recordings are good for, for the page."""
        if self.use is None:
            return None
        rows = [
            [one.of or "all", one.what, *map(_told, (one.people, one.released, one.guessed))]
            for one in self.use.figures
        ]
        columns = ["of", "figure", "people", "release", "guess without data"]
        return Table("Recordings beside people's, and beside a guess", columns, rows)

    def rows(self) -> list[list[str]]:
        """Every parameter beside what is true of these people."""
        return [
            [
                f"{row['parameter']} ({row['unit']})",
                row["task"] or "all",
                coarse(row["drawn"]),
                coarse(row["people"]),
                f"{row['error_in_sd']:+.2f}",
            ]
            for row in self.errors
        ]

    def to_dict(self) -> dict[str, Any]:
        """As in audit.json; of single people it says nothing."""
        groups, like = self.members, self.resemblance
        attacks = {
            "membership": None if self.membership is None else membership_of_last(self.membership),
            "resemblance": None if like is None else asdict(like) | {"follows": like.follows},
            "groups": None
            if groups is None
            else {
                "identification": asdict(groups.identification) | {"bound": 1 / groups.k},
                "found": asdict(groups.groups),
                "refutes": groups.refutes,
            },
            "samples": [
                {
                    "attacker": one.attacker,
                    "named": asdict(one.named),
                    "within": asdict(one.within)
                    | {"bound": None if groups is None else 1 / groups.k},
                    "found": None if one.found is None else asdict(one.found),
                    "control": None if one.control is None else asdict(one.control),
                    "p_value": one.p_value,
                    "refutes": one.refutes,
                }
                for one in self.samples
            ],
        }
        errors = [
            {
                "task": "parameter",
                "parameter": row["parameter"],
                "of": row["task"],
                "released": row["drawn"],
                "without_noise": float(coarse(row["people"])),
                "error_in_sd": round(row["error_in_sd"], 2),
            }
            for row in self.errors
        ]
        errors += [] if self.use is None else map(_as_json, self.use.figures)
        alone = None if groups is None else asdict(groups.alone)
        return json_of_everybody(
            self, "synthetic recordings", attacks, errors, {"positive": alone, "null": None}
        )


def _told(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _as_json(one: Figure) -> dict[str, Any]:
    """One figure of use; two digits, since more would be a fingerprint of the raw data."""
    each = {"people": one.people, "released": one.released, "guessed": one.guessed}
    return {
        "task": one.kind,
        "of": one.of,
        "figure": one.what,
        **{name: None if value is None else round(value, 2) for name, value in each.items()},
        "more_is_better": one.more,
    }


def synthetic_gaze_report(audit: SyntheticGazeAudit) -> str:
    """The audit of synthetic recordings as a page."""
    certificate = audit.target.certificate
    bad = Standing("refuted", "Refuted: the certificate of this release is not true")
    bound = None if audit.membership is None else audit.membership.bound
    good = Standing("sound", "Certificate not contradicted by any attack")
    if (bound or 0.0) > ALLOWS_MUCH:
        good = Standing("weak", "Certificate not contradicted, but the guarantee allows much")
    none = Standing("exposed", "No valid guarantee")
    standing = bad if audit.refuted else good if certificate.person_level.holds else none
    return rendered(
        "results-report.html.j2",
        audit=audit,
        certificate=certificate,
        standing=standing,
        about=f"audit of synthetic recordings by {certificate.mechanism}: "
        f"{plural(certificate.people, 'person', 'people')}",
        lines=[*audit.lines(), *filter(None, [audit.figures()])],
        picture=None if audit.use is None else distributions_picture(audit.use),
        notes=audit.not_tried,
        uncovered=UNCOVERED,
        version=build(),
    )
