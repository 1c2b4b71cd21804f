"""What mechanisms make of private data, piece by piece or at once; each piece of it once."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.parquet import rows_of, scan
from eyelid.io.pieces import Piece, cut_evenly, each_piece
from eyelid.io.release_folder import digest_of_release
from eyelid.io.study_parts import (
    part_facts,
    part_path,
)
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.groups.slots import Slots
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import stream_of
from eyelid.releases.accounting import Plan
from eyelid.releases.kinds.features.plan import TableDesign
from eyelid.releases.kinds.features.preparation import (
    Outline,
    PieceFacts,
    TableInPieces,
    is_kept,
    keep_table,
    kept_table,
    outline_of,
    read_again,
    without_rows,
)

_Known = tuple[Study, dict[str, bytes]]
_SHOWN, _WHOLE = "shown", "whole"

_SPREAD = " (standard deviation)"


@dataclass(frozen=True, eq=False)
class Output:
    """What is released, as far as it is not written.

    Attributes:
        shown: its outline.
        parts: what study.json says about its files.
        digests: of what is released of each person, by name.
        held: all of it, where nothing is written.
    """

    shown: Outline
    parts: list[dict[str, Any]]
    digests: dict[str, bytes]
    held: FeatureTable | None

    def empty(self, folder: Path) -> list[str]:
        """Features that have no value in what was written.

        Args:
            folder: into which.
        """
        files = [folder / part["file"] for part in self.parts]
        columns = pl.col(self.shown.names)
        known = scan(*files).select(columns.is_not_null().any())
        return [name for name, there in known.collect().row(0, named=True).items() if not there]

    def spreads(self, folder: Path) -> dict[str, tuple[float, float]]:
        """Mean and standard deviation of each feature that has values in what was written.

        Args:
            folder: into which.
        """
        files = [folder / part["file"] for part in self.parts]
        numbers = pl.col(self.shown.names).cast(pl.Float64)
        asked = numbers.mean(), numbers.std().name.suffix(_SPREAD)
        found = scan(*files).select(*asked).collect().row(0, named=True)
        return {
            name: (found[name], found[name + _SPREAD])
            for name in self.shown.names
            if found[name + _SPREAD] is not None
        }

    def digest(self) -> str:
        """SHA-256 of the whole release, equal to its `output_digest`."""
        return digest_of_release(self.shown.people, list(self.digests), list(self.digests.values()))


@dataclass(frozen=True, eq=False)
class _Job:
    """What everybody who makes a piece private needs to know.

    Attributes:
        mechanism: with its parameters set.
        facts: the public facts of everybody.
        features: with the bounds that values are clipped to.
        noise: of the whole release.
        pieces: how many there are.
        run: into which they are written; None for a release that is not.
    """

    mechanism: FeatureMechanism
    facts: PublicFacts
    features: tuple[Feature, ...]
    noise: Randomness
    pieces: int
    run: Run | None


def made_private(
    plan: Plan[TableDesign],
    private: TableInPieces,
    noise: Randomness,
    run: Run | None,
    advance: Advance,
) -> Output:
    """What the mechanism makes of the private data, and no more than that.

    Args:
        plan: what was charged for.
        private: the data.
        noise: every piece gets a stream of its own.
        run: into which parts are written, unless they are there; None to hold them.
        advance: of the bar of the whole run.
    """
    design = plan.design
    if design.mechanism.execution is Execution.PER_PERSON:
        parts, people = _by_person(design, private, noise, run, advance), design.table.people
    else:
        part, people = _at_once(design, private, noise, run, advance)
        parts = [part]
    if not plan.central:
        people = people.filter(pl.col("person").is_in(plan.people)).select("person", *plan.keep)
    # Bounds read off the data must not come back as the features' own.
    defined = {feature.name: feature for feature in design.defined_features}
    shown = outline_of(
        parts,
        people,
        features=tuple(defined.get(f.name, f) for f in parts[0].table.features),
        origin=None,
        planned_rows=None,
        released=True,
        # The certificate says how people were chosen.
        chosen=(),
    )
    held = None
    if run is None:
        rows = pl.concat([part.held for part in parts if part.held is not None])
        held = FeatureTable.outline(replace(shown.study(), data=rows))
    digests = {name: digest for part in parts for name, digest in part.digests.items()}
    return Output(shown, [part.file for part in parts], digests, held)


def _by_person(
    design: TableDesign,
    private: TableInPieces,
    noise: Randomness,
    run: Run | None,
    advance: Advance,
) -> list[PieceFacts]:
    """Whole people at a time, by the workers, in parts that show no person's length."""
    cut = cut_evenly(private.cut, design.facts.length)
    job = _Job(design.mechanism, design.facts, design.table.features, noise, len(cut.pieces), run)
    with shared((cut.head, private.digests)) as known:
        return list(each_piece(partial(_part, known, job), cut, advance, "adding noise"))


