"""A release of features, step by step: individual records, means, groups, synthetic data."""

from __future__ import annotations

import hashlib
import json
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
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
from eyelid.mechanisms.certificate import Certificate, choice_notes
from eyelid.mechanisms.expectation import as_synthetic
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.mechanisms.synthetic.utility import made_up
from eyelid.privacy.bounds import Bounds
from eyelid.releases.accounting import Plan, counting_entry
from eyelid.releases.kinds.features.application import Output, made_private, standard_errors
from eyelid.releases.kinds.features.notes import foreseen, rows_in_words, warnings
from eyelid.releases.kinds.features.plan import TableDesign, plan_for
from eyelid.releases.kinds.features.preparation import TableInPieces, opened, prepare
from eyelid.releases.pipeline import Begin, Job, Prepared, Request, RunKey
from eyelid.reporting.cards import datacard
from eyelid.reporting.release import Release
from eyelid.reporting.worth import worth


class FeatureJob(Job[Release]):
    """A release of features.

    Attributes:
        plan: what was settled.
        private: the data that it is made of.
        output: what is released, once it is made.
    """

    plan: Plan[TableDesign]
    private: TableInPieces
    output: Output

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
            plan = self._plan(prepare(cut, summarise, None if recordings else run, advance))
            whose = plan.design.table if path is None else cut.entering
            if path is None and cut.everybody is not None:
                whose = replace(plan.design.table, people=cut.everybody)
            origin, remarks = counting_entry(whose, path, request.ledger)
            if recordings is not None:
                table = replace(self.private.table(), origin=origin)
                renamed = under_pseudonyms(table, ours=is_ours(cut.head, recordings))
                again = in_pieces(renamed.study())
                plan = self._plan(prepare(again, FeatureTable.of, run, lambda by, what: None))
        design = replace(plan.design, table=replace(plan.design.table, origin=origin))
        synthetic = as_synthetic(design.mechanism)
        people = None if synthetic is None else made_up(synthetic, design.facts, design.table)
        facts = None if people is None else people.to_dict()
        self.plan = replace(plan, design=design, made_up=facts)
        notes = (
            *cut.head.notes,
            *remarks,
            *filter(None, [self.private.blanks.in_words()]),
            *choice_notes(self.plan.chosen, len(self.plan.people)),
            *foreseen(self.plan, self.mechanism, self.private.ranges),
        )
        return Prepared(self.plan, self.private.digest, origin, notes, run)

    def apply(self, run: Run | None, certificate: Certificate, advance: Advance) -> Certificate:
        """What the mechanism makes of the private data."""
        design = self.plan.design
        self.output = made_private(self.plan, self.private, self.request.noise, run, advance)
        shown, self.features = self.output.shown, design.table.features
        self.rows = rows_in_words(self.plan, shown)
        self.errors = standard_errors(
            design.mechanism, design.facts, self.features, shown.people, shown.step_ms
        )
        # Writing takes memory, which the private table no longer needs.
        self.plan = replace(self.plan, design=replace(design, table=shown))
        del self.private
        return replace(certificate, output_sha256=self.output.digest())

    def write(self, run: Run, certificate: Certificate) -> dict[str, str]:
        """The manifest; the data card, and the errors of means where there are some."""
        design, made, errors = self.plan.design, self.output, self.errors
        write_manifest(run, made.shown.study(), made.parts)
        synthetic = design.mechanism.release is ReleaseKind.SYNTHETIC
        card = datacard(
            certificate,
            made.shown,
            design.facts,
            design.mechanism,
            worth=self.worth,
            clipped_to=self.features,
            has_standard_errors=errors is not None,
            empty=made.empty(run.output) if synthetic else [],
            spreads=made.spreads(run.output) if synthetic else {},
        )
        texts = {"DATACARD.md": card}
        return texts if errors is None else texts | {STANDARD_ERRORS: csv_text(errors)}

    def result(self, out: Path | None, certificate: Certificate, notes: tuple[str, ...]) -> Release:
        """With what is left to see in it."""
        return Release(
            certificate=certificate,
            worth=self.worth,
            rows=self.rows,
            path=out,
            notes=(*notes, *warnings(certificate)),
            held=self.output.held,
            standard_errors=self.errors,
        )

    @cached_property
    def worth(self) -> str:
        """What is left to see in it, for its data card and its owner."""
        return worth(self.plan.design.mechanism, self.plan.design.facts, self.features)

    def _plan(self, private: TableInPieces) -> Plan[TableDesign]:
        """The plan for what was prepared; from its outline alone, where that is enough."""
        self.private = private
        in_memory = self.mechanism.execution is Execution.ON_EVERYBODY
        table = private.table() if in_memory else private.outline
        noise, keep = self.request.noise, self.request.keep
        return plan_for(table, private.ranges, self.mechanism, noise, self.bounds, keep)

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
                None if request.map is None else repr(understood(request.map)),
                self.min_seconds,
            ],
        )


def _memory_key(source: Any) -> str:
    """A key of everything that Python knows of a study or a table."""
    facts: list[Any] = [
        output_digest(source),
        source.features,
        source.step_ms,
        source.window_ms,
    ]
    if isinstance(source, Study):
        facts += [source.units, source.screen, source.xy_origin, source.pupil_unit]
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()
