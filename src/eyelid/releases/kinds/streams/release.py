"""Look, plan, pay, filter, write: in that order, the first and the last but one in pieces."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.engines import Shared, shared
from eyelid.engine.progress import Advance, one_bar
from eyelid.engine.runs import Run, running
from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.intake import is_ours, under_pseudonyms
from eyelid.io.parquet import rows_of
from eyelid.io.people_choice import Whom
from eyelid.io.pieces import Piece, StudyInPieces, cut_evenly, each_piece, in_pieces
from eyelid.io.reading import read
from eyelid.io.study_parts import (
    part_path,
    write_manifest,
    write_part,
)
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import stream_of
from eyelid.releases.accounting import Purchase, bought, claimed, counting_entry, ended, open_ledger
from eyelid.releases.certificate import Certificate, ReleasedAs, told_of_choice
from eyelid.releases.fingerprint import digest_of_people, digest_of_release, person_digests
from eyelid.releases.kinds.features.notes import singled_out
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.streams.plan import (
    StreamPlan,
    build_filter,
    expected_distance,
    filtered,
    make_stream_plan,
    released_head,
    unprotected,
)
from eyelid.releases.kinds.streams.preparation import (
    RECORDED,
    check_kind,
    looked_at,
    taken_of,
    timed,
)
from eyelid.releases.streams.card import stream_card
from eyelid.releases.streams.words import worth_of
from eyelid.version import __version__


@dataclass(frozen=True, eq=False)
class StreamRelease:
    """Filtered gaze with its certificate.

    Attributes:
        certificate: what holds.
        worth: what is left to see in it, in a sentence.
        rows: how many samples it has; for the owner's eyes.
        path: where it was written, if it was.
        notes: what whoever read the recordings should know.
        held: the released samples, where they were not written.
    """

    certificate: Certificate
    worth: str
    rows: str
    path: Path | None = None
    notes: tuple[str, ...] = ()
    held: Study | None = None

    @cached_property
    def study(self) -> Study:
        """The released samples, read when they are first asked for."""
        if self.held is not None:
            return self.held
        assert self.path is not None, "what is not held was written"
        return read(self.path)


def release_streams(
    source: Any,
    out: Path | None,
    mechanism: str | Mechanism,
    noise: Randomness,
    *,
    ledger: Path | str | None = None,
    keep: Sequence[str] = (),
    map: Map = None,
    tell: Callable[[str], None] | None = None,
    people: Whom = None,
    eye: str | None = None,
    times: str | None = None,
    **parameters: Any,
) -> StreamRelease:
    """Run a filter over every recording, as if each were a live stream.

    Args:
        source: a study folder or recordings, or a study of samples.
        out: a new folder to write; checked by whoever calls.
        mechanism: the filter, by name or set.
        noise: where it comes from.
        ledger: where to count; by default the file beside the original study.
        keep: attributes of people to release as they are.
        map: what you say about the columns of recordings.
        tell: given each note before anything is paid.
        people: whom it is about, as for `eyelid.release`.
        eye: which of several eyes.
        times: ``recorded`` (the default), or ``regular``: the number of each sample times the step.
        parameters: of the filter; its scene is the study's screen where nobody says.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    if path is None and not isinstance(source, Study):
        raise InputError(
            f"a filter takes gaze sample by sample, and this is a {type(source).__name__}: give a "
            "study of samples, or recordings"
        )
    cut = opened(source, map, people)
    times = times or RECORDED
    check_kind(cut.head)
    timed(cut.head, cut.head.data, times)
    chosen = build_filter(mechanism, cut.head, **parameters)
    # Whoever sets a filter has set its scene.
    told = bool(parameters.get("scene")) or isinstance(mechanism, StreamMechanism)
    with one_bar(2 * cut.recordings.height, "recordings") as advance:
        facts = looked_at(cut, eye, times, advance)
        plan = make_stream_plan(cut.head, facts, chosen, noise, keep, told=told, times=times)
        origin, remarks = counting_entry(cut.entering, path, ledger)
        if path is not None and not study_folder.recognises(path):
            cut = _under_pseudonyms(cut, origin, path)
            if tuple(cut.people) != facts.people:
                # In another order, too.
                plan = replace(plan, facts=looked_at(cut, eye, times, lambda by, what: None))
        # By what is released: how long another eye was seen is in no row of it.
        cut = cut_evenly(cut, plan.shape.length)
        notes = (
            *cut.head.notes,
            *remarks,
            *told_of_choice(cut.head.chosen, len(cut.people)),
            *singled_out(
                cut.head.people.filter(pl.col("person").is_in(plan.facts.people)), plan.keep
            ),
        )
        for note in notes:
            if tell is not None:
                tell(note)
        distance = expected_distance(chosen, cut.head.rate_hz)
        counted_in = None if origin is None else [origin.id, origin.ledger]
        key = _key(plan, cut, [eye, _seed(noise), counted_in])
        book = open_ledger(origin)
        with (
            nullcontext() if out is None else running(out, key) as run,
            bought(_purchase(plan, noise.name, cut.head.chosen), book, out, run) as certificate,
        ):
            job = _Job(cut.head, plan, eye, noise, len(cut.pieces), run)
            made = _made(job, cut, advance)
            head = released_head(plan, cut.head)
            digests = [digest for part in made for digest in part.digests]
            certificate = replace(
                certificate,
                output_sha256=digest_of_release(head.people, plan.facts.people, digests),
            )
            if run is not None:
                write_manifest(run, head, [part.facts for part in made])
                card = stream_card(certificate, head, plan, distance)
                told_of = {"certificate.json": certificate.to_json(), "DATACARD.md": card}
                for name, text in told_of.items():
                    (run.output / name).write_text(text, encoding="utf-8")
            claimed(book, run, certificate)
    held = None if run is not None else replace(head, data=pl.concat([p.data for p in made]))
    ended(book, run)
    return StreamRelease(certificate, worth_of(distance), _told(plan), out, tuple(notes), held)


