"""Results of a study and their original: do they belong together, is anyone exposed?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.results import Coverage, left_over, membership_in_results
from eyelid.attacks.target import ResultsTarget
from eyelid.engine.files import content_of
from eyelid.engine.progress import one_bar
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.csv_cells import csv_text
from eyelid.io.intake import called
from eyelid.io.origin import origin_so_far
from eyelid.io.people_choice import Whom
from eyelid.io.release_folder import MEASURED, RESULT_FILES
from eyelid.mechanisms.certificate import (
    Certificate,
    ReleasedAs,
    form_given,
    shown_by_choice,
)
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.mechanism import find
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.mechanisms.statistics.estimates import CLIPPED
from eyelid.mechanisms.statistics.parts import each_result
from eyelid.mechanisms.statistics.ranges import Entry, Range, places_of
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.privacy.noise import randomness
from eyelid.releases.accounting import read_certificate
from eyelid.releases.audits.accounts import counted
from eyelid.releases.audits.attack import Attack, AuditPlan
from eyelid.releases.audits.certificate_file import MORE, alike, said_besides
from eyelid.releases.audits.consistency import MISSTATED, among_promises, as_declared
from eyelid.releases.audits.result_figures import Figures, figures_of
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.statistics.choice import summary_mechanism
from eyelid.releases.kinds.statistics.plan import (
    StatisticsDesign,
    bounds_of,
    unprotected_of,
)
from eyelid.releases.kinds.statistics.presentation import results_of, texts_of
from eyelid.releases.kinds.statistics.questions import Questions, asked_of
from eyelid.releases.kinds.statistics.release import released_digest
from eyelid.releases.kinds.statistics.survey import Survey, surveyed
from eyelid.reporting.audits.statistics import ResultsAudit, results_report
from eyelid.reporting.dataset_fields import without_fields
from eyelid.reporting.release import Release
from eyelid.version import build

_RELEASES = 100
_FILES = set(RESULT_FILES)


@dataclass(frozen=True, eq=False, kw_only=True)
class StatisticsTarget(ResultsTarget):
    """Results, what they were made of, and what is known about that.

    Attributes:
        design: how they were made, by the certificate and the original.
        survey: everybody's numbers.
        shown: what was measured.
    """

    design: StatisticsDesign
    survey: Survey
    shown: tuple[Integers, ...]

    @property
    def labels(self) -> Integers:
        """The group of each person."""
        return self.design.asked.groups.member.astype(np.int64)


def statistics_target(
    original: Study | FeatureTable | Path | str,
    released: Path | str | Release,
    *,
    map: Map = None,
    ledger: Path | str | None = None,
    people: Whom = None,
) -> StatisticsTarget:
    """Read both, and refuse what does not belong together.

    Args:
        original: what the results were made of.
        released: their folder, or the release that is in it.
        map: what you say about the columns of recordings.
        ledger: the file that counted the release, if it is not the original's own.
        people: whom of the original it is about, as for the results.
    """
    where = released.path if isinstance(released, Release) else released
    if where is None:
        raise InputError(
            "results are audited in their folder: release them into one, release(…, out='…')"
        )
    folder = Path(where)
    certificate = read_certificate(folder)
    if certificate is None or certificate.results is None:
        raise InputError(f"{folder} has no certificate of results: is it of 'eyelid summary'?")
    cut = opened(original, map, people)
    if cut.head.released:
        raise InputError(
            f"{called(original)} is a release, and no original: give what the results were made "
            "of first"
        )
    with _as_eyelid_writes_them(folder / "certificate.json"):
        stated = certificate.results
        try:
            asked = asked_of(cut, _questions(stated["asked"]))
        except InputError as error:
            raise InputError(
                f"{called(original)} is not what these results were made of ({error}): give the "
                "study that 'eyelid summary' had"
            ) from None
        parameters = {k: v for k, v in certificate.parameters.items() if v is not None}
        made = summary_mechanism(find(certificate.mechanism).name, **parameters)
        sizes = tuple(size for _, size in asked.sizes)
        facts = StatisticsFacts.of(sum(sizes), len(asked.panel.columns), sizes)
        entries = tuple(_entry(each) for each in stated["entries"])
        if len(entries) != facts.features or certificate.people != facts.people:
            raise InputError(
                f"the certificate is for {certificate.people} people with {len(entries)} numbers, "
                f"and the original has {facts.people} with {facts.features}: it is the certificate "
                "of something else"
            )
        design = StatisticsDesign(
            asked, entries, (None,) * len(entries), made, facts, cut.head.simulated
        )
        shown = _shown(folder)
    with one_bar(cut.recordings.height, "recordings") as advance:
        survey = surveyed(cut, asked, advance)
    origin = cut.entering.origin
    if isinstance(original, str | Path):
        origin = origin_so_far(cut.entering, Path(original), ledger)
    account = counted(certificate, origin, asked.people, lambda: survey.digest)
    with _as_eyelid_writes_them(folder / "certificate.json"):
        wrong = [
            *among_promises(certificate, account),
            *said_besides(folder, certificate),
            *_inconsistencies(folder, certificate, design, shown, cut.head.chosen),
        ]
    figures = Figures()
    if not wrong and certificate.version == build():
        figures = figures_of(folder, results_of(design, shown))
    strange = sorted(path.name for path in folder.iterdir() if path.name not in _FILES)
    return StatisticsTarget(
        kind=ReleaseKind.STATISTICS,
        path=folder,
        certificate=certificate,
        total=account.total,
        inconsistencies=(*wrong, *figures.changed),
        notes=(*account.unknown, *figures.unchecked),
        remarks=tuple(f"{name} does not belong into {folder}" for name in strange),
        design=design,
        survey=survey,
        shown=shown,
    )


@contextmanager
def _as_eyelid_writes_them(file: Path) -> Iterator[None]:
    try:
        yield
    except EyelidError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(
            f"{file} does not say how the results were made ({error}): it is not as eyelid writes "
            "them"
        ) from None


def _questions(content: Mapping[str, Any]) -> Questions:
    """What was asked, as a certificate says it."""
    areas = content["areas"]
    return Questions(
        tuple(content["measures"]),
        tuple(content["tasks"]),
        tuple(content["contrasts"]),
        None
        if areas is None
        else {
            page: [Area(each["name"], np.array(each["polygon"])) for each in own]
            for page, own in areas.items()
        },
        content["by"],
        content.get("seconds"),
        content.get("window_s"),
    )


def _entry(entry: Mapping[str, Any]) -> Entry:
    least, most = entry["within"]
    range_ = Range(
        **{name: entry[name] for name in ("lower", "upper", "scale", "source", "mean", "sd")},
        within=(-math.inf if least is None else least, math.inf if most is None else most),
    )
    contrast = None if entry["contrast"] is None else (entry["contrast"][0], entry["contrast"][1])
    return Entry(entry["measure"], entry["task"], range_, entry["unit"], contrast)


def _shown(folder: Path) -> tuple[Integers, ...]:
    """The noisy whole numbers of a folder."""
    try:
        content = json.loads(content_of(folder / MEASURED))
    except OSError as error:
        raise InputError(f"cannot read {folder / MEASURED}: {error.strerror or error}") from None
    return tuple(np.array(part, dtype=np.int64) for part in content["parts"])


def _inconsistencies(
    folder: Path,
    certificate: Certificate,
    design: StatisticsDesign,
    shown: Sequence[Integers],
    chosen: Sequence[str],
) -> Iterator[str]:
    """What of a certificate or its files cannot be true."""
    yield from as_declared(certificate, design.mechanism, design.facts)
    yield from _said_otherwise(certificate, design, chosen)
    sizes = [part.shown for part in design.mechanism.parts_for(design.facts)]
    if [part.size for part in shown] != sizes:
        yield f"{MEASURED} has other numbers than the mechanism shows"
        return
    frame = results_of(design, tuple(shown))
    # Another version may estimate otherwise, and say the same in other words: its own table counts.
    stale = certificate.version != build()
    results = (_text_of(folder / "results.csv") or "") if stale else csv_text(frame)
    if released_digest(tuple(shown), results) != certificate.output_sha256:
        yield (
            f"{'results.csv or ' if stale else ''}{MEASURED} is not what the certificate was made "
            "for (their hash differs): someone changed or swapped it"
        )
        return
    if stale:
        return
    for name, text in texts_of(design, shown, frame, certificate).items():
        shown_text = _text_of(folder / name)
        if shown_text is None or without_fields(shown_text) != text:
            yield f"{name} does not follow from numbers and certificate: it was changed"


def _said_otherwise(
    certificate: Certificate, design: StatisticsDesign, chosen: Sequence[str]
) -> Iterator[str]:
    """What a certificate states otherwise of form, bounds and what is not protected."""
    if certificate.bounds != bounds_of(design.entries):
        yield "the certificate states other bounds than the ranges of its numbers"
    if certificate.version != build():
        return
    if not {*unprotected_of(design), *shown_by_choice(chosen)} <= set(certificate.unprotected):
        yield "the certificate leaves out what its mechanism does not protect"
    released_as = ReleasedAs(ReleaseKind.STATISTICS, design.by, design.groups)
    if certificate.misstates(form_given(chosen, design.mechanism.form), released_as):
        yield MISSTATED
    if not alike(_public(certificate.results or {}), _public(design.described)):
        yield MORE


def _public(results: Mapping[str, Any]) -> Any:
    """What a certificate says of results, less the words of norms, which nothing tells again."""
    said = json.loads(json.dumps(results))
    for entry in said["entries"]:
        words = entry.pop("norm")
        if words is not None and not isinstance(words, str):
            raise TypeError("the source of a norm is no text")
    return said


def _text_of(file: Path) -> str | None:
    """What a file says; None where it is not there, or is no text."""
    try:
        return content_of(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


class StatisticsAttack(Attack):
    """Results of a study: few numbers over people."""

    def audit(self, target: StatisticsTarget, plan: AuditPlan) -> ResultsAudit:
        """Is any participant exposed, and are they right?"""
        design, places = target.design, places_of(target.survey.values, target.design.entries)
        promised = target.certificate.person_level
        exact = results_of(design, _without_noise(design.mechanism, design, places, target.labels))
        truth = _of_people(design, places, target.labels, exact)
        return ResultsAudit(
            target=target,
            seed=plan.seed,
            membership=membership_in_results(
                design.mechanism, design.facts, places, target.labels, promised, seed=plan.seed
            ),
            subtraction=left_over(_means(target), places, target.labels),
            errors=_errors(results_of(design, target.shown), truth),
            coverage=_coverage(target, truth, exact["estimate"].to_numpy(), plan.seed),
        )

    def page(self, audit: ResultsAudit) -> str:
        """The report, for the owner of the data."""
        return results_report(audit)


def _without_noise(
    mechanism: Summary, design: StatisticsDesign, places: Any, labels: Integers
) -> tuple[Integers, ...]:
    """What would be shown without noise: sums as they are, or the candidate that costs least."""
    found = []
    for part in mechanism.parts_for(design.facts):
        query = part.query(places, labels)
        found.append(query if query.size == part.shown else np.array([int(query.argmin())]))
    return tuple(found)


def _means(target: StatisticsTarget) -> list[tuple[int, int | None, float]]:
    """Entry, group and place of every mean that was released."""
    found = []
    parts: Sequence[Any] = target.design.mechanism.parts_for(target.design.facts)
    for part, numbers in zip(parts, target.shown, strict=True):
        for statistic, number in zip(part.statistics, numbers.tolist(), strict=False):
            if statistic.name == "mean":
                found.append((statistic.columns[0], part.group, part.mean_of(number)))
    return found


def _of_people(design: StatisticsDesign, places: Any, labels: Integers, exact: pl.DataFrame) -> Any:
    """What is true of these people, row by row: means of their numbers as they are, not clipped."""
    truth = exact["estimate"].to_numpy().copy()
    parts = design.mechanism.parts_for(design.facts)
    for row, (part, statistic) in enumerate(each_result(parts)):
        if statistic.name != "mean":
            continue
        (column,) = statistic.columns
        numbers = part.chosen(places, labels)[:, column]
        # An infinite number is nobody's, and lies at the end of its range.
        filled = np.nan_to_num(numbers, nan=0.5, posinf=1.0, neginf=0.0)
        truth[row] = design.entries[column].range.value(float(filled.mean()))
    return truth


def _errors(released: pl.DataFrame, truth: Any) -> pl.DataFrame:
    """Every result beside what is true of the same people."""
    return released.with_columns(pl.Series("without_noise", truth))


def _coverage(target: StatisticsTarget, truth: Any, clipped: Any, seed: int) -> Coverage:
    """How often intervals of resampled people hold what they say of these people.

    Args:
        target: of the audit.
        truth: of these people, row by row.
        clipped: the same of clipped numbers, which some intervals say that they are about.
        seed: of the resampling, and of the noise.
    """
    design, rng, noise = target.design, np.random.default_rng(seed), randomness(seed)
    places, labels = places_of(target.survey.values, design.entries), target.labels
    held = there = 0
    for _ in range(_RELEASES):
        # Groups keep their sizes.
        drawn = np.concatenate(
            [
                rng.choice(np.flatnonzero(labels == g), (labels == g).sum())
                for g in np.unique(labels)
            ]
        )
        shown = design.mechanism.measure(places[drawn], labels[drawn], design.facts, noise)
        frame = results_of(design, shown)
        low, high = (frame[end].to_numpy() for end in ("low", "high"))
        known = np.isfinite(low.astype(float)) & np.isfinite(high.astype(float))
        about = np.where(frame["note"].str.contains(CLIPPED).to_numpy(), clipped, truth)
        held += int(((low <= about) & (about <= high))[known].sum())
        there += int(known.sum())
    return Coverage(_RELEASES, held / there if there else float("nan"), there // _RELEASES)
