"""Does a certificate agree with its ledger, its mechanism, its data and itself?

Whoever edits a certificate can make it say anything. What is checked here needs no luck: a
disagreement is as good as a refutation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.attacks.likeness import task_of
from eyelid.attacks.means import over_groups
from eyelid.attacks.measurements import legible
from eyelid.attacks.residuals import noise_amiss
from eyelid.errors import InputError
from eyelid.gaze.study import INDEX_COLUMNS
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism, UnpredictableMechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.mechanisms.synthetic.seeded import SEEDED, Seeded
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.composition import sequential
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.ledger import Debit
from eyelid.privacy.noise import randomness
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import PERSON
from eyelid.releases.accounting import bounding
from eyelid.releases.certificate import Certificate, form_given, shown_by_choice
from eyelid.releases.kinds.features.plan import described
from eyelid.verification.rerun import quieter_than_again
from eyelid.version import __version__

# Another eyelid's arithmetic may differ in the last digits.
_TOLERANCE = 1e-6
# In spans: no noise that holds is this small.
_NO_NOISE = 1e-9


def disagreements(
    certificate: Certificate,
    original: FeatureTable,
    released: FeatureTable,
    debit: Debit | None,
    law: FeatureMechanism | None,
    counted: int = 1,
) -> Iterator[str]:
    """What of a certificate cannot be true, in words.

    Args:
        certificate: of the release.
        original: everything that was released from, with the bounds of the certificate.
        released: what was released.
        debit: what the ledger counted for it; None where that is not known.
        law: the mechanism that the certificate names; None where it is not known here.
        counted: releases of these people that the ledger knew then, this one included.
    """
    yield from among_promises(certificate, debit, counted)
    yield from _in_the_data(released, law)
    if certificate.person_level.holds and law is not None:
        yield from _with(law, certificate, original, released)


def among_promises(
    certificate: Certificate, debit: Debit | None, counted: int = 1
) -> Iterator[str]:
    """What a certificate promises here and not there, or the ledger did not count.

    Args:
        certificate: what is claimed.
        debit: what the ledger counted for it.
        counted: releases of these people that the ledger knew when it did, this one included.
    """
    promised, total = certificate.person_level, certificate.total
    if certificate.guarantee.holds != promised.holds:
        yield "the certificate says that one guarantee holds and the other does not"
    if debit is not None:
        if claims_more(promised, debit.guarantee):
            yield (
                f"the certificate promises a person {promised.numbers()}, and the ledger counted "
                f"{told(debit.guarantee)} for this release"
            )
        if _leaves_out(total, debit.guarantee) if total else not certificate.incomplete:
            yield "the certificate's total over all releases is less than this release alone"
    if not promised.holds:
        return
    bounded = bounding(promised, total, max(counted, len(certificate.ledger)))
    allowed = rank1_bounds(bounded, certificate.people)
    for kind, stated in certificate.rank1_bound.items():
        bound = allowed.get(kind)
        if stated is not None and (bound is None or stated < bound * (1 - _TOLERANCE)):
            yield "the certificate states a bound on naming people that its own numbers do not give"


def _in_the_data(released: FeatureTable, law: FeatureMechanism | None) -> Iterator[str]:
    known = {*INDEX_COLUMNS, *released.names}
    if isinstance(law, Seeded) and law.test == "randomised":
        # Which rows began as somebody's: told where the ε covers it.
        known.add(SEEDED)
    extra = [name for name in released.data.columns if name not in known]
    if extra:
        yield f"the released data have a column that no release has ({extra[0]})"
    rows = pl.int_range(pl.len()).over("person", "recording") * (released.step_ms or 1.0)
    if not released.data.select((pl.col("time_ms") == rows).all()).item():
        yield "the time stamps are not the row numbers times the step, as in every release"


def _with(
    law: FeatureMechanism, certificate: Certificate, original: FeatureTable, released: FeatureTable
) -> Iterator[str]:
    """What a mechanism would have said and done otherwise."""
    # Means, made-up people, and windows of something else do not tell what the mechanism took.
    own = not isinstance(law, MeanMechanism | UnpredictableMechanism)
    known = released if own and set(released.names) == set(original.names) else original
    try:
        law.check(known)
    except InputError as error:
        yield f"the mechanism of the certificate cannot be run on the original ({error})"
        return
    shape = law.shape(known)
    rows = released.recordings["rows"]
    length = shape.length if set(released.names) == set(original.names) else rows[0]
    if (rows != length).any() and not isinstance(law, KSame | Synthetic):
        yield f"recordings have not the {length} rows that the mechanism gives them"
        return
    if certificate.guarantee.unit != law.unit:
        yield (
            f"the certificate speaks of one {certificate.guarantee.unit}, and its mechanism was "
            f"set for one {law.unit}"
        )
    for stated, unit in ((certificate.person_level, PERSON), (certificate.guarantee, law.unit)):
        given = law.cost(shape, unit)
        if claims_more(stated, given):
            yield (
                f"the certificate promises one {unit} {stated.numbers()}, and the mechanism that "
                f"it names gives {told(given)}"
            )
    if certificate.version == __version__:
        # Another version may say the same in other words.
        if certificate.noise.get("sampler") != law.sampler(shape):
            yield "the certificate describes another noise than its mechanism adds"
        shown = {*law.unprotected(known), *shown_by_choice(known.chosen)}
        if not shown <= set(certificate.unprotected):
            yield "the certificate leaves out what its mechanism does not protect"
        form = form_given(original.chosen, law.form)
        if certificate.misstates(form, described(law, original)):
            yield "the certificate states another form of data, or kind of release, than it is for"
    wanting: str | None = None
    if isinstance(law, Synthetic):
        # Another version may have another order of features.
        ordered = certificate.version == __version__
        yield from _people_amiss(law, original, released, ordered=ordered)
    if isinstance(law, UnpredictableMechanism):
        # No noise on values: groups are looked for, made-up rows are compared elsewhere.
        return
    if isinstance(law, MeanMechanism):
        yield from _means_amiss(law, original, released)
    elif isinstance(law, MeasuringMechanism):
        wanting = noise_amiss(law, original, released)
    if wanting is None and not legible(law, shape).size:
        wanting = quieter_than_again(law, original, released)
    if wanting is not None:
        yield wanting


def _people_amiss(
    law: Synthetic, original: FeatureTable, released: FeatureTable, *, ordered: bool
) -> Iterator[str]:
    """Whether made-up people are others than the mechanism makes up, as far as that is public."""
    left_out = law.dropped(original)
    features = [name for name in original.names if name not in left_out]
    if released.names != features if ordered else len(released.names) != len(features):
        yield (
            f"the release has {len(released.names)} features, and not the {len(features)} that the "
            "mechanism makes up"
        )
    groups = law.groups(original)
    attributes = groups.people.drop("person", "people").rows()
    people = [
        (name, *each)
        for names, each in zip(law.people_of(groups), attributes, strict=True)
        for name in names
    ]
    if [(str(name), *each) for name, *each in released.people.rows()] != people:
        yield f"the release has not the {len(people)} made-up people that the mechanism gives it"
        return
    tasks = sorted(set(task_of(original.recordings)))
    found = released.recordings
    named = list(zip(found["person"], task_of(found), strict=True))
    if named != [(person, task) for person, *_ in people for task in tasks]:
        yield "made-up people have not one recording of each task of the original"
    if law.rows is not None and (found["rows"] != law.rows).any():
        yield f"recordings have not the {law.rows} rows that the mechanism gives them"
    # A feature that hardly anyone has by noisy counts is empty, all of it.
    inside = pl.all_horizontal(
        pl.lit(True),
        *(
            pl.col(f.name).is_between(f.lower, f.upper).fill_null(False)
            | pl.col(f.name).is_null().all()
            for f in original.features
            if f.name in released.data.columns
        ),
    )
    if not released.data.select(inside.all()).item():
        yield "the release has values that no release has (missing ones, or outside their bounds)"


def _means_amiss(
    law: MeanMechanism, original: FeatureTable, released: FeatureTable
) -> Iterator[str]:
    """Whether groups are missing or made up, or means are as they were before the noise."""
    groups = law.partition(original, randomness(0))
    exact = law.exact(original, groups)
    key = ["person", "recording", "time_ms"]
    if not exact.data.select(key).equals(released.data.select(key)):
        yield "the release has not the groups, recordings and rows that the mechanism gives it"
        return
    inside = _inside_bounds(replace(released, features=exact.features))
    if law.drawn:
        shown = released.people
        if "people" not in shown.columns or sorted(shown["people"]) != sorted(groups.sizes):
            yield "the groups of the release have not the sizes that the mechanism gives them"
            return
        # Nobody knows who was in which, but over all of them the mean is the same.
        exact, released, inside = (over_groups(each) for each in (exact, released, inside))
    lowers = np.array([f.lower for f in exact.features])
    spans = np.array([f.span for f in exact.features])
    before, after = (
        (table.data.select(exact.names).cast(pl.Float64).to_numpy() - lowers) / spans
        for table in (exact, released)
    )
    if not np.isfinite(after).all():
        yield "the release has values that no release has (missing or infinite ones)"
        return
    # At its bounds a clipped mean may well be what it was, and groups clipped to either side may
    # have the midpoint as their mean, which is that of a feature nobody has.
    same = (np.abs(after - before) < _NO_NOISE) & (
        inside.data.select(exact.names).to_numpy() > 1 - _NO_NOISE
    )
    if int(same.sum()) > 1 + len(same) // 100:
        yield f"{int(same.sum())} released values are the means themselves, next to no noise added"


def _inside_bounds(table: FeatureTable) -> FeatureTable:
    """1 in the place of values between the bounds, 0 in that of others."""
    inside = [
        pl.col(f.name).is_between(f.lower, f.upper, closed="none").cast(pl.Float64)
        for f in table.features
    ]
    return replace(table, data=table.data.with_columns(inside))


def claims_more(one: Guarantee, other: Guarantee) -> bool:
    """Whether one promises more privacy than the other gives."""
    if not one.holds:
        return False
    losses = (
        (one.epsilon, other.epsilon),
        (one.delta, other.delta),
        (one.mu, other.mu),
        (one.gamma, other.gamma),
    )
    return (
        not other.holds
        or one.kind != other.kind
        or (one.k or 0) > (other.k or 0)
        or any(
            said is not None and (given is None or said < given * (1 - _TOLERANCE))
            for said, given in losses
        )
    )


def _leaves_out(total: Guarantee, alone: Guarantee) -> bool:
    """Whether a total over releases, perhaps of other kinds, is less than one of them alone."""
    if total.kind is not Kind.APPROXIMATE or not (total.holds and alone.holds):
        return claims_more(total, alone)
    # At the total's δ, which may be larger than the release's own.
    epsilon, mu = sequential([alone], total.delta).epsilon, total.mu
    if total.epsilon is None or epsilon is None:
        return True
    if mu is not None and (alone.mu is None or mu < alone.mu * (1 - _TOLERANCE)):
        return True
    # In a mixture δ takes a little off a pure ε.
    return total.epsilon < epsilon * (1 - _TOLERANCE) - 4 * (total.delta or 0.0)


def told(guarantee: Guarantee) -> str:
    """Its numbers, or that there is none."""
    return guarantee.numbers() if guarantee.holds else "no guarantee"
