"""What stands below a picture of gaze: whom it protects, and how much of it is noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.privacy.guarantee import Guarantee, large_delta, rounded_up
from eyelid.releases.maps.page import CAUTION, NO_GUARANTEE
from eyelid.releases.words import FORMAL_ONLY, formal_only
from eyelid.spelling import plural

# Of the heat that is drawn: with more of it below two standard errors, a map is mostly noise.
_MOSTLY = 0.5


def guarantee_legend(guarantee: Guarantee, people: int) -> str:
    """Whom a map protects, and how much, for the line below its picture.

    >>> from eyelid.privacy.guarantee import Kind
    >>> from eyelid.privacy.unit import PERSON, Neighbours, Trust
    >>> pure = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, epsilon=1.0)
    >>> guarantee_legend(pure.broken("its noise was seeded"), 5)
    'NO PRIVACY GUARANTEE for the 5 people in this map: its noise was seeded.'
    """
    whom = plural(people, "person", "people")
    if not guarantee.holds or not guarantee.kind.differential:
        why = "; ".join(guarantee.reasons) or "the mechanism gives none"
        return f"{NO_GUARANTEE} for the {whom} in this map: {why}."
    epsilon = math.inf if guarantee.epsilon is None else guarantee.epsilon
    factor = rounded_up(math.exp(epsilon), 3) if epsilon < 20 else f"e^{rounded_up(epsilon)}"
    addition = f", plus {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    text = (
        f"Protects each of {whom}: wherever else and however long one of them had "
        "looked at these pictures, if at all, any map would still be as likely, up to a factor of "
        f"{factor}{addition} ({guarantee.numbers()}; unit "
        f"{guarantee.unit}, {guarantee.neighbours}). That these {whom} took part is "
        "public."
    )
    warning = large_delta(guarantee.delta, people)
    text += f" Not protected is {warning}." if warning else ""
    return f"{text} {FORMAL_ONLY}" if formal_only(guarantee) else text


def noise_remark(maps: Sequence[GazeMap]) -> str:
    """What a picture that shows everything, noise too, says of itself; empty without noise.

    From the released maps and the public noise alone. Where nothing stands out clearly, or most of
    what is drawn lies within two standard errors of the noise, it is a caution.

    >>> flat = np.ones((2, 2))
    >>> noise_remark([GazeMap(flat / 4, "", 9, error=flat, measured=2.5 * flat, sure_errors=3.0)])
    'Caution: may be noise. No place has clearly more gaze than the average of the page.'
    """
    noisy = [item for item in maps if item.error is not None and item.error.any()]
    if not noisy:
        return ""
    lost = [not item.certain.any() for item in noisy]
    shares = [float(item.values.sum(where=~item.reliable)) for item in noisy]
    if len(noisy) > 1:
        count = sum(none or share > _MOSTLY for none, share in zip(lost, shares, strict=True))
        if count:
            return (
                f"{CAUTION} {count} of {len(noisy)} maps may be noise. Nothing on them is clearly "
                "above the average of their page, or most is noise."
            )
        return "Each map has places with clearly more gaze than its average: see reliable.png."
    if lost[0]:
        return (
            f"{CAUTION} may be noise. No place has clearly more gaze than the average of the page."
        )
    if shares[0] > _MOSTLY:
        return (
            f"{CAUTION} mostly noise. {shares[0]:.0%} of the heat drawn here lies within two "
            "standard errors of the noise."
        )
    return "Which places have clearly more gaze than the average of the page: see reliable.png."
