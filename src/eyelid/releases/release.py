"""Plan, pay, compute, write: in that order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.engine.atomic import check_new
from eyelid.engine.engines import using
from eyelid.engine.progress import one_bar
from eyelid.engine.runs import running
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import pieces, study_folder
from eyelid.io.column_map import Map, understood
from eyelid.io.intake import is_ours, under_pseudonyms
from eyelid.io.people_choice import (
    PeopleChoice,
    Whom,
    people_choice,
)
from eyelid.io.pieces import in_pieces
from eyelid.io.release_folder import STANDARD_ERRORS
from eyelid.io.study_parts import (
    input_key,
    write_manifest,
)
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.anonymising import AnonymisingMechanism
from eyelid.mechanisms.groups.ksame import KSame, slot_names
from eyelid.mechanisms.groups.partition import groups_told
from eyelid.mechanisms.groups.public_groups import GroupedShape
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.noise import Randomness, randomness
from eyelid.releases.accounting import Purchase, bought, claimed, counting_entry, ended, open_ledger
from eyelid.releases.certificate import Certificate, told_of_choice
from eyelid.releases.datacard import datacard
from eyelid.releases.fingerprint import output_digest
from eyelid.releases.kinds.features.application import errors_text, made_private, standard_errors
from eyelid.releases.kinds.features.notes import (
    lengths_cut,
    missing_values,
    recordings_left_out,
    singled_out,
    stimuli_mixed,
    tasks_of_few,
)
from eyelid.releases.kinds.features.plan import Plan, Ranges, build_mechanism, described, plan_for
from eyelid.releases.kinds.features.preparation import Taken, opened, take
from eyelid.releases.kinds.features.prospect import made_up
from eyelid.releases.kinds.streams.plan import is_filter
from eyelid.releases.kinds.streams.release import StreamRelease, release_streams
from eyelid.releases.words import released_as, worth
from eyelid.spelling import plural
from eyelid.version import __version__


@dataclass(frozen=True, eq=False)
class Release:
    """Private data with its certificate.

    Attributes:
        held: the released features, where they were not written.
        certificate: what holds.
        worth: what is left to see in it, in a sentence.
        rows: how many rows it has, what became of those of the people, and the groups; for the
            owner's eyes.
        path: where it was written, if it was.
        notes: what whoever read the recordings, or shares the release, should know.
        standard_errors: of means, the standard deviation of the noise on each, in the unit of its
            feature; the error due to noise alone, and not how far other people's mean would be.
    """

    held: FeatureTable | None
    certificate: Certificate
    worth: str
    rows: str
    path: Path | None = None
    notes: tuple[str, ...] = ()
    standard_errors: pl.DataFrame | None = None

    @cached_property
    def table(self) -> FeatureTable:
        """The released features, read when they are first asked for."""
        if self.held is not None:
            return self.held
        assert self.path is not None, "what is not held was written"
        return FeatureTable.of(study_folder.read_study(self.path))


def release(
    source: Study | FeatureTable | Path | str,
    out: Path | str | None = None,
    *,
    mechanism: str | FeatureMechanism | StreamMechanism = "laplace",
    epsilon: float | None = None,
    delta: float | None = None,
    unit: str | None = None,
    bounds: str | Path | Bounds = "public",
    ledger: Path | str | None = None,
    seed: int | None = None,
    keep: Sequence[str] = (),
    map: Map = None,
    tell: Callable[[str], None] | None = None,
    engine: str | None = None,
    people: Whom = None,
    min_seconds: float | None = None,
    **parameters: Any,
) -> Release | StreamRelease:
    """Make a private dataset and its certificate: features, or gaze through a filter.

    Args:
        source: a study folder or recordings, a ``features`` study, or a feature table. Recordings
            as a tracker wrote them are scrubbed, and people get pseudonyms, as by `convert`.
        out: a new folder to write; without it nothing is written, but the ledger is still debited.
        mechanism: its name, or a mechanism with its parameters set.
        epsilon: the total for one unit.
        delta: for mechanisms that have one.
        unit: whose value is hidden; the person by default.
        bounds: ``public``, ``data`` (no guarantee holds), a file, or bounds.
        ledger: where to count; by default the file beside the original study.
        seed: makes noise and groups repeatable and the guarantee void.
        keep: person attributes to release as they are, unprotected.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        tell: given each note that is known before anything is paid, as soon as it is.
        engine: who works, ``local``, ``dask`` or ``dask:ADDRESS``; the same comes of it.
        people: whom it is about: names, ``every-task``, ``saw:STIMULUS``, or ``@FILE`` with one
            name a line; everybody by default. Who is chosen by data is not protected.
        min_seconds: shorter recordings count as ones without values; by default those without a
            whole window.
        parameters: of the mechanism; of a filter also ``eye``, where several were recorded,
            and ``times`` (``recorded`` or ``regular``).

    >>> import numpy as np
    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> features = [Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0)]
    >>> table = table_from_arrays(np.full((4, 3, 10, 1), 3.0), features)
    >>> done = release(table, mechanism="laplace", epsilon=1.0, unit="recording")
    >>> done.certificate.person_level.epsilon
    3.0
    """
    path = Path(source) if isinstance(source, str | Path) else None
    out = Path(out) if out is not None else None
    if out is not None:
        _check_apart(out, path)
        check_new(out)
    if seed is not None and seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    noise = randomness(seed)
    parameters |= {"epsilon": epsilon, "delta": delta, "unit": unit}
    with using(engine):
        if isinstance(mechanism, StreamMechanism) or is_filter(mechanism):
            if bounds != "public":
                raise InputError(
                    "a filter has no bounds but its scene: leave them out, or say --set "
                    "scene=x0,y0,x1,y1"
                )
            if min_seconds is not None:
                raise InputError("a filter takes recordings of any length: leave out min_seconds")
            return release_streams(
                source, out, mechanism, noise,
                ledger=ledger, keep=keep, map=map, tell=tell, people=people, **parameters,
            )  # fmt: skip
        chosen = build_mechanism(mechanism, **parameters)
        whom = people_choice(people)
        asked = _Asked(chosen, noise, seed, bounds, ledger, tuple(keep), map, whom, min_seconds)
        return _release_features(source, out, asked, tell)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What somebody wants released.

    Attributes:
        mechanism: with its parameters set.
        noise: where it comes from.
        seed: of it, if it has one.
        bounds: what values are clipped to.
        ledger: where to count.
        keep: attributes of people to release as they are.
        map: about the columns of recordings.
        people: whom it is about.
        min_seconds: what a recording has to last.
    """

    mechanism: FeatureMechanism
    noise: Randomness
    seed: int | None
    bounds: str | Path | Bounds
    ledger: Path | str | None
    keep: tuple[str, ...]
    map: Map
    people: PeopleChoice | None = None
    min_seconds: float | None = None

    def key(self, source: Study | FeatureTable | Path | str) -> str:
        """Of everything that a release of this source depends on."""
        chosen, bounds = self.mechanism, self.bounds
        if not isinstance(bounds, Bounds) and bounds not in ("public", "data"):
            # Whatever is wrong with the file is said when it is read.
            file = Path(bounds)
            bounds = file.read_text("utf-8", "replace") if file.is_file() else str(bounds)
        settings = [
            __version__,
            pieces.PIECE_VALUES,
            [type(chosen).__qualname__, chosen.name, chosen.parameters()],
            [bounds.source, bounds.values] if isinstance(bounds, Bounds) else bounds,
            [self.seed, self.keep, repr(understood(self.map))],
            None if self.ledger is None else str(Path(self.ledger).resolve()),
            [None if self.people is None else self.people.key, self.min_seconds],
        ]
        if isinstance(source, str | Path):
            return input_key(source, *settings)
        told: list[Any] = [
            output_digest(source),
            source.features,
            source.step_ms,
            source.window_ms,
            settings,
        ]
        if isinstance(source, Study):
            told += [source.units, source.screen, source.xy_origin, source.pupil_unit]
        return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()