def _part(known: Shared[_Known], job: _Job, piece: Piece) -> PieceFacts:
    """A piece made private, unless it was before: what is there stays, and is told of."""
    if job.run is None:
        table = _private(known, job, piece)
        return PieceFacts.of(table, table.data, held=table.data)
    path = part_path(job.run.output, piece.number, job.pieces)
    if not (path.exists() and is_kept(job.run, _SHOWN)):
        table = _private(known, job, piece)
        keep_table(job.run, _SHOWN, without_rows(table))
        job.run.put(path, table.data.write_parquet)
    shown, _ = kept_table(job.run, _SHOWN)
    # Not what was made here: another process may have been faster.
    rows = rows_of(path)
    return PieceFacts.of(replace(shown, data=rows), rows, file=part_facts(path, job.run.output))


def _private(known: Shared[_Known], job: _Job, piece: Piece) -> FeatureTable:
    head, digests = known.get()
    table = read_again(piece, head, [digests[name] for name in piece.people])
    table = replace(table, features=job.features)
    return job.mechanism.apply_to_some(table, job.facts, stream_of(job.noise, piece.number))


def _at_once(
    design: TableDesign,
    private: TableInPieces,
    noise: Randomness,
    run: Run | None,
    advance: Advance,
) -> tuple[PieceFacts, pl.DataFrame]:
    """One table of all, with the people as the mechanism shows them, or groups of them."""
    if run is None:
        table = _whole(design, private, noise, advance)
        return PieceFacts.of(table, table.data, held=table.data), table.people
    path = part_path(run.output, 0, 1)
    if path.exists() and not is_kept(run, _WHOLE):
        # All was there, and could not be put in its place.
        table = FeatureTable.of(study_folder.read_study(run.output))
    else:
        if not is_kept(run, _WHOLE):
            keep_table(run, _WHOLE, _whole(design, private, noise, advance))
        table, _ = kept_table(run, _WHOLE)
    run.put(path, table.data.write_parquet)
    facts = part_facts(path, run.output)
    return PieceFacts.of(table, table.data, file=facts), table.people


def _whole(
    design: TableDesign, private: TableInPieces, noise: Randomness, advance: Advance
) -> FeatureTable:
    """What a mechanism makes of everybody: of sums over pieces, or of all rows in memory."""
    own = stream_of(noise, 0)
    if design.mechanism.execution is not Execution.BY_SUMS:
        advance(0, "adding noise")
        table = design.mechanism.apply(design.table, own)
        advance(private.cut.recordings.height, "adding noise")
        return table
    mechanism = cast(MeanMechanism, design.mechanism)
    groups = mechanism.partition(design.table, own)
    cut = private.cut
    # Large things are shared; the mechanism may be a user's own.
    crowd = _Crowd(
        cut.head, private.digests, groups, mechanism.slots(design.table), _begins(cut.pieces)
    )
    totals = None
    with shared(crowd) as handle:
        work = partial(_summed, handle, mechanism, design.facts, design.table.features)
        for each in each_piece(work, cut, advance, "adding up"):
            totals = each if totals is None else totals + each
    assert totals is not None, "a study has people"
    return mechanism.from_sums(design.table, groups, totals, own)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """All people, as needed for adding up a piece.

    Attributes:
        head: of what was prepared.
        digests: of what was prepared of each person, by name.
        groups: who is in which.
        slots: of all recordings.
        begins: the first person and recording of each piece.
    """

    head: Study
    digests: dict[str, bytes]
    groups: Groups
    slots: Slots
    begins: dict[int, tuple[int, int]]


