"""A release of features, step by step: own records, means, groups, made-up rows and people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import understood
from eyelid.io.csv_cells import csv_text
from eyelid.io.intake import is_ours, under_pseudonyms
from eyelid.io.people_choice import people_choice
from eyelid.io.pieces import in_pieces
from eyelid.io.release_folder import STANDARD_ERRORS, output_digest
from eyelid.io.study_parts import (
    input_key,
    write_manifest,
)
from eyelid.mechanisms.certificate import Certificate, told_of_choice
from eyelid.mechanisms.expectation import as_synthetic, made_up
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.privacy.bounds import Bounds
from eyelid.releases.accounting import Purchase, counting_entry
from eyelid.releases.kinds.features.application import Made, made_private, standard_errors
from eyelid.releases.kinds.features.notes import foreseen, rows_told, warnings
from eyelid.releases.kinds.features.plan import Plan, described, plan_for
from eyelid.releases.kinds.features.preparation import Taken, opened, take
from eyelid.releases.pipeline import Begin, Job, Prepared, Release, Request, RunKey
from eyelid.reporting.cards import datacard
from eyelid.reporting.sentences import released_as
from eyelid.reporting.worth import worth


class FeatureJob(Job[Release]):
    """A release of features.

    Attributes:
        plan: what was settled.
        taken: of the private data.
        made: what is released, once it is made.
    """

    plan: Plan
    taken: Taken
    made: Made

    def __init__(
        self,
        request: Request,
        mechanism: FeatureMechanism,
        bounds: str | Path | Bounds = "public",
        min_seconds: float | None = None,
    ) -> None:
        """What is asked for; the source is opened.

        Args:
            request: by whom and of what.
            mechanism: with its parameters set.
            bounds: what values are clipped to.
            min_seconds: what a recording has to last.
        """
        self.request, self.people = request, people_choice(request.people)
        self.mechanism, self.bounds, self.min_seconds = mechanism, bounds, min_seconds
        self.cut = opened(request.source, request.map, self.people, min_seconds)

    @property
    def steps(self) -> int:
        """Everything is looked at, and made private."""
        return 2 * self.cut.recordings.height

    def prepare(self, begin: Begin, advance: Advance) -> Prepared:
        """Take everything, piece by piece; what is summarised stays in the scratch of the run."""
        request, cut, path = self.request, self.cut, self.request.path
        recordings = request.recordings
        run = begin(self._key())
        with nullcontext() if run is None or len(cut.pieces) == 1 else run.beforehand():
            summarise = self.mechanism.summarise
            plan = self._take(take(cut, summarise, None if recordings else run, advance))
            whose = plan.table if path is None else cut.entering
            if path is None and cut.everybody is not None:
                whose = replace(plan.table, people=cut.everybody)
            origin, remarks = counting_entry(whose, path, request.ledger)
            if recordings is not None:
                table = replace(self.taken.table(), origin=origin)
                renamed = under_pseudonyms(table, ours=is_ours(cut.head, recordings))
                again = in_pieces(renamed.study())
                plan = self._take(take(again, FeatureTable.of, run, lambda by, what: None))
        self.plan = replace(plan, table=replace(plan.table, origin=origin))
        purchase = self._purchase(self.plan, self.taken.digest)
        notes = (
            *cut.head.notes,
            *remarks,
            *filter(None, [self.taken.blanks.told()]),
            *told_of_choice(self.plan.table.chosen, len(self.plan.people)),
            *foreseen(self.plan, self.mechanism, self.taken.ranges, purchase.made_up),
        )
        return Prepared(purchase, origin, notes, run)

    def apply(self, run: Run | None, certificate: Certificate, advance: Advance) -> Certificate:
        """What the mechanism makes of the private data."""
        plan, taken = self.plan, self.taken
        self.made = made_private(plan, taken, self.request.noise, run, advance)
        shown = self.made.shown
        self.rows = rows_told(plan, shown)
        self.errors = standard_errors(
            plan.mechanism, plan.facts, plan.table.features, shown.people, shown.step_ms
        )
        # Writing takes memory, which the private table no longer needs.
        self.plan = replace(plan, table=shown)
        self.features = plan.table.features
        del self.taken
        return replace(certificate, output_sha256=self.made.digest())

    def write(self, run: Run, certificate: Certificate) -> dict[str, str]:
        """The manifest; the data card, and the errors of means where there are some."""
        mechanism, made, errors = self.plan.mechanism, self.made, self.errors
        write_manifest(run, made.shown.study(), made.parts)
        synthetic = mechanism.release is ReleaseKind.SYNTHETIC
        card = datacard(
            certificate,
            made.shown,
            self.plan.facts,
            mechanism,
            clipped_to=self.features,
            has_standard_errors=errors is not None,
            empty=made.empty(run.output) if synthetic else [],
        )
        texts = {"DATACARD.md": card}
        return texts if errors is None else texts | {STANDARD_ERRORS: csv_text(errors)}

    def result(self, out: Path | None, certificate: Certificate, notes: tuple[str, ...]) -> Release:
        """With what is left to see in it."""
        return Release(
            certificate=certificate,
            worth=worth(self.plan.mechanism, self.plan.facts, self.features),
            rows=self.rows,
            path=out,
            notes=(*notes, *warnings(certificate)),
            held=self.made.held,
            standard_errors=self.errors,
        )

    def _take(self, taken: Taken) -> Plan:
        """The plan for what was taken; from its outline alone, where that is enough."""
        self.taken = taken
        in_memory = self.mechanism.execution is Execution.ON_EVERYBODY
        table = taken.table() if in_memory else taken.outline
        noise, keep = self.request.noise, self.request.keep
        return plan_for(table, taken.ranges, self.mechanism, noise, self.bounds, keep)

    def _key(self) -> RunKey:
        request, bounds = self.request, self.bounds
        if isinstance(bounds, Bounds):
            limits: Any = [bounds.source, bounds.values]
        elif bounds in ("public", "data") or not Path(bounds).is_file():
            # Whatever is wrong with a file is said when it is read.
            limits = str(bounds)
        else:
            limits = Path(bounds).read_text("utf-8", "replace")
        people = self.people
        return RunKey.of(
            [self.mechanism],
            data=input_key(request.path) if request.path else _memory_key(request.source),
            seed=request.seed,
            ledger=None if request.ledger is None else Path(request.ledger).resolve(),
            chosen=None if people is None else people.key,
            settings=[
                type(self.mechanism).__qualname__,
                limits,
                request.keep,
                repr(understood(request.map)),
                self.min_seconds,
            ],
        )

    def _purchase(self, plan: Plan, digest: Callable[[], bytes]) -> Purchase:
        """What the plan is about to buy."""
        mechanism = plan.mechanism
        synthetic = as_synthetic(mechanism)
        people = None if synthetic is None else made_up(synthetic, plan.facts, plan.table)
        return Purchase(
            what=released_as(mechanism),
            mechanism=mechanism,
            people=plan.people,
            guarantee=plan.guarantee,
            person_level=plan.person_level,
            how=mechanism.person_total(plan.facts),
            bounds=plan.bounds,
            noise=(mechanism.sampler(plan.facts), mechanism.numerics, self.request.noise.name),
            unprotected=mechanism.unprotected(plan.table),
            keep=plan.keep,
            alike=plan.alike,
            input_digest=digest,
            released_as=described(mechanism, plan.table),
            made_up=None if people is None else people.to_dict(),
            chosen=plan.table.chosen,
        )


def _memory_key(source: Any) -> str:
    """Of everything that Python knows of a study or a table."""
    told: list[Any] = [
        output_digest(source),
        source.features,
        source.step_ms,
        source.window_ms,
    ]
    if isinstance(source, Study):
        told += [source.units, source.screen, source.xy_origin, source.pupil_unit]
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()