def _release_features(
    source: Study | FeatureTable | Path | str,
    out: Path | None,
    asked: _Asked,
    tell: Callable[[str], None] | None,
) -> Release:
    """The same for a mechanism that takes features."""
    path = Path(source) if isinstance(source, str | Path) else None
    cut = opened(source, asked.map, asked.people, asked.min_seconds)
    chosen, noise = asked.mechanism, asked.noise
    with (
        one_bar(2 * cut.recordings.height, "recordings") as advance,
        nullcontext() if out is None else running(out, asked.key(source)) as run,
    ):
        with nullcontext() if run is None or len(cut.pieces) == 1 else run.beforehand():
            recorded = path is not None and not study_folder.recognises(path)
            taken = take(cut, chosen.summarise, None if recorded else run, advance)
            plan = _plan(taken, asked)
            whose = plan.table if path is None else cut.entering
            if path is None and cut.everybody is not None:
                whose = replace(plan.table, people=cut.everybody)
            origin, remarks = counting_entry(whose, path, asked.ledger)
            if recorded:
                assert path is not None, "recordings are somewhere"
                table = replace(taken.table(), origin=origin)
                renamed = under_pseudonyms(table, ours=is_ours(cut.head, path))
                taken = take(
                    in_pieces(renamed.study()), FeatureTable.of, run, lambda by, what: None
                )
                plan = _plan(taken, asked)
        plan = replace(plan, table=replace(plan.table, origin=origin))
        purchase = _purchase(plan, noise.name, taken.digest)
        notes = (
            *cut.head.notes,
            *remarks,
            *filter(None, [taken.blanks.told()]),
            *told_of_choice(plan.table.chosen, len(plan.people)),
            *_foreseen(plan, purchase, chosen, taken.ranges),
        )
        if tell is not None:
            for note in notes:
                tell(note)
        chosen = plan.mechanism
        book = open_ledger(origin)
        with bought(purchase, book, out, run) as certificate:
            # It holds on to the private table.
            del purchase
            made = made_private(plan, taken, noise, run, advance)
            certificate = replace(certificate, output_sha256=made.digest())
            notes = (*notes, *_warnings(certificate))
            told = _rows_told(plan, made.shown)
            shape = plan.shape
            features = plan.table.features
            errors = standard_errors(chosen, shape, features, made.shown.people, made.shown.step_ms)
            # Writing takes memory, which the private table no longer needs.
            del plan, taken
            if run is not None:
                write_manifest(run, made.shown.study(), made.parts)
                empty = made.empty(run.output) if isinstance(chosen, Synthetic) else []
                card = datacard(
                    certificate,
                    made.shown,
                    shape,
                    chosen,
                    clipped_to=features,
                    has_standard_errors=errors is not None,
                    empty=empty,
                )
                texts = {"certificate.json": certificate.to_json(), "DATACARD.md": card}
                if errors is not None:
                    texts[STANDARD_ERRORS] = errors_text(errors)
                for name, text in texts.items():
                    (run.output / name).write_text(text, encoding="utf-8")
            claimed(book, run, certificate)
    ended(book, run)
    says = worth(chosen, shape, features)
    return Release(made.held, certificate, says, told, out, notes, errors)