def _under_pseudonyms(cut: StudyInPieces, origin: Origin | None, path: Path) -> StudyInPieces:
    """Recordings under the names that the ledger keeps; they are in memory already."""
    ours = is_ours(cut.head, path)
    return in_pieces(under_pseudonyms(replace(cut.whole(), origin=origin), ours=ours))


def _key(plan: StreamPlan, cut: StudyInPieces, settings: Sequence[Any]) -> str:
    """Of everything that the output depends on, the gaze and its pieces too."""
    law, facts, head = plan.mechanism, plan.facts, cut.head
    told = [
        __version__,
        [len(piece.people) for piece in cut.pieces],
        digest_of_people(facts.people, facts.digests).hex(),
        [law.name, law.parameters(), plan.bounds.source, plan.times],
        [head.units, head.rate_hz, head.xy_origin, head.simulated],
        None if head.screen is None else asdict(head.screen),
        head.people.select("person", *plan.keep).write_csv(),
        settings,
        list(head.chosen),
    ]
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()


def _seed(noise: Randomness) -> list[int] | None:
    """What tells a seed from others; None where nothing repeats."""
    return None if noise.private else stream_of(noise, 0).words(2).tolist()


@dataclass(frozen=True, eq=False)
class _Job:
    """What everybody who filters a piece needs to know.

    Attributes:
        head: of the study.
        plan: of the release.
        eye: which of several.
        noise: where it comes from.
        pieces: how many there are.
        run: into which they are written; None for a release that is not.
    """

    head: Study
    plan: StreamPlan
    eye: str | None
    noise: Randomness
    pieces: int
    run: Run | None


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


def _made(job: _Job, cut: StudyInPieces, advance: Advance) -> list[_Part]:
    with shared(job) as handle:
        return list(each_piece(partial(_filtered, handle), cut, advance, "filtering"))


def _filtered(handle: Shared[_Job], piece: Piece) -> _Part:
    """A piece through the filter, unless it was before: what is there stays, and is told of."""
    job = handle.get()
    if job.run is None:
        data = _through_filter(job, piece)
        return _Part(person_digests(data), {}, data)
    facts = write_part(job.run, piece.number, job.pieces, partial(_through_filter, job, piece))
    written = rows_of(part_path(job.run.output, piece.number, job.pieces))
    return _Part(person_digests(written), facts, written.clear())


def _through_filter(job: _Job, piece: Piece) -> pl.DataFrame:
    """What the filter makes of a piece, and no more than that."""
    taken = taken_of(piece.read(job.head), job.eye, job.plan.times)
    planned = [job.plan.facts.digest_of[name] for name in piece.people]
    if person_digests(taken.data) != planned:
        raise InputError(
            "the recordings changed after they were looked at, and what is promised may not be "
            "true of them: release again when nobody writes them"
        )
    return filtered(job.plan.mechanism, taken, stream_of(job.noise, piece.number)).data


def _told(plan: StreamPlan) -> str:
    """How many samples there are, and of how many recordings."""
    return f"{plan.facts.recordings:,} recordings, {plan.facts.samples:,} samples"


def _purchase(plan: StreamPlan, randomness_name: str, chosen: Sequence[str]) -> Purchase:
    """What the plan is about to buy."""
    law, facts = plan.mechanism, plan.facts
    kept = [f"the attribute {name} of every person, released as it is" for name in plan.keep]
    return Purchase(
        what="gaze samples",
        mechanism=law.name,
        parameters=law.parameters(),
        people=facts.people,
        guarantee=plan.guarantee,
        person_level=plan.person_level,
        how=law.person_total(plan.shape),
        bounds=plan.bounds,
        noise={
            "sampler": law.sampler(plan.shape),
            "numerics": law.numerics,
            "randomness": randomness_name,
        },
        unprotected=[*unprotected(plan.times, law, plan.touched), *kept],
        alike=plan.alike,
        input_digest=lambda: digest_of_people(facts.people, facts.digests),
        form=law.form,
        released_as=ReleasedAs(law.release),
        chosen=chosen,
    )
