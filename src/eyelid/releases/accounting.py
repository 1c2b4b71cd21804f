"""Who counts a release, what it costs there, and the certificate of what was paid.

By a digest of what a release is made of its owner knows later which original belongs to it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl

from eyelid.engine.files import content_of
from eyelid.engine.runs import Run
from eyelid.errors import EyelidError, InputError, Refused
from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.study import INDEX_COLUMNS, Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.origin import (
    counted_in,
    counting_ledger,
    enter,
    is_chosen,
    looked_around,
    own_origin,
    refuse_to_pass_parts,
)
from eyelid.io.release_folder import digest_of_people, names_of, person_digests
from eyelid.io.remote import here
from eyelid.io.same_people import Entry
from eyelid.mechanisms.certificate import (
    NO_LEDGER,
    NOT_COUNTED,
    OTHER_GROUPS,
    Certificate,
    ReleasedAs,
    bounding,
    form_given,
    other_releases,
    shown_by_choice,
    undone,
)
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.composition import parallel
from eyelid.privacy.guarantee import Guarantee, Kind, large_deltas
from eyelid.privacy.ledger import Debit, Ledger
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import PERSON, Trust
from eyelid.version import build


def counting_entry(
    source: Study | FeatureTable, path: Path | None, ledger: Path | str | None
) -> tuple[Origin | None, tuple[str, ...]]:
    """Who these people are to the ledger that will count the release, and what to know of that.

    Nobody counts, and the origin is None, where it has none and no ledger is named.

    Args:
        source: what is released from.
        path: where it was read; None for what only Python knows.
        ledger: count in this file, which must know people who have an origin; refused while the
            study's own has a limit, as is a folder while a part of it has one.
    """
    if path is None or not isinstance(source, Study):
        refuse_to_dodge(source.origin, ledger)
        people = source.people["person"].to_list()
        if ledger is not None:
            entry = counted_in(source.origin, ledger, people)
        elif source.origin is not None:
            entry = looked_around(Entry(source.origin), people)
        else:
            return None, ()
    else:
        refuse_to_dodge(own_origin(source, path, ledger), ledger)
        refuse_to_pass_parts(source, path, ledger)
        entry = enter(source, path, ledger)
    return entry.origin, entry.notes


def open_ledger(origin: Origin | None) -> tuple[Ledger, str] | None:
    """The ledger that counts these people, and the name it knows them by; None without a study."""
    if origin is None:
        return None
    if origin.ledger is None:
        raise InputError(
            "these data name their origin and not its ledger: say where it is with `ledger=…`"
        )
    return Ledger.counting(origin.ledger, origin.id), origin.id


def refuse_to_dodge(own: Origin | None, chosen: Path | str | None) -> None:
    """Refuse another ledger while the study's own has a limit, which the other would not keep."""
    if own is None or chosen is None:
        return
    book = counting_ledger(own)
    if book is None or is_chosen(own, chosen):
        return
    limit = book.allowance(own.id)
    if limit is not None:
        raise Refused(
            f"the study's own ledger {book.path.name} has a limit of ε = {limit.epsilon:g}, which "
            "another `ledger` would not keep: count there, or lift the limit with 'eyelid budget "
            "IN --no-limit'"
        )


OTHER_ROWS = (
    "what this release and the others of these people tell together: plausible deniability is of a "
    "single release only"
)
STAYS_COUNTED = "nothing was released, but this release stays counted in the ledger"
COUNTED_ONCE = "this release stays counted in the ledger, and going on costs nothing more"

# Kinds that add up with nothing, and what other releases of the same people do to them.
_OF_ONE_RELEASE = {Kind.K_ANONYMITY: OTHER_GROUPS, Kind.DENIABILITY: OTHER_ROWS}

_NOISE = ("sampler", "numerics", "randomness")


Design = TypeVar("Design")


@dataclass(frozen=True, eq=False)
class Plan(Generic[Design]):
    """Everything about a release that is settled before it is paid for and noise is drawn.

    Attributes:
        design: what will be made, which is particular to the kind of release.
        what: kind of release, and of what, for the owner's memory; no person is named.
        mechanism: with its parameters set.
        people: everybody whose data it touches.
        guarantee: for the unit asked for.
        person_level: for a person: what is debited.
        how: how that total comes about.
        bounds: what values are clipped to.
        noise: sampler, numerics, randomness.
        unprotected: what it shows besides.
        alike: whether nothing released as it is tells people apart.
        released_as: what kind of thing it is.
        map: public facts of maps, where it is one.
        made_up: public facts of synthetic participants, where there are some.
        results: public facts of results, where there are some.
        generated: public facts of synthetic recordings, where there are some.
        chosen: how people were chosen out of more, as a study remembers it.
        keep: attributes of people that are released as they are.
    """

    design: Design
    what: str
    mechanism: Mechanism
    people: Sequence[str]
    guarantee: Guarantee
    person_level: Guarantee
    how: str
    bounds: Bounds
    noise: tuple[str, str, str]
    unprotected: Sequence[str]
    alike: bool
    released_as: ReleasedAs
    map: dict[str, Any] | None = None
    made_up: dict[str, Any] | None = None
    results: dict[str, Any] | None = None
    generated: dict[str, Any] | None = None
    chosen: Sequence[str] = ()
    keep: tuple[str, ...] = ()

    @property
    def central(self) -> bool:
        """Whether an aggregate over people is released, and nobody's own record."""
        return self.guarantee.trust is Trust.CENTRAL


