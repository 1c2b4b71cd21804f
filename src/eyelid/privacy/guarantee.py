"""A guarantee is a value: its kind, its numbers, for whom, and whether it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_CEILING, Decimal, localcontext
from enum import StrEnum
from typing import Any

from eyelid.privacy.unit import Neighbours, Trust, Unit

CERTIFICATE_SCHEMA = "eyelid/certificate/1"
"""The schema of files that state guarantees."""


MOST_MEANT = 1000
"""The largest ε that is told by its figure."""
NO_PROTECTION = " (no practical protection)"
"""What is said of a larger one."""


class Kind(StrEnum):
    """Families of guarantees; numbers of different families never add up."""

    PURE = "pure-dp"
    APPROXIMATE = "approx-dp"
    GAUSSIAN = "gaussian-dp"
    K_ANONYMITY = "k-anonymity"
    DENIABILITY = "plausible-deniability"
    NONE = "none"

    @property
    def differential(self) -> bool:
        """Whether this is some form of differential privacy."""
        return self in (Kind.PURE, Kind.APPROXIMATE, Kind.GAUSSIAN)

    @property
    def spoken(self) -> str:
        """Its name in a sentence.

        >>> Kind.DENIABILITY.spoken, Kind.K_ANONYMITY.spoken
        ('plausible deniability', 'k-anonymity')
        """
        return self.replace("plausible-", "plausible ")


@dataclass(frozen=True)
class Guarantee:
    """What is promised about one unit.

    Attributes:
        kind: the family.
        unit: whose value is hidden; the numbers are totals for one unit, over everything in it.
        neighbours: which datasets are compared.
        trust: whether individual records or an aggregate are released.
        epsilon: ε of pure or approximate DP.
        delta: δ of approximate DP (0 for pure).
        mu: μ of Gaussian DP, also given beside (ε, δ) when the noise is Gaussian: it composes
            tightly.
        slack: statistical distance between the noise used and the continuous Gaussian that μ
            speaks of; already counted in δ.
        k: group size of k-anonymity or deniability.
        gamma: γ of plausible deniability.
        holds: whether the promise is true as released.
        reasons: why not, when it is not.
    """

    kind: Kind
    unit: Unit
    neighbours: Neighbours
    trust: Trust
    epsilon: float | None = None
    delta: float | None = None
    mu: float | None = None
    slack: float = 0.0
    k: int | None = None
    gamma: float | None = None
    holds: bool = True
    reasons: tuple[str, ...] = ()

    def broken(self, *reasons: str) -> Guarantee:
        """These numbers, marked as not holding, with the reasons added."""
        return replace(self, holds=False, reasons=(*self.reasons, *reasons)) if reasons else self

    def to_dict(self) -> dict[str, Any]:
        """As in a certificate; absent or infinite numbers are null."""
        raw = asdict(self)
        raw.pop("slack")
        raw["unit"] = str(self.unit)
        raw["reasons"] = list(self.reasons)
        return {key: _finite(value) for key, value in raw.items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Guarantee:
        """What `to_dict` has told; whatever is not stated must never count as nothing spent."""
        for key in ("epsilon", "delta", "mu", "k", "gamma"):
            value = content.get(key)
            if value is not None and not value >= 0:
                raise ValueError(f"{key} must not be negative, got {value}")
        if not isinstance(content["holds"], bool):
            raise ValueError(f"holds must be true or false, got '{content['holds']}'")
        kind, stated, k = Kind(content["kind"]), content.get("epsilon"), content.get("k")
        if k is not None and not isinstance(k, int):
            raise ValueError(f"k must be a whole number, got {k}")
        if content["holds"] and not k and kind in (Kind.K_ANONYMITY, Kind.DENIABILITY):
            raise ValueError(f"{kind.spoken} needs k, and none is stated")
        # JSON has no infinity.
        unstated = math.inf if kind.differential or kind is Kind.NONE else None
        return cls(
            kind=kind,
            unit=Unit.parse(content["unit"]),
            neighbours=Neighbours(content["neighbours"]),
            trust=Trust(content["trust"]),
            epsilon=unstated if stated is None else float(stated),
            delta=content.get("delta"),
            mu=content.get("mu"),
            slack=content.get("slack", 0.0),
            k=k,
            gamma=content.get("gamma"),
            holds=content["holds"],
            reasons=tuple(str(reason) for reason in content.get("reasons") or ()),
        )

    def summary(self) -> dict[str, Any]:
        """What a total is told by: kind, numbers, and whether it holds."""
        numbers = self.to_dict()
        return {key: numbers[key] for key in ("kind", "epsilon", "delta", "mu", "holds")}

    def numbers(self) -> str:
        """The numbers as a person writes them.

        >>> from eyelid.privacy.unit import PERSON
        >>> Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=3.0).numbers()
        'ε = 3'
        >>> Guarantee(
        ...     Kind.DENIABILITY, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, k=20, gamma=2.0
        ... ).numbers()
        'k = 20, γ = 2'
        """
        if self.kind is Kind.NONE or (self.epsilon is not None and math.isinf(self.epsilon)):
            return "no guarantee"
        parts = {"ε": self.epsilon, "δ": self.delta or None, "k": self.k, "γ": self.gamma}
        if self.kind is Kind.GAUSSIAN:
            parts = {"μ": self.mu, **parts}
        # Many people hide better than few: unlike a loss, k is not rounded up.
        return ", ".join(
            epsilon_told(value)
            if name == "ε"
            else f"{name} = {value if name == 'k' else rounded_up(value)}"
            for name, value in parts.items()
            if value is not None
        )


def large_delta(delta: float | None, people: int) -> str:
    """What a δ of at least 1/N leaves unprotected; empty for a smaller one.

    It belongs beside every such δ: of a release, of a total and of a limit.

    >>> large_delta(0.4, 10), large_delta(1e-6, 10)
    ('one person in 10: δ = 0.4 would also allow a mechanism that publishes one outright', '')
    """
    if (delta or 0.0) * people < 1:
        return ""
    return (
        f"one person in {people}: δ = {delta:g} would also allow a mechanism that publishes one "
        "outright"
    )


def large_deltas(people: int, *stated: Guarantee | None) -> list[str]:
    """What guarantees leave unprotected that are stated at a δ of at least 1/N; each δ once."""
    warnings = [large_delta(each.delta, people) for each in stated if each is not None]
    return [warning for warning in dict.fromkeys(warnings) if warning]


def rounded_up(value: float, digits: int = 4) -> str:
    """A loss to a few digits, never printed smaller than it is.

    >>> rounded_up(1.81431), rounded_up(0.1 + 0.2), rounded_up(3.0), rounded_up(1e-6)
    ('1.815', '0.3', '3', '1e-06')
    """
    # What floating point added in the last place is no loss.
    exact = Decimal(f"{value:.12g}")
    with localcontext(prec=digits, rounding=ROUND_CEILING):
        return f"{float(+exact):.{digits}g}"


def figure_up(value: float) -> str:
    """A loss to three digits as people read it, with commas, never smaller than it is.

    >>> figure_up(1.81431), figure_up(29616.2), figure_up(1000.0)
    ('1.82', '29,700', '1,000')
    """
    return f"{float(rounded_up(value, 3)):,.15g}"


def epsilon_told(epsilon: float) -> str:
    """ε as people read it: three digits, and none where it protects nobody in practice.

    >>> epsilon_told(1.81431), epsilon_told(29616.2)
    ('ε = 1.82', 'ε over 1,000 (no practical protection)')
    """
    if epsilon > MOST_MEANT:
        return f"ε over {MOST_MEANT:,}{NO_PROTECTION}"
    return f"ε = {figure_up(epsilon)}"


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
