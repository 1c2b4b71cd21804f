"""What the paper and its poster print about MPIIDPEye, and what is inferred from their words.

Numbers are those of the text and of the captions: the figures' curves were not read off.
"""

from __future__ import annotations

from dataclasses import dataclass

from eyelid.papers.davidjohn2022.trials import ANEW, RAW, SAME_GROUPS, Setting

CHANCE_NAMED, CHANCE_TOLD = 0.05, 0.33
_GROUPS = (ANEW, SAME_GROUPS)
"""Both readings of the paper's k-same: what it prints is printed of either."""
AT_CHANCE = {ANEW: 8.0, "marginals-paper": 8.0, "exponential-paper": 2.0}
"""Where the caption of Figure 1 says that each mechanism is at chance."""

_TO_CHANCE = 'the text says "to chance", which Table 2 prints as 5.0% for MPIIDPEye'


@dataclass(frozen=True)
class Printed:
    """A number of the paper.

    Attributes:
        number: as printed; None where there is none.
        inferred: how it follows from the text where it is not printed as a number; else empty.
    """

    number: float | None = None
    inferred: str = ""


def named(setting: Setting) -> Printed:
    """People of MPIIDPEye who are re-identified, of Figure 1."""
    if setting.mechanism == "exponential-paper" and setting.value == 2.0:
        return Printed(0.06)
    if setting.mechanism == "marginals-paper":
        return Printed(CHANCE_NAMED, f"{_TO_CHANCE}, across all parameter values")
    if setting.mechanism in _GROUPS and setting.value == AT_CHANCE[ANEW]:
        return Printed(CHANCE_NAMED, _TO_CHANCE)
    return Printed()


def told(setting: Setting) -> Printed:
    """Windows of MPIIDPEye whose document type is told, of Figure 2."""
    if setting.mechanism == "marginals-paper":
        return Printed(0.53)
    if setting.mechanism in _GROUPS and setting.value == AT_CHANCE[ANEW]:
        return Printed(
            0.72, 'the text prints "greater than 72%" across all k, of which it names k = 8 alone'
        )
    if setting.mechanism == "exponential-paper":
        if setting.value == 100.0:
            return Printed(0.80)
        if setting.value == 20.0:
            return Printed(
                CHANCE_TOLD, 'the text says "fell to chance at ϵ = 20", and chance is 33%'
            )
        if setting.value == 2.0:
            return Printed(
                CHANCE_TOLD, "accuracy fell to chance at ε = 20 already; for ε = 2 none is printed"
            )
    return Printed()


# Chance rates of Table 2; the caption of Figure 1 says that all datasets are at chance there.
_CHANCES = {
    "ET-DK2": 0.055,
    "VR-Saliency": 0.008,
    "360_em": 0.077,
    "VR-EyeTracking": 0.023,
    "OpenNEEDS": 0.023,
    "EHTask": 0.033,
}
_CAPTION = (
    "the caption of Figure 1 says that all datasets are at chance there; the rate is Table 2's"
)


def named_elsewhere(dataset: str, setting: Setting) -> Printed:
    """People of one of the other datasets who are re-identified, of Figure 1.

    >>> from eyelid.papers.davidjohn2022.trials import RAW, Setting
    >>> named_elsewhere("ET-DK2", RAW)
    Printed(number=1.0, inferred='')
    >>> named_elsewhere("EHTask", Setting("marginals-paper", 8.0)).number
    0.033
    """
    if setting == RAW:
        return Printed(1.0) if dataset == "ET-DK2" else Printed()
    if AT_CHANCE.get(setting.mechanism) != setting.value:
        return Printed()
    if dataset == "ET-DK2" and setting.mechanism == ANEW:
        return Printed(0.056, 'printed as "chance (5.6%)" for "a larger value of k", not for k = 8')
    return Printed(_CHANCES[dataset], _CAPTION)


SECONDS = {
    ANEW: Printed(60.0, 'printed as "less than a minute"'),
    "exponential-paper": Printed(60.0, 'printed as "less than a minute"'),
    "marginals-paper": Printed(1800.0, 'printed as "roughly 30 minutes"'),
}
"""Run times."""
AT_MOST = (ANEW, "exponential-paper")
"""Whose run time is printed as a limit."""