Digest = Callable[[], bytes]


@contextmanager
def charged(
    plan: Plan[Any],
    digest: Digest,
    book: tuple[Ledger, str] | None,
    out: Path | None = None,
    run: Run | None = None,
) -> Iterator[Certificate]:
    """The certificate of a counted release.

    The run's folder is there first, so that a place where nothing can be written costs nothing. A
    run that goes on after a stop has been counted, and is not again. Whatever fails after the debit
    says that the release stays counted; of a run, the caller says so.

    Args:
        plan: what is charged for; refused above a limit.
        digest: a hash of what the release is made of, asked for once it is paid.
        book: the ledger, and the name it knows these people by; None where nobody counts.
        out: where the release will be; None where nothing is written.
        run: that makes it; None where nothing is written.
    """
    counted = False
    try:
        paid = None if book is None else _debited(plan, *book, out, run)
        counted = paid is not None
        certificate = _certificate(plan, digest, book, paid)
        # They hold on to private data, and writing takes memory.
        del plan, digest
        yield certificate
    except Exception as error:
        if counted and run is None:
            error.add_note(STAYS_COUNTED)
        raise


def claimed(book: tuple[Ledger, str] | None, run: Run | None, certificate: Certificate) -> None:
    """Let a release out once for what was counted, however many copies of its run there are.

    Args:
        book: as for `charged`.
        run: that made it, if it is written; given up where another copy came first.
        certificate: of what it made.
    """
    if book is None or run is None:
        return
    ledger, origin = book
    # These people may have been joined into another ledger meanwhile.
    ledger = Ledger.counting(ledger.path, origin)
    if ledger.claim(origin, run.id, str(certificate.output_sha256)):
        return
    run.keep(False)
    raise InputError(
        "a copy of this run has made its release already, with other noise: this would be a second "
        "release of what was counted once; nothing was released here, and what the run left is "
        "removed"
    )


def ended(book: tuple[Ledger, str] | None, run: Run | None) -> None:
    """Have the ledger remember that a release is in its place, so that no copy of its run goes on.

    Args:
        book: as for `charged`.
        run: that made it, if it was written.
    """
    if book is not None and run is not None:
        # The release is whole, whatever becomes of the ledger now.
        with suppress(EyelidError):
            ledger, origin = book
            Ledger.counting(ledger.path, origin).end(run.id)


def _debited(
    plan: Plan[Any], ledger: Ledger, origin: str, out: Path | None, run: Run | None
) -> Debit:
    """What the ledger counts now, with where it will be for the owner's memory."""
    what = f"{plan.what}, {out.name if out else '–'}"
    guarantee = plan.guarantee
    if guarantee.unit != PERSON:
        what += f", {guarantee.numbers()} per {guarantee.unit}"
    name, level = plan.mechanism.name, plan.person_level
    arguments = (origin, plan.people, name, level, what, plan.alike)
    if run is None:
        return ledger.debit(*arguments)
    before = run.note
    # A run killed between the debit and the next line has paid, and resumes when rerun.
    run.keep(note=COUNTED_ONCE)
    try:
        return ledger.debit(*arguments, run=run.id)
    except EyelidError:
        # What was not counted is given up: a person may ask for less.
        run.keep(bool(before), before)
        raise