def _plan(taken: Taken, asked: _Asked) -> Plan:
    """From the outline alone, where that is enough."""
    chosen = asked.mechanism
    in_pieces = chosen.by_person or (isinstance(chosen, MeanMechanism) and chosen.by_sums)
    table = taken.outline if in_pieces else taken.table()
    return plan_for(table, taken.ranges, chosen, asked.noise, asked.bounds, asked.keep)


def _check_apart(out: Path, source: Path | None) -> None:
    """Refuse a release inside the private data: whoever shares one folder must not share both."""
    private = None if source is None else source.resolve()
    for folder in out.resolve().parents:
        if folder == private or study_folder.recognises(folder):
            raise InputError(
                f"{out} is inside {folder.name}, which is not to be shared: choose an output "
                "outside of it"
            )


def _rows_told(plan: Plan, table: FeatureTable) -> str:
    """How many rows were released, and what became of those of the people."""
    rows = int(table.recordings["rows"].sum())
    text = f"{rows:,} {'row' if rows == 1 else 'rows'}"
    if isinstance(plan.mechanism, KSame):
        return _rows_of_groups_told(plan.mechanism, plan, table)
    if isinstance(plan.mechanism, AnonymisingMechanism):
        repeated = rows - len(plan.table.data)
        return f"{text} ({repeated:,} of them repeat a last row)" if repeated > 0 else text
    # What stands for a recording that was left out is no row of anybody.
    lengths = np.where(plan.table.blank, 0, plan.table.recordings["rows"].to_numpy())
    if plan.mechanism.lengths:
        every = plan.mechanism.kept_one_in
        if every > 1:
            text += f" (of {lengths.sum():,}, one in {every} was kept)"
        repeated = rows - int(np.ceil(lengths / every).sum())
        return f"{text} ({repeated:,} of them repeat a last row)" if repeated else text
    if isinstance(plan.mechanism, Synthetic):
        people = plural(len(table.people), "made-up one")
        features = f"{len(table.features)} of {plural(plan.shape.features, 'feature')}"
        return f"in their place {people} with {features}, {text}"
    if not isinstance(plan.mechanism, MeasuringMechanism):
        # Rows that were made up are nobody's, cut or padded.
        return text
    # What is measured may have other rows than what is released; as many are cut or made up.
    cut = int(np.maximum(lengths - plan.shape.length, 0).sum())
    padded = int(np.maximum(plan.shape.length - lengths, 0).sum())
    if cut:
        text += f" ({cut:,} rows were cut to give every recording {table.recordings['rows'][0]})"
    if padded:
        text += f" ({padded:,} {'rows of people' if plan.central else 'of them'} are padding)"
    if isinstance(plan.shape, GroupedShape):
        fewest = plural(plan.shape.smallest, "person", "people")
        text = f"{plural(len(table.people), 'group')} (the smallest has {fewest}), {text}"
    return text