def _begins(pieces: Sequence[Piece]) -> dict[int, tuple[int, int]]:
    people = itertools.accumulate((len(piece.people) for piece in pieces), initial=0)
    recordings = itertools.accumulate((piece.recordings for piece in pieces), initial=0)
    return {
        piece.number: begin
        for piece, begin in zip(pieces, zip(people, recordings, strict=True), strict=False)
    }


def _summed(
    handle: Shared[_Crowd],
    mechanism: MeanMechanism,
    facts: PublicFacts,
    features: tuple[Feature, ...],
    piece: Piece,
) -> Integers:
    """The exact sums over the people of a piece, as whole numbers."""
    crowd = handle.get()
    table = read_again(piece, crowd.head, [crowd.digests[name] for name in piece.people])
    first, recording = crowd.begins[piece.number]
    mine = replace(crowd.groups, member=crowd.groups.member[first : first + len(piece.people)])
    slots = crowd.slots.of_some(recording, piece.recordings)
    return mechanism.sums(replace(table, features=features), mine, facts, slots)


VALUE, MEAN_OVER_ROWS = "one value", "mean over rows"
_DIGITS = 6


def standard_errors(
    mechanism: FeatureMechanism,
    facts: PublicFacts,
    features: Sequence[Feature],
    people: pl.DataFrame,
    step_ms: float | None = None,
) -> pl.DataFrame | None:
    """The standard deviation of the noise on each released mean, in the unit of its feature.

    One row for each group, of one value and, where a recording has several rows, of its mean over
    them. ``time_ms`` is null where the error is the same for all rows. Everything in it follows
    from public facts. It is before clipping to the bounds, and leaves out rounding, which is less
    than a billionth of it, and what a mechanism cuts off.

    Args:
        mechanism: that makes means, with its parameters.
        facts: the public facts.
        features: with the bounds that values are clipped to.
        people: of the release: groups, with how many ``people`` each has.
        step_ms: of the released rows.

    Returns:
        ``person`` (the group; not of groups that chance draws, which their ``people`` tell apart),
        ``people``, ``of``, ``time_ms`` and the features; None where nothing or something else than
        means under noise on their own values is released.
    """
    if not mechanism.release.of_means or mechanism.core.measures_bins:
        return None
    averaging = cast(MeanMechanism, mechanism)
    # Which of the groups that chance draws is larger is left to chance, and is not shown here.
    names = ["people"] if mechanism.drawn else ["person", "people"]
    groups = people.select(names)
    if mechanism.drawn:
        groups = groups.unique().sort("people")
    spans = np.array([feature.span for feature in features])
    parts = []
    for group in groups.rows(named=True):
        rows, mean = averaging.noise_sd_of_span(facts, group["people"])
        errors, of, time = rows[:, None] * spans, [VALUE] * rows.size, [None]
        if rows.size > 1:
            time = (np.arange(rows.size) * (step_ms or 1.0)).tolist()
        if facts.length > 1:
            errors, of = np.vstack([errors, mean * spans]), [*of, MEAN_OVER_ROWS]
            time = [*time, None]
        parts.append(
            pl.DataFrame(
                {
                    **{name: [group[name]] * len(of) for name in names},
                    "of": of,
                    "time_ms": pl.Series(time, dtype=pl.Float64),
                    **{each.name: errors[:, j] for j, each in enumerate(features)},
                }
            )
        )
    found = pl.concat(parts)
    return found.with_columns(
        pl.col(each.name).round_sig_figs(_DIGITS) for each in features if np.isfinite(each.span)
    )
