"""Plan, pay, compute, write: in that order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.engine.atomic import check_new, new_folder
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.intake import is_ours, read_scrubbed, under_pseudonyms
from eyelid.io.origin import counted_in, origin_of, origin_so_far
from eyelid.io.study_folder import write_parts
from eyelid.mechanisms.groupmean import GroupedShape
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.mechanisms.papers.paper_mechanism import PaperMechanism
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.composition import parallel
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.ledger import Ledger
from eyelid.privacy.noise import randomness
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.releases.certificate import Certificate
from eyelid.releases.counting import open_ledger, refuse_to_dodge
from eyelid.releases.datacard import datacard
from eyelid.releases.fingerprint import input_digest, output_digest
from eyelid.releases.plan import Plan, build_mechanism, make_plan
from eyelid.releases.words import plural, worth
from eyelid.version import __version__


@dataclass(frozen=True, eq=False)
class Release:
    """Private data with its certificate.

    Attributes:
        table: the released features.
        certificate: what holds.
        worth: what is left to see in it, in a sentence.
        rows: how many rows it has, what became of those of the people, and the smallest group; for
            the owner's eyes.
        path: where it was written, if it was.
        notes: what whoever read the recordings should know.
    """

    table: FeatureTable
    certificate: Certificate
    worth: str
    rows: str
    path: Path | None = None
    notes: tuple[str, ...] = ()


def release(
    source: Study | FeatureTable | Path | str,
    out: Path | str | None = None,
    *,
    mechanism: str | Mechanism = "laplace",
    epsilon: float | None = None,
    delta: float | None = None,
    unit: str | None = None,
    bounds: str | Path | Bounds = "public",
    ledger: Path | str | None = None,
    seed: int | None = None,
    keep: Sequence[str] = (),
    map: Map = None,
    **parameters: Any,
) -> Release:
    """Make a private dataset and its certificate.

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
        seed: makes the noise repeatable and the guarantee void.
        keep: person attributes to release as they are, unprotected.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        parameters: of the mechanism.

    >>> import numpy as np
    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> features = [Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0)]
    >>> table = table_from_arrays(np.full((4, 3, 10, 1), 3.0), features)
    >>> done = release(table, mechanism="laplace", epsilon=1.0, unit="recording")
    >>> done.certificate.person_level.epsilon
    3.0
    """
    out = Path(out) if out is not None else None
    if out is not None:
        check_new(out)
    if seed is not None and seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    noise = randomness(seed)
    chosen = build_mechanism(mechanism, epsilon=epsilon, delta=delta, unit=unit, **parameters)
    path = Path(source) if isinstance(source, str | Path) else None
    if path is not None:
        source = read_scrubbed(path, map)
    plan = make_plan(source, chosen, noise, bounds, keep)
    own = plan.table.origin
    if path is not None and isinstance(source, Study):
        own = origin_so_far(source, path)
    refuse_to_dodge(own, ledger)
    origin = own
    if path is not None and isinstance(source, Study):
        origin = origin_of(source, path, ledger)
    elif ledger is not None:
        origin = counted_in(own, ledger)
    table = replace(plan.table, origin=origin)
    if path is not None and isinstance(source, Study) and not study_folder.recognises(path):
        table = under_pseudonyms(table, ours=is_ours(source, path))
    plan = replace(plan, table=table)
    book = open_ledger(origin)
    certificate = _debit_and_certify(plan, book, noise.name, out)

    table = chosen.apply(plan.table, noise)
    people = table.people
    if not plan.central:
        people = people.filter(pl.col("person").is_in(plan.people)).select("person", *plan.keep)
    # Bounds read off the data must not come back as the features' own.
    defined = {feature.name: feature for feature in plan.defined_features}
    table = replace(
        table,
        people=people,
        features=tuple(defined.get(f.name, f) for f in table.features),
        origin=None,
        released=True,
    )
    certificate = replace(certificate, output_sha256=output_digest(table))
    notes = source.notes if isinstance(source, Study) else ()
    told = _rows_told(plan, table)
    done = Release(table, certificate, worth(chosen, plan.shape), told, out, notes)
    card = datacard(certificate, table, plan.shape, chosen)
    # Writing takes memory, which the private table no longer needs.
    del plan
    if out is not None:
        with new_folder(out) as folder:
            write_parts(table.study(), folder)
            (folder / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
            (folder / "DATACARD.md").write_text(card, encoding="utf-8")
    return done


def _rows_told(plan: Plan, table: FeatureTable) -> str:
    """How many rows were released, and what became of those of the people."""
    text = f"{len(table.data):,} rows"
    lengths = plan.table.recordings["rows"].to_numpy()
    if isinstance(plan.mechanism, PaperMechanism):
        every = plan.mechanism.subsample
        if every > 1:
            text += f" (of {lengths.sum():,}, one in {every} was kept)"
        repeated = len(table.data) - int(np.ceil(lengths / every).sum())
        return f"{text} ({repeated:,} of them repeat a last row)" if repeated else text
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


def _debit_and_certify(
    plan: Plan,
    book: tuple[Ledger, str] | None,
    randomness_name: str,
    out: Path | None,
) -> Certificate:
    """Pay first; then say what was bought."""
    history: tuple[dict[str, Any], ...] = ()
    total: Guarantee | None = None
    fingerprint: str | None = None
    alike = plan.alike
    if book is not None:
        ledger, origin = book
        what = f"{plan.guarantee.numbers()} per {plan.guarantee.unit}, {out.name if out else '–'}"
        paid = ledger.debit(
            origin, plan.people, plan.mechanism.name, plan.person_level, what, plan.alike
        )
        balances = ledger.balances(origin, people=plan.people)
        total = parallel([b.total for b in balances])
        counted = {d.id: d for b in balances for d in b.debits}
        history = tuple(
            {"mechanism": d.mechanism} | d.guarantee.summary() for _, d in sorted(counted.items())
        )
        # Who was in which release tells people apart as well as any attribute.
        alike = len(balances) == 1 and all(d.alike for d in counted.values())
        alike &= not ledger.is_incomplete(origin)
        fingerprint = ledger.fingerprint(input_digest(plan.table), paid.id)
    unprotected = plan.mechanism.unprotected(plan.table)
    unprotected += [
        f"the attribute {name} of every person, released as it is" for name in plan.keep
    ]
    if book is None:
        unprotected.append("what earlier releases of these people gave away: there is no ledger")
    elif book[0].is_incomplete(book[1]):
        unprotected.append(
            "what another ledger has counted of these people: the one used here is not the only one"
        )
    delta = plan.person_level.delta or 0.0
    if delta * plan.shape.people >= 1:
        unprotected.append(
            f"one person in {plan.shape.people}: δ = {delta:g} would also allow a mechanism that "
            "publishes somebody's data outright"
        )
    bounded = plan.person_level if total is None or plan.central else total
    if not alike:
        # Kept attributes or unequal recordings may name people without any gaze.
        bounded = bounded.broken("people are told apart by what is not protected")
    return Certificate(
        mechanism=plan.mechanism.name,
        parameters=plan.mechanism.parameters(),
        guarantee=plan.guarantee,
        person_level=plan.person_level,
        how=plan.mechanism.person_total(plan.shape),
        bounds=plan.bounds,
        noise={
            "sampler": plan.mechanism.sampler(plan.shape),
            "numerics": plan.mechanism.numerics,
            "randomness": randomness_name,
        },
        ledger=history,
        total=total,
        unprotected=tuple(unprotected),
        rank1_bound=rank1_bounds(bounded, plan.shape.people),
        people=plan.shape.people,
        input_sha256=fingerprint,
        version=__version__,
    )
