"""A release of synthetic recordings, step by step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.engines import Shared, shared, spread
from eyelid.engine.files import content_of
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import pieces
from eyelid.io.release_folder import (
    MEASURED,
    digest_of_people,
    digest_of_release,
    names_of,
    person_digests,
)
from eyelid.io.study_parts import join_events, write_manifest, write_study_part
from eyelid.mechanisms.certificate import Certificate, choice_notes
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.gaze_mechanism import Answers, GazeMechanism, entropy_of
from eyelid.mechanisms.gaze.planning import NORM
from eyelid.mechanisms.gaze.portrait import Portrait
from eyelid.mechanisms.gaze.recordings import Block, blocks_of
from eyelid.mechanisms.gaze.recordings import names_of as names_of_synthetic
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.releases.accounting import Plan, counting_entry
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.gaze.notes import better_ways, public_notes, survey_notes
from eyelid.releases.kinds.gaze.plan import (
    GazeDesign,
    build_gaze_mechanism,
    check_gaze,
    make_gaze_plan,
    released_head,
)
from eyelid.releases.kinds.gaze.survey import Survey, surveyed
from eyelid.releases.pipeline import Begin, Job, Prepared, Request, RunKey
from eyelid.reporting.release import Release
from eyelid.reporting.synthetic_gaze import gaze_card, worth_of_generator
from eyelid.spelling import json_text, plural


class GazeJob(Job[Release]):
    """A release of synthetic recordings.

    Attributes:
        plan: what was settled.
        survey: everybody's numbers, until they are measured.
        parts: what is released, once it is drawn.
    """

    plan: Plan[GazeDesign]
    survey: Survey
    parts: list[_Part]

    def __init__(self, request: Request, mechanism: str | Mechanism, **parameters: Any) -> None:
        """What is asked for; the source is opened.

        Args:
            request: by whom and of what.
            mechanism: its name, or one with its parameters set.
            parameters: of the mechanism.
        """
        if request.path is None and not isinstance(request.source, Study):
            raise InputError(
                "synthetic recordings are made after gaze sample by sample, and this is a "
                f"{type(request.source).__name__}: give a study of samples, or recordings"
            )
        if request.keep:
            raise InputError(
                "synthetic participants have no attributes of people's own: leave out keep"
            )
        self.request = request
        self.mechanism = build_gaze_mechanism(mechanism, **parameters)
        self.cut = opened(request.source, request.map, request.people)
        check_gaze(self.cut.head)

    @property
    def steps(self) -> int:
        """Everything is looked at once."""
        return self.cut.recordings.height

    def prepare(self, begin: Begin, advance: Advance) -> Prepared:
        """Settle the plan by public facts, and look at everybody."""
        request, cut = self.request, self.cut
        self.plan = plan = make_gaze_plan(cut, self.mechanism, request.noise)
        design = plan.design
        bought = design.mechanism.bought(design.facts)
        grid = None if bought.places == NORM else bought.grid
        self.survey = survey = surveyed(cut, design.facts, grid, advance)
        origin, remarks = counting_entry(cut.entering, request.path, request.ledger)
        key = RunKey.of(
            [plan.mechanism],
            data=survey.digest.hex(),
            seed=request.seed,
            ledger=None if origin is None else [origin.id, origin.ledger],
            chosen=plan.chosen,
            settings=[plan.generated, repr(design.facts.form)],
        )
        notes = (
            *cut.head.notes,
            *remarks,
            *choice_notes(plan.chosen, len(plan.people)),
            *better_ways(design, self._source_name()),
            *public_notes(design),
            *survey_notes(survey),
        )
        return Prepared(plan, lambda: survey.digest, origin, notes, begin(key))

    def _source_name(self) -> str:
        path = self.request.path
        return "IN" if path is None else path.name

    def apply(self, run: Run | None, certificate: Certificate, advance: Advance) -> Certificate:
        """Measure, once; everything else is drawn of that."""
        design = self.plan.design
        self.answers, entropy = _measured(design, self.survey, self.request, run)
        del self.survey
        portraits = design.mechanism.inputs(self.answers, design.facts)
        self.head = released_head(self.cut.head, design.facts, names_of_synthetic(portraits))
        width = self.head.data.width
        cut = pieces_of(blocks_of(self.answers.sizes, len(design.facts.slots)), design.facts, width)
        job = _Drawing(self.head, design.mechanism, design.facts, portraits, entropy, len(cut), run)
        with shared(job) as handle:
            self.parts = list(spread(partial(_drawn, handle), list(enumerate(cut)), "drawing"))
        if run is not None:
            join_events(run, len(cut))
        names = [name for part in self.parts for name in part.names]
        digests = [digest for part in self.parts for digest in part.digests]
        events = [digest for part in self.parts for digest in part.of_events]
        assert certificate.generated is not None, "a plan says what is generated"
        return replace(
            certificate,
            output_sha256=digest_of_release(self.head.people, names, digests),
            generated=certificate.generated
            | {"events_sha256": digest_of_people(names, events).hex()},
        )

    def write(self, run: Run, certificate: Certificate) -> dict[str, str]:
        """The manifest; what was measured, and the data card."""
        write_manifest(run, self.head, [part.facts for part in self.parts])
        mechanism = self.plan.design.mechanism
        texts = {"DATACARD.md": gaze_card(certificate, self.head, mechanism)}
        if mechanism.kind.differential:
            # Sums over a group without noise would give the last member's to all others of it.
            texts[MEASURED] = json_text(self.answers.to_dict())
        return texts

    def result(self, out: Path | None, certificate: Certificate, notes: tuple[str, ...]) -> Release:
        """With what is left to see in it."""
        facts, held = self.plan.design.facts, None
        if out is None:
            data = pl.concat([part.data for part in self.parts])
            events = pl.concat([part.events for part in self.parts])
            held = replace(self.head, data=data, events=events)
        people = self.head.people.height
        many = people * len(facts.slots)
        whose = plural(people, "synthetic participant")
        rows = f"{plural(many, 'recording')} of {whose}, {many * facts.length:,} samples"
        return Release(certificate, worth_of_generator(certificate), rows, out, notes, held)


def pieces_of(blocks: Sequence[Block], facts: GazeDesignFacts, width: int) -> list[list[Block]]:
    """Blocks that are written together, by public numbers alone.

    Args:
        blocks: of synthetic participants, in order.
        facts: what is public.
        width: columns of the data.
    """
    found: list[list[Block]] = []
    held = 0
    for block in blocks:
        values = block.people * len(facts.slots) * facts.length * width
        if not found or held + values > pieces.PIECE_VALUES:
            found.append([])
            held = 0
        found[-1].append(block)
        held += values
    return found


def _measured(
    design: GazeDesign, survey: Survey, request: Request, run: Run | None
) -> tuple[Answers, int]:
    """Measure, unless the run did before it was stopped: what was drawn is not drawn again."""
    if run is None:
        return _taken(design, survey, request)
    # Not in the scratch, which is gone before the output is in its place.
    path = run.drawn / MEASURED
    if not path.exists():
        answers, entropy = _taken(design, survey, request)
        facts = json.dumps(answers.to_dict() | {"entropy": entropy})
        run.put(path, lambda draft: draft.write_text(facts, encoding="utf-8"))
    content = json.loads(content_of(path))
    return Answers.from_dict(content), int(content["entropy"])


def _taken(design: GazeDesign, survey: Survey, request: Request) -> tuple[Answers, int]:
    answers = design.mechanism.measure(survey.gaze, design.facts, request.noise)
    return answers, entropy_of(request.noise)


@dataclass(frozen=True, eq=False)
class _Drawing:
    """What everybody who draws a piece needs to know.

    Attributes:
        head: of the release.
        mechanism: that draws.
        facts: what is public.
        portraits: what is drawn after.
        entropy: that all of it is made of.
        pieces: how many there are.
        run: into which they are written; None for a release that is not.
    """

    head: Study
    mechanism: GazeMechanism
    facts: GazeDesignFacts
    portraits: tuple[Portrait, ...]
    entropy: int
    pieces: int
    run: Run | None

    def study(self, blocks: Sequence[Block]) -> Study:
        """The synthetic participants of some blocks."""
        made = [
            each
            for block in blocks
            for each in self.mechanism.draw(block, self.portraits, self.facts, self.entropy)
        ]
        return replace(
            self.head,
            data=pl.concat([data for data, _ in made]),
            events=pl.concat([events for _, events in made]),
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """What became of a piece.

    Attributes:
        names: of the people in it.
        digests: of each person's rows.
        of_events: of each person's events.
        facts: about the part that was written.
        data: the rows, where they were not written.
        events: likewise.
    """

    names: list[str]
    digests: list[bytes]
    of_events: list[bytes]
    facts: dict[str, Any]
    data: pl.DataFrame
    events: pl.DataFrame


def _drawn(handle: Shared[_Drawing], piece: tuple[int, list[Block]]) -> _Part:
    """A piece, unless it was drawn before: what is there stays, and is told of."""
    job, (number, blocks) = handle.get(), piece
    made = job.study(blocks)
    events = made.events
    assert events is not None, "synthetic recordings have events"
    found = names_of(made.data), person_digests(made.data), person_digests(events)
    if job.run is None:
        return _Part(*found, {}, made.data, events)
    facts = write_study_part(job.run, number, job.pieces, lambda: made)
    return _Part(*found, facts, made.data.clear(), events.clear())
