"""`summary`: the results of a study, private: ask, survey, plan, pay, measure, present, write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from eyelid.engine.atomic import check_new
from eyelid.engine.engines import Engine, using
from eyelid.engine.files import content_of
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.gaze.norms import Norm
from eyelid.gaze.sources import refuse_frame
from eyelid.io.column_map import Map
from eyelid.io.csv_cells import csv_text
from eyelid.io.people_choice import Whom
from eyelid.io.release_folder import results_digest
from eyelid.mechanisms.certificate import Certificate, choice_notes
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.statistics.ranges import places_of
from eyelid.mechanisms.statistics.summary import Summary
from eyelid.releases.accounting import Plan, counting_entry
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.statistics.notes import lacking_notes, public_notes
from eyelid.releases.kinds.statistics.plan import (
    ANY,
    BOX,
    StatisticsDesign,
    Terms,
    make_statistics_plan,
)
from eyelid.releases.kinds.statistics.presentation import results_of, write_results
from eyelid.releases.kinds.statistics.questions import AreasSaid, Questions, several
from eyelid.releases.kinds.statistics.survey import Survey, surveyed
from eyelid.releases.pipeline import Begin, Job, Prepared, Request, RunKey, Source, carried_out
from eyelid.reporting.dataset_fields import DatasetFields
from eyelid.reporting.statistics.results import Results

Shown = tuple[Integers, ...]


def summary(
    source: Source,
    out: Path | str | None = None,
    *,
    measures: str | Sequence[str] = (),
    tasks: str | Sequence[str] = (),
    contrasts: str | Sequence[str] = (),
    areas: AreasSaid = None,
    by: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    mechanism: str | Summary = BOX,
    statistics: str | None = None,
    primary: str | Sequence[str] = (),
    norms: Path | str | Sequence[Norm] | None = None,
    activity: str = ANY,
    seconds: float | None = None,
    window_s: float | None = None,
    ledger: Path | str | None = None,
    seed: int | None = None,
    map: Map = None,
    people: Whom = None,
    engine: str | Engine | None = None,
    tell: Callable[[str], None] | None = None,
    card: Mapping[str, str] | Path | str | None = None,
) -> Results:
    """Release results of a study: few numbers over people, each with an interval.

    Args:
        source: a study of samples, fixations or features, a feature table, or recordings.
        out: a new folder to write; without it nothing is written, but the ledger is still debited.
        measures: ``fixation_duration``, ``fixation_duration:median``,
            ``fixation_duration:share>300``; of areas ``hit``, ``first_look``, ``dwell``,
            ``revisits``, ``looked_within_2s``. The usual ones by default.
        tasks: which are wanted apart, or ``each``; all together by default.
        contrasts: each ``A-B``: the difference that a person has between two tasks or pages.
        areas: areas of interest by page, or their JSON file.
        by: public attributes whose values make groups.
        epsilon: the total for one person, over everything released.
        delta: for ``summary-gaussian``.
        mechanism: ``summary-box`` or ``summary-gaussian``, or one with its parameters set.
        statistics: what of which numbers, as the mechanism takes it; by default chosen.
        primary: measures that get half of ε to themselves.
        norms: a file of norms of one's own, or norms; published ones are there without it.
        activity: what people did, so that norms fit: ``silent-reading``, ``scene-viewing``, ….
        seconds: how long a page with areas counts since it was shown; by default as planned, or
            for all the time where nobody planned it.
        window_s: how long windows of gaze are; half a minute by default.
        ledger: where to count; by default the file beside the original study.
        seed: makes the noise repeatable and the guarantee void.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        people: whom it is about, as for `eyelid.release`; everybody by default.
        engine: who works: ``local`` (the default), ``dask`` or ``dask:ADDRESS``.
        tell: given each note that is known before anything is paid, as soon as it is.
        card: fields of the data card, as for `eyelid.release`.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=12, minutes=0.2, seed=1)
    >>> found = summary(study, measures=["fixation_duration"], epsilon=2.0)
    >>> found.frame["measure"].to_list(), found.certificate.person_level.numbers()
    (['fixation_duration'], 'ε = 2')
    """
    refuse_frame(source, "summary")
    out = None if out is None else Path(out)
    if out is not None:
        check_new(out)
    asked = Questions(
        several(measures), several(tasks), several(contrasts), areas, by, seconds, window_s
    )
    terms = Terms(epsilon, delta, mechanism, statistics, several(primary), norms, activity)
    request = Request(source, seed, ledger, map=map, people=people)
    request.check_seed()
    with using(engine):
        return carried_out(ResultsJob(request, asked, terms), out, tell, DatasetFields.of(card))


class ResultsJob(Job[Results]):
    """A release of results.

    Attributes:
        plan: what was settled.
        survey: everybody's numbers, until they are measured.
        frame: the results, once they are.
    """

    plan: Plan[StatisticsDesign]
    survey: Survey
    frame: pl.DataFrame
    shown: Shown

    def __init__(self, request: Request, questions: Questions, terms: Terms) -> None:
        """What is asked for; the source is opened.

        Args:
            request: by whom and of what.
            questions: what is asked.
            terms: how it is wanted.
        """
        self.request, self.questions, self.terms = request, questions, terms
        self.cut = opened(request.source, request.map, request.people)

    @property
    def steps(self) -> int:
        """Everything is looked at once."""
        return self.cut.recordings.height

    def prepare(self, begin: Begin, advance: Advance) -> Prepared:
        """Settle the plan by public facts, and look at everybody."""
        request, cut = self.request, self.cut
        self.plan = plan = make_statistics_plan(cut, request.noise, self.questions, self.terms)
        self.survey = surveyed(cut, plan.design.asked, advance)
        origin, remarks = counting_entry(cut.entering, request.path, request.ledger)
        digest = self.survey.digest
        key = RunKey.of(
            [plan.mechanism],
            data=digest.hex(),
            seed=request.seed,
            ledger=None if origin is None else [origin.id, origin.ledger],
            chosen=plan.chosen,
            settings=plan.results,
        )
        notes = (
            *cut.head.notes,
            *remarks,
            *choice_notes(plan.chosen, len(plan.people)),
            *public_notes(plan.design, cut.head),
            *lacking_notes(plan.design, self.survey),
        )
        return Prepared(plan, lambda: digest, origin, notes, begin(key))

    def apply(self, run: Run | None, certificate: Certificate, advance: Advance) -> Certificate:
        """One draw of noise; everything else is made of what it shows."""
        self.shown = _measured(self.plan.design, self.survey, self.request, run)
        del self.survey
        self.frame = results_of(self.plan.design, self.shown)
        return replace(certificate, output_sha256=released_digest(self.shown, csv_text(self.frame)))

    def write(self, run: Run, certificate: Certificate) -> dict[str, str]:
        """Results, figure, tables, the paragraph about methods and the data card."""
        return write_results(run.output, self.plan.design, self.shown, self.frame, certificate)

    def result(self, out: Path | None, certificate: Certificate, notes: tuple[str, ...]) -> Results:
        """The table with its certificate."""
        return Results(self.frame, certificate, out, notes)


def released_digest(shown: Shown, results: str) -> str:
    """SHA-256 of everything that was measured, and of the results.

    Args:
        shown: whole numbers of each part.
        results: the text of results.csv.
    """
    return results_digest([part.tolist() for part in shown], results)


def _measured(design: StatisticsDesign, survey: Survey, request: Request, run: Run | None) -> Shown:
    """Measure, unless the run did before it was stopped: what was drawn is not drawn again."""
    if run is None:
        return _drawn(design, survey, request)
    # Not in the scratch, which is gone before the output is in its place.
    path = run.drawn / "measured.json"
    if not path.exists():
        facts = json.dumps([part.tolist() for part in _drawn(design, survey, request)])
        run.put(path, lambda draft: draft.write_text(facts, encoding="utf-8"))
    return tuple(np.array(part, dtype=np.int64) for part in json.loads(content_of(path)))


def _drawn(design: StatisticsDesign, survey: Survey, request: Request) -> Shown:
    places = places_of(survey.values, design.entries)
    labels = design.asked.groups.member.astype(np.int64)
    return design.mechanism.measure(places, labels, design.facts, request.noise)
