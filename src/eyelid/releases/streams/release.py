"""Plan, pay, filter, write: in that order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

import polars as pl

from eyelid.engine.runs import running
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.intake import is_ours, read_scrubbed, under_pseudonyms
from eyelid.io.study_folder import write_parts
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.noise import Randomness
from eyelid.releases.certificate import Certificate
from eyelid.releases.certifying import Purchase, bought
from eyelid.releases.counting import counting_origin, open_ledger
from eyelid.releases.fingerprint import output_digest, samples_digest
from eyelid.releases.streams.card import stream_card
from eyelid.releases.streams.expectation import expected_distance
from eyelid.releases.streams.plan import (
    RECORDED,
    StreamPlan,
    filtered,
    make_stream_plan,
    taken_of,
    unprotected,
)
from eyelid.releases.streams.scene import build_filter
from eyelid.releases.streams.words import worth_of


@dataclass(frozen=True, eq=False)
class StreamRelease:
    """Filtered gaze with its certificate.

    Attributes:
        study: the released samples.
        certificate: what holds.
        worth: what is left to see in it, in a sentence.
        rows: how many samples it has; for the owner's eyes.
        path: where it was written, if it was.
        notes: what whoever read the recordings should know.
    """

    study: Study
    certificate: Certificate
    worth: str
    rows: str
    path: Path | None = None
    notes: tuple[str, ...] = ()


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
        eye: which of several eyes.
        times: ``recorded`` (the default), or ``regular``: the number of each sample times the step.
        parameters: of the filter; its scene is the study's screen where nobody says.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    study = source if path is None else read_scrubbed(path, map)
    if not isinstance(study, Study):
        raise InputError(
            f"a filter takes gaze sample by sample, and this is a {type(study).__name__}: give a "
            "study of samples, or recordings"
        )
    times = times or RECORDED
    taken = taken_of(study, eye, times)
    chosen = build_filter(mechanism, taken, **parameters)
    # Whoever sets a filter has set its scene.
    told = bool(parameters.get("scene")) or isinstance(mechanism, StreamMechanism)
    plan = make_stream_plan(taken, chosen, noise, keep, told=told, times=times)
    origin = counting_origin(study, path, ledger)
    taken = replace(taken, origin=origin)
    if path is not None and not study_folder.recognises(path):
        taken = under_pseudonyms(taken, ours=is_ours(study, path))
    plan = replace(plan, study=taken)
    for note in study.notes:
        if tell is not None:
            tell(note)
    distance = expected_distance(chosen, taken.rate_hz)
    with (
        nullcontext() if out is None else running(out, token_hex()) as run,
        bought(_purchase(plan, noise.name), open_ledger(origin), out, run) as certificate,
    ):
        folder = None if run is None else run.output
        released = _released(plan, noise)
        certificate = replace(certificate, output_sha256=output_digest(released))
        done = StreamRelease(
            released, certificate, worth_of(distance), _told(plan), out, tuple(study.notes)
        )
        if folder is not None:
            write_parts(released, folder)
            (folder / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
            card = stream_card(certificate, released, chosen, distance)
            (folder / "DATACARD.md").write_text(card, encoding="utf-8")
    return done


def _released(plan: StreamPlan, noise: Randomness) -> Study:
    """What the filter makes of the recordings, and no more than that."""
    made = filtered(plan.mechanism, plan.study, noise)
    people = made.people.filter(pl.col("person").is_in(plan.people)).select("person", *plan.keep)
    return replace(made, people=people, origin=None, released=True)


def _told(plan: StreamPlan) -> str:
    """How many samples there are, and of how many recordings."""
    recordings = plan.study.data.select("person", "recording").n_unique()
    return f"{recordings:,} recordings, {len(plan.study.data):,} samples"


def _purchase(plan: StreamPlan, randomness_name: str) -> Purchase:
    """What the plan is about to buy."""
    law, study = plan.mechanism, plan.study
    kept = [f"the attribute {name} of every person, released as it is" for name in plan.keep]
    return Purchase(
        what="gaze samples",
        mechanism=law.name,
        parameters=law.parameters(),
        people=plan.people,
        guarantee=plan.guarantee,
        person_level=plan.person_level,
        how=law.person_total(plan.shape),
        bounds=plan.bounds,
        noise={
            "sampler": law.sampler(plan.shape),
            "numerics": law.numerics,
            "randomness": randomness_name,
        },
        unprotected=[*unprotected(plan.times), *kept],
        alike=plan.alike,
        input_digest=lambda: samples_digest(study),
    )
