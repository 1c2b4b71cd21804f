"""Does a certificate agree with its ledger, its mechanism, its data and itself?

Editing a certificate can make it say anything. What is checked here needs no luck: a
disagreement is as good as a refutation. What is true of every kind of release is here; what is true
of one kind is in its module.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from eyelid.attacks.target import same_features
from eyelid.errors import InputError
from eyelid.gaze.study import INDEX_COLUMNS
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.certificate import (
    Certificate,
    bounding,
    form_given,
    shown_by_choice,
    undone,
)
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.composition import sequential
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import randomness
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import PERSON
from eyelid.releases.accounting import in_all
from eyelid.releases.audits.accounts import Account
from eyelid.releases.audits.certificate_file import MORE, alike
from eyelid.releases.kinds.features.plan import described
from eyelid.version import build

if TYPE_CHECKING:
    from eyelid.releases.audits.attack import TableAttack

# Another eyelid's arithmetic may differ in the last digits.
_TOLERANCE = 1e-6
# What a certificate says of each release that it lists.
_LISTED = {"mechanism", "kind", "epsilon", "delta", "mu", "holds"}


@dataclass(frozen=True)
class Claim:
    """A release that claims to hold, and what it must agree with.

    Attributes:
        mechanism: of its certificate.
        certificate: what is claimed.
        original: what it was made of.
        released: the values.
        facts: the public ones.
    """

    mechanism: FeatureMechanism
    certificate: Certificate
    original: FeatureTable
    released: FeatureTable
    facts: PublicFacts


def inconsistencies(
    certificate: Certificate,
    original: FeatureTable,
    released: FeatureTable,
    account: Account,
    mechanism: FeatureMechanism | None,
    attack: TableAttack,
) -> Iterator[str]:
    """What of a certificate of features cannot be true, in words.

    Args:
        certificate: of the release.
        original: everything that was released from, with the bounds of the certificate.
        released: what was released.
        account: what the ledger knows of it.
        mechanism: that the certificate names; None where it is not known here.
        attack: what is done about this kind of release.
    """
    yield from among_promises(certificate, account)
    labels = () if mechanism is None else mechanism.labels
    known = {*INDEX_COLUMNS, *released.names, *labels}
    extra = [name for name in released.data.columns if name not in known]
    if extra:
        yield f"the released data have a column that no release has ({extra[0]})"
    rows = pl.int_range(pl.len()).over("person", "recording") * (released.step_ms or 1.0)
    if not released.data.select((pl.col("time_ms") == rows).all()).item():
        yield "the time stamps are not the row numbers times the step, as in every release"
    if certificate.person_level.holds and mechanism is not None:
        yield from _with(mechanism, certificate, original, released, attack)


def _with(
    mechanism: FeatureMechanism,
    certificate: Certificate,
    original: FeatureTable,
    released: FeatureTable,
    attack: TableAttack,
) -> Iterator[str]:
    """What a mechanism would have said and done otherwise."""
    same = same_features(released, original)
    # Means, synthetic participants, and windows of something else do not tell what the mechanism
    # took.
    known = released if mechanism.release is ReleaseKind.RECORDS and same else original
    try:
        mechanism.check(known)
    except InputError as error:
        yield f"the mechanism of the certificate cannot be run on the original ({error})"
        return
    facts = mechanism.facts(known)
    rows = released.recordings["rows"]
    length = facts.length if same else rows[0]
    if (rows != length).any() and mechanism.one_length:
        yield f"recordings have not the {length} rows that the mechanism gives them"
        return
    yield from as_declared(certificate, mechanism, facts)
    if certificate.version == build():
        shown = {*mechanism.unprotected(known), *shown_by_choice(known.chosen)}
        if not shown <= set(certificate.unprotected):
            yield "the certificate leaves out what its mechanism does not protect"
        form = form_given(original.chosen, mechanism.form)
        if certificate.misstates(form, described(mechanism, original)):
            yield MISSTATED
        how = in_all(
            mechanism.person_total(facts), undone(certificate.person_level, certificate.others)
        )
        if certificate.how != how:
            yield "the certificate says otherwise how a person's total comes about"
        if not alike(certificate.parameters, json.loads(json.dumps(mechanism.parameters()))):
            yield MORE
    yield from attack.faults(Claim(mechanism, certificate, original, released, facts))


MISSTATED = "the certificate states another form of data, or kind of release, than it is for"


def as_declared(
    certificate: Certificate, mechanism: Mechanism, facts: PublicFacts, called: str = "mechanism"
) -> Iterator[str]:
    """What a certificate says of unit, promise and noise otherwise than its mechanism would.

    Args:
        certificate: of the release.
        mechanism: that it names.
        facts: the public facts.
        called: what such a mechanism is called.
    """
    if certificate.guarantee.unit != mechanism.unit:
        yield (
            f"the certificate speaks of one {certificate.guarantee.unit}, and its {called} was "
            f"set for one {mechanism.unit}"
        )
    promises = ((certificate.person_level, PERSON), (certificate.guarantee, mechanism.unit))
    for stated, unit in promises:
        given = mechanism.cost(facts, unit)
        if claims_more(stated, given):
            yield (
                f"the certificate promises one {unit} {stated.numbers()}, and the {called} that "
                f"it names gives {promise_in_words(given)}"
            )
    # Another version may say the same in other words.
    stale = certificate.version != build()
    noise = {"sampler": mechanism.sampler(facts), "numerics": mechanism.numerics}
    # Noise of a seed promises nothing.
    seeds = (None,) if certificate.person_level.holds else (None, 0)
    sources = [noise | {"randomness": randomness(seed).name} for seed in seeds]
    if not stale and certificate.noise not in sources:
        yield f"the certificate describes another noise than its {called} adds"


def among_promises(certificate: Certificate, account: Account) -> Iterator[str]:
    """What a certificate promises here and not there, or the ledger did not count.

    Args:
        certificate: what is claimed.
        account: what the ledger knows of it.
    """
    promised, total, debit = certificate.person_level, certificate.total, account.debit
    if certificate.guarantee.holds != promised.holds:
        yield "the certificate says that one guarantee holds and the other does not"
    if debit is not None:
        if claims_more(promised, debit.guarantee):
            yield (
                f"the certificate promises a person {promised.numbers()}, and the ledger counted "
                f"{promise_in_words(debit.guarantee)} for this release"
            )
        if _leaves_out(total, debit.guarantee) if total else not certificate.incomplete:
            yield "the certificate's total over all releases is less than this release alone"
    if not account.may_list(certificate.ledger):
        yield "the certificate lists other releases than the ledger has counted"
    if any(not isinstance(each, dict) or set(each) != _LISTED for each in certificate.ledger):
        yield "the certificate says more of releases than that they were counted"
    promises = (certificate.guarantee, promised, total)
    if any(each is not None and each.holds and each.reasons for each in promises):
        yield "the certificate says why a guarantee is not valid, and that it is"
    if not promised.holds:
        return
    bounded = bounding(promised, total, max(account.by_then, len(certificate.ledger)))
    allowed = rank1_bounds(bounded, certificate.people)
    for kind, stated in certificate.rank1_bound.items():
        bound = allowed.get(kind)
        if stated is not None and (bound is None or stated < bound * (1 - _TOLERANCE)):
            yield (
                "the certificate states a bound on re-identifying people that its own numbers do "
                "not give"
            )


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


def promise_in_words(guarantee: Guarantee) -> str:
    """Its numbers, or that there is none."""
    return guarantee.numbers() if guarantee.holds else "no guarantee"