def _certificate(
    plan: Plan[Any], digest: Digest, book: tuple[Ledger, str] | None, paid: Debit | None
) -> Certificate:
    """What was charged for, and what it comes to with everything that the ledger has counted."""
    history: tuple[dict[str, Any], ...] = ()
    total: Guarantee | None = None
    fingerprint: str | None = None
    alike, others = plan.alike, ""
    guarantee, person_level = plan.guarantee, plan.person_level
    mechanism = plan.mechanism
    kept = [f"the attribute {name} of every person, released as it is" for name in plan.keep]
    unprotected = [*plan.unprotected, *kept, *shown_by_choice(plan.chosen)]
    if book is None or paid is None:
        unprotected.append(NO_LEDGER)
    else:
        ledger, origin = book
        content = digest()
        with ledger.transaction():
            balances = ledger.balances(origin, people=plan.people)
            gaps = ledger.gaps(origin)
            fingerprint = ledger.fingerprint(content, paid.id)
        total = parallel([b.total for b in balances])
        counted = {d.id: d for b in balances for d in b.debits}
        # A run that was stopped may be older than others.
        own_last = sorted(counted.values(), key=lambda d: (d.id == paid.id, d.id))
        history = tuple(listed_as(d) for d in own_last)
        # Who was in which release tells people apart as well as any attribute.
        alike = len(balances) == 1 and all(d.alike for d in counted.values())
        if len(history) > 1 and person_level.kind in _OF_ONE_RELEASE:
            unprotected.append(_OF_ONE_RELEASE[person_level.kind])
        others = other_releases(len(history) - 1, bool(gaps))
        if gaps:
            # A sum over some of the releases is no total.
            alike, total = False, None
            unprotected += [NOT_COUNTED[gap] for gap in gaps]
    people = len(plan.people)
    unprotected += large_deltas(people, person_level, total)
    lead = undone(person_level, others)
    bounded = bounding(person_level, total, len(history))
    if not alike:
        # Kept attributes or unequal recordings may name people without any gaze.
        bounded = bounded.broken("people are told apart by what is not protected")
    return Certificate(
        mechanism=mechanism.name,
        parameters=mechanism.parameters(),
        guarantee=guarantee,
        person_level=person_level,
        how=in_all(plan.how, lead),
        bounds=plan.bounds,
        noise=dict(zip(_NOISE, plan.noise, strict=True)),
        ledger=history,
        total=total,
        unprotected=tuple(unprotected),
        rank1_bound=rank1_bounds(bounded, people),
        people=people,
        input_sha256=fingerprint,
        version=build(),
        map=plan.map,
        made_up=plan.made_up,
        results=plan.results,
        generated=plan.generated,
        form=form_given(plan.chosen, mechanism.form),
        released_as=plan.released_as,
    )


def in_all(how: str, lead: str) -> str:
    """How a person's total comes about, beside other releases.

    Args:
        how: of this release alone.
        lead: what others make of it; empty if nothing.
    """
    return f"{lead}; this release alone would give: {how}" if lead else how


def listed_as(debit: Debit) -> dict[str, Any]:
    """A release that was counted, as certificates list it.

    Args:
        debit: of the ledger.
    """
    return {"mechanism": debit.mechanism} | debit.guarantee.summary()


def read_certificate(folder: Path) -> Certificate | None:
    """The certificate of a released folder; None where there is none."""
    path = here(folder) / "certificate.json"
    if not path.is_file():
        return None
    try:
        return Certificate.from_dict(json.loads(content_of(path)))
    except EyelidError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is not a certificate as eyelid writes them: {error}") from None


NO_POINTS = hashlib.sha256().digest()
"""The digest of a person without gaze points, as `point_digests` has it."""


def input_digest(table: FeatureTable) -> bytes:
    """SHA-256 of a table's keys and features: what a release is made of."""
    rows = input_rows(table)
    return digest_of_people(names_of(rows), person_digests(rows))


def input_rows(table: FeatureTable) -> pl.DataFrame:
    """The columns of a table that a release is made of: labels are not among them."""
    keys = [name for name in INDEX_COLUMNS if name in table.data.columns]
    return table.data.select(*keys, *table.names)


def samples_digest(taken: Study) -> bytes:
    """SHA-256 of everything that a filter takes: whose gaze, when, and where."""
    return digest_of_people(names_of(taken.data), person_digests(taken.data))


def points_digest(points: GazePoints) -> bytes:
    """SHA-256 of where everybody looked: what maps are made of."""
    size = points.width_px, points.height_px
    return digest_of_points(points.people, points.layers, size, point_digests(points))


def point_digests(points: GazePoints) -> list[bytes]:
    """SHA-256 of where each person looked, in order, independent of the others."""
    rows = np.column_stack([points.layer, points.x_px, points.y_px, points.weight])
    ends = np.searchsorted(points.person, np.arange(len(points.people) + 1)).tolist()
    return [
        hashlib.sha256(rows[first:last].tobytes()).digest()
        for first, last in itertools.pairwise(ends)
    ]


def digest_of_points(
    people: Sequence[str], layers: Sequence[str], size: tuple[int, int], digests: Sequence[bytes]
) -> bytes:
    """SHA-256 of where everybody looked, from `point_digests` of all of them in whatever pieces.

    Args:
        people: their names, in order.
        layers: names of pictures, or stretches of time.
        size: width and height of the pictures in px.
        digests: of each person.
    """
    found = hashlib.sha256(json.dumps([layers, size]).encode())
    found.update(digest_of_people(people, digests))
    return found.digest()


def debit_of(
    fingerprint: str, contents: Sequence[Callable[[], bytes]], book: Ledger, origin: str
) -> Debit | None:
    """The debit whose release has one of these digests as its input.

    Args:
        fingerprint: as its certificate has it.
        contents: the digest of this eyelid, and of earlier ones.
        book: the ledger.
        origin: of the people.
    """
    debits = book.debits(origin)
    for content in contents:
        digest = content()
        for debit in debits:
            if book.fingerprint(digest, debit.id) == fingerprint:
                return debit
    return None
