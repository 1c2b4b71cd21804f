"""The audit: attack a study or a release with everything there is, and say plainly what came of it.

The figures are computed from the raw data without noise. They are no part of what a certificate
covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.attackers import ATTACKERS, Attacker, default_attackers, find_attackers
from eyelid.attacks.attackers.fusion import NAME as FUSED
from eyelid.attacks.attackers.fusion import event_finding
from eyelid.attacks.attackers.likelihood import NAME as LIKELIHOOD
from eyelid.attacks.attackers.likelihood import likelihood_finding
from eyelid.attacks.attributes import Inference, infer_attributes
from eyelid.attacks.averaging import Averaged, averaging
from eyelid.attacks.error import ErrorMeasures, error_of
from eyelid.attacks.groups import PROTOCOLS as FOR_GROUPS
from eyelid.attacks.groups import GroupsAudit, audit_groups, audit_records
from eyelid.attacks.identification import (
    Finding,
    beyond_chance,
    identify,
    null_control,
    with_bounds,
)
from eyelid.attacks.means import MeansAudit, audit_means
from eyelid.attacks.measurements import legible
from eyelid.attacks.protocols import POSITIVE, PROTOCOLS, Material, Protocol, find_protocol
from eyelid.attacks.risk import features_at_risk, people_at_risk
from eyelid.attacks.splits import splits_of
from eyelid.attacks.statistics import rate_of_decisions
from eyelid.attacks.streams import StreamMeasures, stream_measures
from eyelid.attacks.streams.timing import without_gaze
from eyelid.attacks.synthetic import (
    ShownHistograms,
    SyntheticAudit,
    audit_synthetic,
    shown_histograms,
)
from eyelid.attacks.temporal.summary import TemporalSummary, release_summary, temporal_summary
from eyelid.attacks.utility import Use, learned_elsewhere, utility
from eyelid.engine.atomic import check_file
from eyelid.engine.engines import using
from eyelid.engine.progress import Advance, one_bar, part
from eyelid.errors import InputError
from eyelid.gaze.features.omission import without_blanks
from eyelid.gaze.features.per_event import events_and_omissions
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.io.release_folder import states_heatmap
from eyelid.mechanisms.features import PredictableMechanism
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.rank1 import advantage_bound
from eyelid.privacy.unit import Trust
from eyelid.releases.audits.audit_json import audit_json
from eyelid.releases.audits.canaries import CanaryResult, canary_audit, takes_canaries
from eyelid.releases.audits.folder import audit_places
from eyelid.releases.audits.naming import NamingAttack, naming_attacks
from eyelid.releases.audits.target import Source, Subject, subject_of
from eyelid.releases.audits.verdict import verdict
from eyelid.releases.pipeline import Release
from eyelid.releases.words import percent
from eyelid.spelling import json_text

# With more people, inferring attributes takes hours: it grows with their third power.
_MOST_INFERRED = 150
# What takes how long, about, for the bar.
_REST = "looking at the rest"
_PARTS = {
    "recognising": 5,
    "attacking": 10,
    "inferring": 3,
    "attacking people who are all alike": 2,
    _REST: 4,
}
# Attackers that are no `Attacker`: they know other things than records.
_SPECIAL = (LIKELIHOOD, FUSED)
# A page may replace a page, and nothing else.
PAGES = (".html", ".htm")
UNCOVERED = (
    "These figures were computed from the raw data without noise: no certificate covers them. "
    "Publish them only if you mean to."
)


@dataclass(frozen=True, eq=False)
class Audit:
    """Everything that was tried, and what came of it.

    Attributes:
        subject: what was audited.
        identification: who could be named, under every honest protocol and the papers' own.
        positive: the same on raw data: what the attackers can do at all.
        null: the same on people who are all alike: what they do when there is nothing to find.
        utility: what the data are still good for.
        attributes: what of people's attributes can be told.
        not_inferred: attributes that could not be tried, and why.
        not_named: why nobody could be asked to name people from recordings of something else.
        error: how far the released values are off; None without a release.
        groups: what else was found about released groups; None where none were released.
        histograms: what histograms without noise show; None where none were drawn from.
        synthetic: what made-up rows or people were found to be like; None where there are none.
        means: what attacks on means over people came to; None where people's own records were
            released, which are then attacked as above.
        repeated: what averaging several releases of the same people would give.
        canaries: the whole release pipeline, tried on made-up people; None without a mechanism.
        streams: whether released gaze still looks like an eye; None without gaze on both sides.
        without_gaze: who is named by what filters release as it is; of released gaze only.
        temporal: how rows go together, and what that lets out; None where there is too little.
        not_correlated: why there is none.
        people: who is at risk, for the owner's eyes; None for a release.
        features: which features tell people apart.
        seed: of the attackers.
        partial: whether somebody chose attackers or protocols, so that not all was tried.
        targets: what somebody asked the data to be good for.
        written: the files that hold it.
        unwritten: why its figures are in none; empty where they are, or need not be.
    """

    subject: Subject
    identification: tuple[Finding, ...]
    positive: tuple[Finding, ...]
    null: tuple[Finding, ...]
    utility: tuple[Use, ...] = ()
    attributes: tuple[Inference, ...] = ()
    not_inferred: tuple[str, ...] = ()
    not_named: tuple[str, ...] = ()
    error: ErrorMeasures | None = None
    groups: GroupsAudit | None = None
    histograms: ShownHistograms | None = None
    synthetic: SyntheticAudit | None = None
    means: MeansAudit | None = None
    repeated: tuple[Averaged, ...] = ()
    canaries: CanaryResult | None = None
    streams: StreamMeasures | None = None
    without_gaze: tuple[Finding, ...] = ()
    temporal: TemporalSummary | None = None
    not_correlated: tuple[str, ...] = ()
    people: pl.DataFrame | None = None
    features: pl.DataFrame | None = None
    seed: int = 0
    partial: bool = False
    targets: tuple[str, ...] = ()
    written: tuple[Path, ...] = ()
    unwritten: str = ""

    @property
    def across(self) -> str:
        """What lies between what attackers know and what they see: tasks, recordings or halves."""
        return splits_of(self.subject.original)[0].across

    @property
    def honest(self) -> list[Finding]:
        """What was found under protocols that show what they say."""
        return [finding for finding in self.identification if finding.honest]

    @property
    def attacks(self) -> list[NamingAttack]:
        """Everything honest that names people, intersections of groups included."""
        return list(naming_attacks(self.subject, self.honest, self.groups))

    @property
    def worst(self) -> NamingAttack | None:
        """The one to fear; None where nobody was to be named."""
        return max(self.attacks, key=lambda attack: attack.rate.rate, default=None)

    @property
    def not_tried(self) -> list[str]:
        """What could not be checked or tried, and why."""
        return [
            *self.subject.notes,
            *self.not_named,
            *self.not_inferred,
            *self.not_correlated,
        ]

    @property
    def alarms(self) -> list[str]:
        """Attackers who name people that are all alike: what they recognise is something else."""
        return beyond_chance(self.null)

    @property
    def recognises(self) -> bool:
        """Whether the attackers recognise people in raw data, where there is much to recognise."""
        return bool(beyond_chance(self.positive))

    @property
    def compared(self) -> list[Finding]:
        """The findings that have a bound to be compared with."""
        return [finding for finding in self.honest if finding.bound is not None]

    @property
    def could_refute(self) -> bool:
        """Whether the attacks could have refuted the certificate, all of them being right."""
        everybody = np.ones(self.subject.people)
        perfect = [
            replace(
                finding,
                rate=rate_of_decisions(everybody, finding.rate.chance),
                right=tuple((people, people) for _, people in finding.right),
                shares=everybody,
            )
            for finding in self.identification
        ]
        return any(finding.refutes for finding in with_bounds(perfect, self.subject.bounds()))

    @property
    def refuted(self) -> list[str]:
        """What of the certificate turned out false, in words."""
        found = list(self.subject.disagreements)
        found += [
            f"{f.attacker} ({f.protocol}) names {percent(f.rate.rate)} of people, and the "
            f"certificate allows {rounded_up(100 * (f.bound or 0), 3)} %; if it were true, that or "
            f"more would have a chance of {max(f.p_value or 0.0, 1e-12):.0e}"
            for f in sorted(self.identification, key=lambda f: -f.rate.rate)
            if f.refutes and not self._recognises_something_else(f)
        ]
        made_up = self.synthetic if self.subject.claims_to_hold else None
        if made_up is not None and made_up.copied:
            found.append(
                f"{made_up.copies} of {made_up.rows} made-up rows are rows of people as they were "
                "recorded"
            )
        asked = {
            "means by this mechanism who is in them": self.means,
            "what this mechanism makes up whose data it is made of": self.synthetic,
        }
        for what, of in asked.items():
            member = None if of is None else of.membership
            if member is not None and member.refutes:
                found.append(
                    f"whoever asks of {what} is right with an advantage of "
                    f"{percent(member.advantage.rate)}, and the certificate allows "
                    f"{rounded_up(100 * (member.bound or 0), 3)} %"
                )
        if self.canaries is not None and self.canaries.refuted:
            runs = (self.canaries.person, self.canaries.within)
            found += [
                f"made-up people sent through the release lose at least {run.measure} "
                f"{run.lower_bound:.3g}, where {run.claimed:.3g} is claimed for them"
                for run in runs
                if run is not None and run.refuted
            ]
        return found

    def _recognises_something_else(self, finding: Finding) -> bool:
        """Whether an attacker failed the null control, so that its rate says nothing here.

        One of ours who names people that are all alike from two releases has recognised noise, and
        that only there; what somebody else's attacker goes by is not known.
        """
        ours = finding.attacker in {attacker.name for attacker in ATTACKERS}
        fooled = finding.protocol == "release→release" or not ours
        return finding.attacker in self.alarms and fooled

    @property
    def verdict(self) -> str:
        """The outcome in one plain sentence, or two where a warning belongs to it."""
        return verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """As in audit.json; of single people it says nothing unless nothing was released."""
        return audit_json(self, UNCOVERED)

    def to_json(self) -> str:
        """The text of audit.json."""
        return json_text(self.to_dict())


def audit(
    original: Source,
    released: Source | Release | None = None,
    *,
    report: Path | str | None = None,
    attackers: str | Sequence[str | Attacker] | None = None,
    protocols: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    map: Map = None,
    ledger: Path | str | None = None,
    seed: int = 0,
    engine: str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
) -> Audit:
    """How identifiable is this now, or what was released of it?

    What is found of a released folder is written into ``NAME-audit`` beside it, ``audit.json`` and
    ``report.html``: made of raw data, for the owner alone. Nothing is written into a release.

    Args:
        original: a study folder, recordings, a study or a feature table.
        released: what was released of it. Without one, the original itself is attacked.
        report: a HTML file for the page, instead of that in ``NAME-audit``; not in a study or a
            release.
        attackers: by name, or your own; a strong choice by default.
        protocols: by name; all by default.
        targets: what the data should still be good for: ``task``, an attribute or a label column.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        ledger: the file that counted the release, if it is not the original's own.
        seed: of the attackers' random choices.
        engine: who works: ``local``, ``dask`` or ``dask:ADDRESS``; it makes no difference to what
            is found.
        people: whom of the original it is about, as for `eyelid.release`: for a release of some,
            the same as there.
        min_seconds: what a recording has to last, as for `eyelid.release`.

    >>> import eyelid
    >>> study = eyelid.simulate(people=4, minutes=1.5, seed=1)
    >>> found = audit(study, attackers=["means"])
    >>> found.identification[0].protocol, round(found.identification[0].rate.chance, 2)
    ('raw→raw', 0.25)
    """
    page = Path(report) if report is not None else None
    if page is not None:
        check_file(page, PAGES)
    if seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    wanted = [attackers] if isinstance(attackers, str) else list(attackers or ())
    how = [find_protocol(name) for name in protocols] if protocols else PROTOCOLS
    names = [name for name in wanted if isinstance(name, str)]
    plan = _Plan(
        [attacker for attacker in wanted if not isinstance(attacker, str)]
        + find_attackers([name for name in names if name not in _SPECIAL], besides=_SPECIAL),
        [name for name in _SPECIAL if name in names or not wanted],
        how,
        tuple(targets or ()),
        seed,
    )
    if ledger is not None and not Path(ledger).exists():
        raise InputError(f"there is no ledger at {ledger}")
    if isinstance(released, str | Path) and states_heatmap(released):
        raise InputError(f"{released} is a heatmap: use 'eyelid audit' or eyelid.audit_heatmap")
    with using(engine):
        subject = subject_of(
            original, released, map=map, ledger=ledger, people=people, min_seconds=min_seconds
        )
        public = subject.released is not None and subject.released.released
        places = audit_places(subject.path if public else None, page)
        done = _attack(subject, plan)
    done = replace(done, partial=bool(wanted or protocols), targets=plan.targets)
    written = places.write(done.to_json(), _page(done)) if places.some else ()
    return replace(done, written=written, unwritten=places.unwritten)


@dataclass(frozen=True)
class _Plan:
    """What somebody asked for.

    Attributes:
        attackers: those who learn from records; a choice of eyelid's own when empty.
        special: those of another kind, by name.
        protocols: how to attack.
        targets: what the data should be good for.
        seed: of random choices.
    """

    attackers: Sequence[Attacker]
    special: Sequence[str]
    protocols: Sequence[Protocol]
    targets: tuple[str, ...]
    seed: int


def _attack(subject: Subject, plan: _Plan) -> Audit:
    if subject.means is not None:
        return _attack_means(subject, plan)
    if subject.made_up:
        return _attack_made_up(subject, plan)
    if subject.grouped and subject.groups is None:
        # Refuted already: what is there to attack is not known.
        return Audit(subject=subject, identification=(), positive=(), null=(), seed=plan.seed)
    with one_bar(sum(_PARTS.values())) as advance:
        return _attack_records(subject, plan, advance)


def _attack_records(subject: Subject, plan: _Plan, advance: Advance) -> Audit:
    """People's own records, or their groups', attacked in every way there is."""
    seed, protocols, groups = plan.seed, plan.protocols, subject.groups
    material = subject.material(seed)
    not_named: tuple[str, ...] = ()
    if groups is not None:
        protocols = [protocol for protocol in protocols if protocol.name in FOR_GROUPS]
        not_named = _cannot_be_parted(material)
    attackers = plan.attackers or default_attackers(subject.people)
    promised = subject.promised
    if not_named:
        protocols = []
    elif material.released is not None:
        protocols = [protocol for protocol in protocols if material.possible(protocol)]
        if not any(protocol.honest for protocol in protocols):
            raise InputError(
                "none of the protocols asked for is a fair test here: add raw->release (those that "
                "use the mechanism need a certificate)"
            )
    # First what can fail by what somebody asked for.
    together = None if groups is None else groups.groups_of(material.people)
    # Tested are raw windows; and the release's too, with halves of both.
    ways = 2 if material.released is None else 5
    with _part(advance, "recognising", ways):
        used = utility(material, plan.targets or None, seed=seed, together=together)
    if groups is not None:
        # Members of a group share their records: no part of it is another person's.
        used = [use for use in used if not use.protocol.startswith("paper")]
    # The positive control learns from the same raw recordings: both at once.
    tried = []
    if not not_named:
        over_all = () if groups is None else FOR_GROUPS
        with _part(advance, "attacking"):
            tried = identify(material, attackers, [POSITIVE, *protocols], seed, over_all)
            tried += _by_places(subject, attackers, protocols, seed)
    positive = [finding for finding in tried if finding.protocol == POSITIVE.name]
    findings = [finding for finding in tried if finding.protocol != POSITIVE.name]
    local = promised is not None and promised.trust is Trust.LOCAL
    allowed = advantage_bound(promised) if local else None
    bound = None if allowed is None else (1 + allowed) / 2
    with _part(advance, "inferring", 1 if material.released is None else 2):
        inferred, left_out = infer_attributes(_some_of(material, seed), bound=bound, seed=seed)
    not_inferred = [f"{one.attribute} was not inferred: {one.reason}" for one in left_out]
    if inferred and subject.people > _MOST_INFERRED:
        some = f"{_MOST_INFERRED} of {subject.people} people"
        not_inferred.append(f"attributes were inferred of {some}: of more it would take hours")
    with _part(advance, "attacking people who are all alike"):
        null = [] if not_named else null_control(material, attackers, seed)
    advance(0, _REST)
    temporal, not_correlated = _over_time(subject) if groups is None else (None, ())
    common: dict[str, Any] = {
        "subject": subject,
        "positive": tuple(positive),
        "null": tuple(null),
        "utility": tuple(used),
        "attributes": tuple(inferred),
        "not_inferred": tuple(not_inferred),
        "not_named": not_named,
        "temporal": temporal,
        "not_correlated": not_correlated,
        "seed": seed,
    }
    if material.released is None:
        if FUSED in plan.special:
            positive += _by_events(subject, seed)
            common["positive"] = tuple(positive)
        findings = positive
        return Audit(
            identification=tuple(findings),
            people=people_at_risk(findings, material.people),
            features=features_at_risk(subject.original),
            **common,
        )
    law = subject.law
    if groups is not None:
        return Audit(
            identification=tuple(with_bounds(findings, subject.bounds())),
            error=error_of(material.original, material.released),
            groups=audit_groups(groups, attackers, [p.name for p in protocols], seed=seed),
            **common,
        )
    if (
        isinstance(law, MeasuringMechanism)
        and subject.certificate is not None
        and LIKELIHOOD in plan.special
        and len(legible(law, law.shape(material.original)))
    ):
        findings.append(
            likelihood_finding(law, material.original, material.released, material.people)
        )
    # The same people may be together in one task and apart in the next.
    regrouped = law is not None and law.regroups
    bins = None if law is None else law.bare_bins
    return Audit(
        identification=tuple(with_bounds(findings, subject.bounds())),
        groups=audit_records(material.original, material.released) if regrouped else None,
        histograms=None
        if bins is None
        else shown_histograms(material.original, material.released, bins),
        error=error_of(material.original, material.released),
        # Features of gaze do not average as gaze would.
        repeated=tuple(averaging(material, promised, seed=seed))
        if material.again and subject.stream is None
        else (),
        canaries=_canaries(subject),
        without_gaze=()
        if subject.stream is None
        else tuple(without_gaze(subject.stream.taken, attackers, seed)),
        streams=stream_measures(subject.samples, subject.released_samples)
        if subject.samples is not None and subject.released_samples is not None
        else None,
        **common,
    )


def _part(advance: Advance, what: str, bars: int = 1) -> AbstractContextManager[None]:
    """A part of the bar of an audit, by its name."""
    return part(advance, _PARTS[what], what, bars)


def _by_places(
    subject: Subject, attackers: Sequence[Attacker], protocols: Sequence[Protocol], seed: int
) -> list[Finding]:
    """Who is named in released gaze by where they look on average; of features nobody."""
    if subject.stream is None or subject.released_samples is None:
        return []
    material = subject.stream.by_places(subject.released_samples, seed)
    if material is None:
        return []
    honest = [p for p in (POSITIVE, *protocols) if p.honest]
    found = identify(material, attackers, honest, seed)
    return [replace(finding, attacker=f"{finding.attacker} of places") for finding in found]


def _some_of(material: Material, seed: int) -> Material:
    """The same of so many people, drawn at random, as attributes can be inferred of."""
    if len(material.people) <= _MOST_INFERRED:
        return material
    rng = np.random.default_rng([seed, *b"some people"])
    drawn = rng.choice(len(material.people), _MOST_INFERRED, replace=False)
    kept = pl.col("person").is_in([material.people[index] for index in drawn])
    original, released = (
        None if table is None else replace(table, data=table.data.filter(kept))
        for table in (material.original, material.released)
    )
    assert original is not None, "there is always an original"
    return Material(original, released)


def _cannot_be_parted(material: Material) -> tuple[str, ...]:
    """Why nothing can be known beforehand and something else be shown; nothing where it can."""
    try:
        # Looked at once, and kept.
        _ = material.honest_splits
    except InputError as error:
        return (f"nobody was to be named from other recordings of theirs: {error}",)
    return ()


def _over_time(subject: Subject) -> tuple[TemporalSummary | None, tuple[str, ...]]:
    """How rows go together, and what of it a release with a guarantee lets out; or why not."""
    original, law = subject.original, subject.law
    try:
        if law is None or not subject.claims_to_hold:
            return temporal_summary(original), ()
        return release_summary(original, law, law.shape(original)), ()
    except InputError as error:
        return None, (f"correlation over time was not looked at: {error}",)


def _attack_means(subject: Subject, plan: _Plan) -> Audit:
    """Nobody can be named in means over people: other questions are asked of them."""
    if plan.attackers or plan.targets:
        raise InputError(
            "the release has means over people, in which nobody can be named and nothing of "
            "somebody recognised: leave out attackers and targets"
        )
    law, taken, released = subject.means, subject.taken, subject.released
    assert law is not None, "there are no means"
    assert taken is not None, "a mechanism took nothing"
    assert released is not None, "there is no release"
    found = audit_means(law, taken, subject.original, released, subject.promised, plan.seed)
    return Audit(
        subject=subject,
        identification=(),
        positive=(),
        null=(),
        error=found.error,
        means=found,
        canaries=_canaries(subject),
        seed=plan.seed,
    )


def _attack_made_up(subject: Subject, plan: _Plan) -> Audit:
    """Nobody can be named in made-up rows or people either."""
    if plan.attackers:
        raise InputError("the release has no record under a person's name: leave out attackers")
    original, released = subject.original, subject.released
    assert released is not None, "there is no release"
    seen = without_blanks(original)
    used = learned_elsewhere(seen, released, plan.targets or None, seed=plan.seed)
    return Audit(
        subject=subject,
        identification=(),
        positive=(),
        null=(),
        utility=tuple(used),
        synthetic=audit_synthetic(original, released, subject.law, subject.promised, plan.seed),
        seed=plan.seed,
    )


def _canaries(subject: Subject) -> CanaryResult | None:
    """The mechanism of the certificate on made-up people, where there is something to refute."""
    law = subject.law
    if not isinstance(law, PredictableMechanism) or not subject.claims_to_hold:
        return None
    return canary_audit(law) if takes_canaries(law) else None


def _by_events(subject: Subject, seed: int) -> list[Finding]:
    """What single fixations and saccades give away, where gaze is at hand."""
    if subject.recorded is None:
        return []
    try:
        fixations, saccades = (
            subject.recorded.summarised(partial(_events, kind))
            for kind in ("fixations", "saccades")
        )
        return [event_finding(fixations, saccades, seed=seed)]
    except InputError:
        # Too few events of somebody: the windows have been attacked all the same.
        return []


def _events(kind: str, study: Study) -> FeatureTable:
    return events_and_omissions(study, kind)[0]


def _page(done: Audit) -> str:
    """The report, for the owner of the data."""
    from eyelid.releases.report import report

    return report(done, own=done.subject.groups is not None or done.synthetic is not None)