def _rows_of_groups_told(mechanism: KSame, plan: Plan, table: FeatureTable) -> str:
    """How many groups and rows there are, and what of the people went into none of them."""
    rows = table.recordings.select("person", "rows")
    text = f"{groups_told(plan.shape.people, mechanism.k)}, {rows['rows'].sum():,} rows"
    had = int(plan.table.recordings["rows"].filter(pl.Series(~plan.table.blank)).sum())
    rows = rows.filter(pl.Series(~table.blank))
    if "people" in table.people.columns:
        weights = table.people.select("person", "people")
        rows = rows.join(weights, on="person").select(pl.col("rows") * pl.col("people"))
    went_in = int(rows["rows"].sum())
    left_out = had - went_in
    if not left_out:
        return text
    lost = _lost(plan.table, table)
    return (
        f"{text} ({left_out:,} of the people's {had:,} rows are in no mean: a group has the "
        "recordings that all its members have, cut to the shortest or to the length set, and empty "
        "where one of them has no value"
        f"{'; ' if lost else ''}{', '.join(lost)})"
    )


def _lost(original: FeatureTable, table: FeatureTable) -> list[str]:
    """Which recordings how many groups have not, because a member lacks them."""
    slots = slots_of(original).names
    # Copies of one group are one.
    group = pl.col("person").str.replace(r"-\d+$", "")
    having = table.recordings.select(group, "recording").unique()
    groups = having["person"].n_unique()
    often = dict(having.group_by("recording").len().rows())
    return [
        f"{groups - often.get(slot, 0)} of {plural(groups, 'group')} lost {name}"
        for slot, name in zip(slots["recording"], slot_names(slots), strict=True)
        if often.get(slot, 0) < groups
    ]


def _foreseen(
    plan: Plan, purchase: Purchase, asked: FeatureMechanism, ranges: Ranges
) -> Iterator[str]:
    """What to know before a release is paid for."""
    people = plan.table.people
    yield from singled_out(people.filter(pl.col("person").is_in(plan.people)), plan.keep)
    yield from missing_values(plan.mechanism, plan.table, ranges)
    yield from tasks_of_few(plan.mechanism, plan.table)
    yield from stimuli_mixed(plan.mechanism, plan.table)
    yield from lengths_cut(asked, plan.table)
    yield from recordings_left_out(plan.mechanism, plan.table)
    if purchase.made_up is None:
        return
    if purchase.made_up["why_dropped"]:
        yield f"features that are made up: {', '.join(purchase.made_up['carried'])}"
        yield purchase.made_up["why_dropped"]
    if not plan.table.step_ms:
        yield (
            "rows follow each other without a regular step: time_ms of made-up rows is their "
            "number, and no time"
        )


def _warnings(certificate: Certificate) -> tuple[str, ...]:
    """What to know before the release is shared, when groups of these people are out already."""
    promised = {each["kind"] for each in certificate.ledger if each["holds"]}
    if Kind.K_ANONYMITY not in promised or len(certificate.ledger) < 2:
        return ()
    others = plural(len(certificate.ledger) - 1, "other release")
    return (
        f"the ledger knows {others} of these people, shared or not: whoever puts two together may "
        "undo their groups, and one chance in k is true of none of them then; share one only",
    )


def _purchase(plan: Plan, randomness_name: str, digest: Callable[[], bytes]) -> Purchase:
    """What the plan is about to buy."""
    chosen = plan.mechanism
    synthetic = made_up(chosen, plan.shape, plan.table) if isinstance(chosen, Synthetic) else None
    kept = [f"the attribute {name} of every person, released as it is" for name in plan.keep]
    return Purchase(
        what=released_as(plan.mechanism),
        mechanism=plan.mechanism.name,
        parameters=plan.mechanism.parameters(),
        people=plan.people,
        guarantee=plan.guarantee,
        person_level=plan.person_level,
        how=plan.mechanism.person_total(plan.shape),
        bounds=plan.bounds,
        noise={
            "sampler": plan.mechanism.sampler(plan.shape),
            "numerics": plan.mechanism.numerics,
            "randomness": randomness_name,
        },
        unprotected=[*plan.mechanism.unprotected(plan.table), *kept],
        alike=plan.alike,
        input_digest=digest,
        form=plan.mechanism.form,
        released_as=described(plan.mechanism, plan.table),
        made_up=None if synthetic is None else synthetic.to_dict(),
        chosen=plan.table.chosen,
    )
