"""A release of gaze itself, step by step: every recording through a filter, as if it were live."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io.intake import is_ours, under_pseudonyms
from eyelid.io.parquet import rows_of
from eyelid.io.pieces import Piece, cut_evenly, each_piece, in_pieces
from eyelid.io.release_folder import (
    digest_of_people,
    digest_of_release,
    person_digests,
)
from eyelid.io.study_parts import (
    part_path,
    write_manifest,
    write_part,
)
from eyelid.mechanisms.certificate import Certificate, choice_notes
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.mechanisms.streams.distance import expected_distance
from eyelid.mechanisms.streams.study_scene import filtered
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import stream_of
from eyelid.releases.accounting import Plan, counting_entry
from eyelid.releases.kinds.features.notes import singled_out
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.streams.plan import (
    GazeDesign,
    build_filter,
    make_stream_plan,
    released_head,
)
from eyelid.releases.kinds.streams.preparation import check_kind, looked_at, taken_of, timed
from eyelid.releases.pipeline import Begin, Job, Prepared, Request, RunKey
from eyelid.reporting.cards import stream_card
from eyelid.reporting.gaze_sentences import RECORDED, worth_of
from eyelid.reporting.release import Release


class StreamJob(Job[Release]):
    """A release of gaze.

    Attributes:
        plan: what was settled.
        parts: what is released, once it is made.
    """

    plan: Plan[GazeDesign]
    parts: list[_Part]

    def __init__(
        self,
        request: Request,
        mechanism: str | Mechanism,
        eye: str | None = None,
        times: str | None = None,
        **parameters: Any,
    ) -> None:
        """What is asked for; the source is opened.

        Args:
            request: by whom and of what.
            mechanism: the filter, by name or set.
            eye: which of several eyes.
            times: ``recorded`` (the default), or ``regular``: the number of each sample times the
                step.
            parameters: of the filter; its scene is the study's screen where nobody says.
        """
        if request.path is None and not isinstance(request.source, Study):
            raise InputError(
                "a filter takes gaze sample by sample, and this is a "
                f"{type(request.source).__name__}: give a study of samples, or recordings"
            )
        self.request, self.eye, self.times = request, eye, times or RECORDED
        self.cut = opened(request.source, request.map, request.people)
        check_kind(self.cut.head)
        timed(self.cut.head, self.cut.head.data, self.times)
        self.mechanism = build_filter(mechanism, self.cut.head, **parameters)
        # A filter that is set has its scene.
        self.scene_given = bool(parameters.get("scene")) or not isinstance(mechanism, str)

    @property
    def steps(self) -> int:
        """Everything is looked at, and filtered."""
        return 2 * self.cut.recordings.height

    def prepare(self, begin: Begin, advance: Advance) -> Prepared:
        """Look at everybody's gaze, and enter them into the ledger."""
        request, cut, noise = self.request, self.cut, self.request.noise
        gaze = looked_at(cut, self.eye, self.times, advance)
        plan = make_stream_plan(
            cut.head,
            gaze,
            self.mechanism,
            noise,
            request.keep,
            scene_given=self.scene_given,
            times=self.times,
        )
        origin, remarks = counting_entry(cut.entering, request.path, request.ledger)
        if request.recordings is not None:
            # Under the names that the ledger keeps; they are in memory already.
            ours = is_ours(cut.head, request.recordings)
            cut = in_pieces(under_pseudonyms(replace(cut.whole(), origin=origin), ours=ours))
            if tuple(cut.people) != gaze.people:
                # In another order, too.
                gaze = looked_at(cut, self.eye, self.times, lambda by, what: None)
        # By what is released: how long another eye was seen is in no row of it.
        self.cut = cut = cut_evenly(cut, gaze.facts.length)
        head, design = cut.head, replace(plan.design, gaze=gaze)
        plan = replace(plan, design=design, people=gaze.people, chosen=head.chosen)
        self.plan = plan
        present = head.people.filter(pl.col("person").is_in(gaze.people))
        notes = (
            *head.notes,
            *remarks,
            *choice_notes(head.chosen, len(cut.people)),
            *singled_out(present, plan.keep),
        )
        self.distance = expected_distance(plan.design.mechanism, head.rate_hz)
        digest = digest_of_people(gaze.people, gaze.digests)
        key = RunKey.of(
            [plan.mechanism],
            data=digest.hex(),
            seed=None if noise.private else stream_of(noise, 0).words(2).tolist(),
            ledger=None if origin is None else [origin.id, origin.ledger],
            chosen=head.chosen,
            settings=[
                [len(piece.people) for piece in cut.pieces],
                [plan.bounds.source, self.times, self.eye],
                [head.units, head.rate_hz, head.xy_origin, head.simulated],
                None if head.screen is None else asdict(head.screen),
                head.people.select("person", *plan.keep).write_csv(),
            ],
        )
        return Prepared(plan, lambda: digest, origin, notes, begin(key))

    def apply(self, run: Run | None, certificate: Certificate, advance: Advance) -> Certificate:
        """Every piece through the filter."""
        plan, cut = self.plan, self.cut
        self.head = released_head(plan, cut.head)
        job = _Filtering(cut.head, plan.design, self.eye, self.request.noise, len(cut.pieces), run)
        with shared(job) as handle:
            self.parts = list(each_piece(partial(_filtered, handle), cut, advance, "filtering"))
        digests = [digest for part in self.parts for digest in part.digests]
        digest = digest_of_release(self.head.people, plan.people, digests)
        return replace(certificate, output_sha256=digest)

    def write(self, run: Run, certificate: Certificate) -> dict[str, str]:
        """The manifest; the data card."""
        write_manifest(run, self.head, [part.facts for part in self.parts])
        design = self.plan.design
        card = stream_card(
            certificate,
            self.head,
            design.mechanism,
            self.distance,
            recordings=design.gaze.recordings,
            samples=design.gaze.samples,
            touched=design.touched,
        )
        return {"DATACARD.md": card}

    def result(self, out: Path | None, certificate: Certificate, notes: tuple[str, ...]) -> Release:
        """With how far off it is expected to be."""
        gaze, held = self.plan.design.gaze, None
        if out is None:
            held = replace(self.head, data=pl.concat([part.data for part in self.parts]))
        rows = f"{gaze.recordings:,} recordings, {gaze.samples:,} samples"
        return Release(certificate, worth_of(self.distance), rows, out, notes, held)


