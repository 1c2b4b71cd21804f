"""Does a certificate agree with its ledger, its mechanism, its data and itself?

Whoever edits a certificate can make it say anything. What is checked here needs no luck: a
disagreement is as good as a refutation.
"""

from __future__ import annotations

from collections.abc import Iterator

from eyelid.audits.claims.residuals import least_noise
from eyelid.gaze.study import INDEX_COLUMNS
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.additive import AdditiveMechanism
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.ledger import Debit
from eyelid.privacy.unit import PERSON
from eyelid.releases.certificate import Certificate

# Another eyelid's arithmetic may differ in the last digits.
_TOLERANCE = 1e-6


def disagreements(
    certificate: Certificate,
    original: FeatureTable,
    released: FeatureTable,
    debit: Debit | None,
    law: Mechanism | None,
) -> Iterator[str]:
    """What of a certificate cannot be true, in words.

    Args:
        certificate: of the release.
        original: everything that was released from, with the bounds of the certificate.
        released: what was released.
        debit: what the ledger counted for it; None where that is not known.
        law: the mechanism that the certificate names; None where it is not known here.
    """
    promised = certificate.person_level
    if debit is not None and _claims_more(promised, debit.guarantee):
        yield (
            f"the certificate promises a person {promised.numbers()}, and the ledger counted "
            f"{_told(debit.guarantee)} for this release"
        )
    extra = [
        name
        for name in released.data.columns
        if name not in INDEX_COLUMNS and name not in released.names
    ]
    if extra:
        yield f"the released data have a column that no release has ({extra[0]})"
    if law is None or not promised.holds:
        return
    given = law.cost(law.shape(original), PERSON)
    if _claims_more(promised, given):
        yield (
            f"the certificate promises a person {promised.numbers()}, and the mechanism that it "
            f"names gives {_told(given)}"
        )
    if isinstance(law, AdditiveMechanism):
        least = least_noise(law, original, released)
        if least is not None:
            yield (
                f"{least[1]} has {least[0]:.2g} times the noise that the mechanism of the "
                "certificate adds"
            )


def _claims_more(one: Guarantee, other: Guarantee) -> bool:
    """Whether one promises more privacy than the other gives."""
    if not one.holds:
        return False
    losses = ((one.epsilon, other.epsilon), (one.delta, other.delta), (one.mu, other.mu))
    return (
        not other.holds
        or one.kind != other.kind
        or any(
            said is not None and (given is None or said < given * (1 - _TOLERANCE))
            for said, given in losses
        )
    )


def _told(guarantee: Guarantee) -> str:
    return guarantee.numbers() if guarantee.holds else "no guarantee"
