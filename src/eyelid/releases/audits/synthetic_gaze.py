"""Synthetic recordings and their original: do they belong together, is anyone exposed?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from eyelid.attacks.synthetic_gaze import (
    attack_groups,
    errors_of,
    membership_in_gaze,
    resemblance,
)
from eyelid.attacks.target import ResultsTarget
from eyelid.engine.files import content_of
from eyelid.engine.progress import one_bar
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.intake import called
from eyelid.io.origin import origin_so_far
from eyelid.io.people_choice import Whom
from eyelid.io.pieces import StudyInPieces
from eyelid.io.reading import read
from eyelid.io.release_folder import MEASURED, SYNTHETIC_GAZE_FILES
from eyelid.mechanisms.certificate import Certificate, ReleasedAs, form_given, shown_by_choice
from eyelid.mechanisms.gaze.gaze_mechanism import Answers
from eyelid.mechanisms.gaze.ksame_gaze import KSameGaze
from eyelid.mechanisms.gaze.planning import NORM
from eyelid.mechanisms.gaze.recordings import recording_names
from eyelid.mechanisms.gaze.synthetic_gaze import SyntheticGaze
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.releases.accounting import read_certificate
from eyelid.releases.audits.accounts import counted
from eyelid.releases.audits.attack import Attack, AuditPlan
from eyelid.releases.audits.certificate_file import said_besides
from eyelid.releases.audits.consistency import MISSTATED, among_promises, as_declared
from eyelid.releases.audits.gaze_samples import gaze_samples
from eyelid.releases.audits.manifest import beside_the_study
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.gaze.plan import (
    GazeDesign,
    bounds_of,
    build_gaze_mechanism,
    facts_of,
)
from eyelid.releases.kinds.gaze.survey import Survey, surveyed
from eyelid.reporting.audits.synthetic_gaze import SyntheticGazeAudit, synthetic_gaze_report
from eyelid.reporting.dataset_fields import without_fields
from eyelid.reporting.release import Release
from eyelid.reporting.synthetic_gaze import gaze_card
from eyelid.version import build


@dataclass(frozen=True, eq=False, kw_only=True)
class SyntheticGazeTarget(ResultsTarget):
    """Synthetic recordings, what they were made of, and what is known about that.

    Attributes:
        design: how they were made, by the certificate and the original.
        survey: everybody's numbers.
        answers: what was measured; None where that was not released.
        released: the recordings.
        cut: the original, which is read when it is looked at.
    """

    design: GazeDesign
    survey: Survey
    answers: Answers | None
    released: Study
    cut: StudyInPieces


def synthetic_gaze_target(
    original: Study | FeatureTable | Path | str,
    released: Path | str | Release,
    *,
    map: Map = None,
    ledger: Path | str | None = None,
    people: Whom = None,
) -> SyntheticGazeTarget:
    """Read both, and refuse what does not belong together.

    Args:
        original: what the recordings were made after.
        released: their folder, or the release that is in it.
        map: what you say about the columns of recordings.
        ledger: the file that counted the release, if it is not the original's own.
        people: whom of the original it is about, as for the release.
    """
    where = released.path if isinstance(released, Release) else released
    if where is None:
        raise InputError(
            "synthetic recordings are audited in their folder: release them into one, "
            "release(…, out='…')"
        )
    folder = Path(where)
    certificate = read_certificate(folder)
    if certificate is None or certificate.generated is None:
        raise InputError(f"{folder} has no certificate of synthetic recordings")
    cut = opened(original, map, people)
    if cut.head.released:
        raise InputError(
            f"{called(original)} is a release, and no original: give what the recordings were made "
            "after first"
        )
    parameters = {k: v for k, v in certificate.parameters.items() if v is not None}
    try:
        made = build_gaze_mechanism(certificate.mechanism, **parameters)
    except (EyelidError, TypeError, ValueError) as error:
        raise InputError(f"the mechanism of the certificate cannot be run ({error})") from None
    facts, cannot = facts_of(cut, made)
    if certificate.people != facts.people:
        raise InputError(
            f"the certificate is for {certificate.people} people and the original has "
            f"{facts.people}: it is the certificate of something else"
        )
    design = GazeDesign(made, facts, cannot, cut.head.simulated)
    plan = made.bought(facts)
    with one_bar(cut.recordings.height, "recordings") as advance:
        survey = surveyed(cut, facts, None if plan.places == NORM else plan.grid, advance)
    study = read(folder)
    origin = cut.entering.origin
    if isinstance(original, str | Path):
        origin = origin_so_far(cut.entering, Path(original), ledger)
    names = cut.head.people["person"].to_list()
    account = counted(certificate, origin, names, lambda: survey.digest)
    answers, unreadable = _answers(folder, design)
    wrong = [
        *among_promises(certificate, account),
        *unreadable,
        *_inconsistencies(folder, certificate, design, study, answers, cut.head.chosen),
    ]
    strange = sorted(path.name for path in folder.iterdir() if path.name not in _FILES)
    return SyntheticGazeTarget(
        kind=ReleaseKind.SYNTHETIC_GAZE,
        path=folder,
        certificate=certificate,
        total=account.total,
        inconsistencies=tuple(wrong),
        notes=account.unknown,
        remarks=tuple(f"{name} does not belong into {folder}" for name in strange),
        design=design,
        survey=survey,
        answers=answers,
        released=study,
        cut=cut,
    )


_FILES = set(SYNTHETIC_GAZE_FILES)


def _answers(folder: Path, design: GazeDesign) -> tuple[Answers | None, list[str]]:
    """What was measured, and why it is not known."""
    if not design.mechanism.kind.differential:
        return None, []
    mechanism, facts = cast(SyntheticGaze, design.mechanism), design.facts
    try:
        content = json.loads(content_of(folder / MEASURED))
        answers = Answers.from_dict(content)
        sizes = [each.size for each in (*answers.numbers, *answers.places)]
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        return None, [f"{MEASURED} cannot be read ({error})"]
    part, maps = mechanism.box_part(facts), mechanism.maps(facts)
    wanted = [] if part is None else [part.shown]
    wanted += [] if maps is None else [maps.cells(mechanism.map_facts(facts))]
    if content != answers.to_dict() or sizes != wanted or answers.sizes != (facts.people,):
        return None, [f"{MEASURED} has other numbers than the mechanism shows"]
    return answers, []


def _inconsistencies(
    folder: Path,
    certificate: Certificate,
    design: GazeDesign,
    study: Study,
    answers: Answers | None,
    chosen: tuple[str, ...],
) -> Iterator[str]:
    """What of a certificate or its files cannot be true."""
    yield from as_declared(certificate, design.mechanism, design.facts)
    yield from said_besides(folder, certificate)
    yield from beside_the_study(folder, study)
    if not study.released:
        yield (
            "data.parquet, people.csv or events.parquet are not what the certificate was made for "
            "(their hash differs): someone changed or swapped them"
        )
    yield from _of_form(design, study)
    if certificate.version != build():
        return
    stated = {k: v for k, v in (certificate.generated or {}).items() if k != "events_sha256"}
    if json.loads(json.dumps(design.described)) != stated:
        yield "the certificate states other tasks, lengths or parameters than its mechanism would"
    if certificate.bounds != bounds_of(design):
        yield "the certificate states other bounds than those of the generator's parameters"
    shown = {*design.mechanism.unprotected(design.facts), *shown_by_choice(chosen)}
    if not shown <= set(certificate.unprotected):
        yield "the certificate leaves out what its mechanism does not protect"
    released_as = ReleasedAs(ReleaseKind.SYNTHETIC_GAZE)
    if certificate.misstates(form_given(chosen, design.mechanism.form), released_as):
        yield MISSTATED
    card = folder / "DATACARD.md"
    wanted = gaze_card(certificate, study, design.mechanism)
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    if without_fields(text) != wanted:
        yield "DATACARD.md does not follow from the certificate: it was changed"
    if answers is not None and not design.mechanism.kind.differential:
        yield f"{MEASURED} shows sums over groups without noise"


def _of_form(design: GazeDesign, study: Study) -> Iterator[str]:
    """Whether people, recordings, lengths or times are other than those that are drawn."""
    facts, mechanism = design.facts, design.mechanism
    names = [f"synthetic{n + 1:0{len(str(facts.people))}d}" for n in range(facts.people)]
    if study.people["person"].to_list() != names:
        yield f"the release has not the {facts.people} synthetic participants that are drawn"
        return
    found = study.data.group_by("person", "recording", maintain_order=True).agg(
        pl.len().alias("rows"), pl.col("task").first(), pl.col("stimulus").first()
    )
    each = [
        (person, recording, *slot)
        for person in names
        for recording, slot in zip(recording_names(facts.slots), facts.slots, strict=True)
    ]
    if found.select("person", "recording", "task", "stimulus").rows() != each:
        yield "synthetic participants have not one recording of each task and stimulus"
    if found["rows"].n_unique() > 1 or abs(int(found["rows"][0]) - facts.length) > 1:
        yield f"recordings have not the {facts.length} samples that they are planned to have"
    if mechanism.drawn != ("group" in study.people.columns):
        yield "people.csv has not the columns that it should have"


class SyntheticGazeAttack(Attack):
    """Synthetic recordings of gaze."""

    def audit(self, target: SyntheticGazeTarget, plan: AuditPlan) -> SyntheticGazeAudit:
        """Is any participant exposed, and how far off are they?"""
        design, people = target.design, target.survey.gaze
        mechanism, facts = design.mechanism, design.facts
        membership = found = groups = None
        errors: list[dict[str, Any]] = []
        promised = target.certificate.person_level
        if mechanism.kind.differential:
            nearest = None
            if target.answers is not None:
                found, nearest = resemblance(
                    mechanism, facts, target.answers, target.released, people, plan.seed
                )
                errors = list(errors_of(mechanism.portraits(target.answers, facts), facts, people))
            membership = membership_in_gaze(
                cast(SyntheticGaze, mechanism),
                facts,
                people,
                promised,
                nearest=nearest,
                seed=plan.seed,
            )
        else:
            groups = attack_groups(
                cast(KSameGaze, mechanism), facts, people, target.released, plan.seed
            )
        samples = gaze_samples(target.cut, target.released, mechanism, facts, people, plan.seed)
        return SyntheticGazeAudit(
            target=target,
            seed=plan.seed,
            membership=membership,
            resemblance=found,
            members=groups,
            errors=tuple(errors),
            samples=samples.attacks,
            use=samples.use,
            left_out=samples.left_out,
        )

    def page(self, audit: SyntheticGazeAudit) -> str:
        """The report, for the owner of the data."""
        return synthetic_gaze_report(audit)