@dataclass(frozen=True, eq=False)
class _Filtering:
    """What everybody who filters a piece needs to know.

    Attributes:
        head: of the study.
        design: of the release.
        eye: which of several.
        noise: where it comes from.
        pieces: how many there are.
        run: into which they are written; None for a release that is not.
    """

    head: Study
    design: GazeDesign
    eye: str | None
    noise: Randomness
    pieces: int
    run: Run | None

    def through_filter(self, piece: Piece) -> pl.DataFrame:
        """What the filter makes of a piece, and no more than that."""
        taken = taken_of(piece.read(self.head), self.eye, self.design.times)
        planned = [self.design.gaze.digest_of[name] for name in piece.people]
        if person_digests(taken.data) != planned:
            raise InputError(
                "the recordings changed after they were looked at, and what is promised may not be "
                "true of them: release again when nobody writes them"
            )
        return filtered(self.design.mechanism, taken, stream_of(self.noise, piece.number)).data


@dataclass(frozen=True, eq=False)
class _Part:
    """What became of a piece.

    Attributes:
        digests: of each person's released rows.
        facts: about the part that was written.
        data: the rows, where they were not written.
    """

    digests: list[bytes]
    facts: dict[str, Any]
    data: pl.DataFrame


def _filtered(handle: Shared[_Filtering], piece: Piece) -> _Part:
    """A piece through the filter, unless it was before: what is there stays, and is told of."""
    job = handle.get()
    if job.run is None:
        data = job.through_filter(piece)
        return _Part(person_digests(data), {}, data)
    facts = write_part(job.run, piece.number, job.pieces, partial(job.through_filter, piece))
    written = rows_of(part_path(job.run.output, piece.number, job.pieces))
    return _Part(person_digests(written), facts, written.clear())
