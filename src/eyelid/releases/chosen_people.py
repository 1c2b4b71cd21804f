"""What a choice of people does to a guarantee, in words.

Given who was chosen, a release depends on those people alone, so that the ledger counts them and
nobody else. How they were chosen is another matter. A list is public. A choice by data shows what
it looked at, of those chosen and of the others, and no ε covers that: the guarantee is then stated
for neighbours with the same recordings, of whom the same people are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eyelid.gaze.study import CHOSEN_BY_LIST, EVERY_TASK, SAW
from eyelid.releases.certificate import NARROWEST_FORM

BY_LIST = (
    "who is in the list that people were chosen by: it is taken to be public, and to have been "
    "written without a look at their data"
)

_BY_DATA = "people were chosen by that, which is read off the data"
NOT_SAID_OF_CHOICE = "it does not say how people were chosen, which is not protected"


def by_data(chosen: Sequence[str]) -> bool:
    """Whether people were chosen by what they have recordings of.

    Args:
        chosen: how, as a study remembers it.
    """
    return any(each != CHOSEN_BY_LIST for each in chosen)


def shown_by_choice(chosen: Sequence[str]) -> list[str]:
    """What a choice leaves unprotected, as a certificate lists it.

    Args:
        chosen: how, as a study remembers it.
    """
    return [
        BY_LIST
        if each == CHOSEN_BY_LIST
        else f"who {_did(each)}, and who did not: {_BY_DATA}; the guarantee is valid for those "
        "chosen, given the choice"
        for each in chosen
    ]


def participants_told(unprotected: Sequence[str]) -> Iterator[str]:
    """What participants should know of how they were chosen.

    Args:
        unprotected: what a certificate lists as such.
    """
    if any(_BY_DATA in line for line in unprotected):
        yield (
            "Participants were chosen by what they were recorded doing: what is shared shows that "
            "you were chosen, or that you were not."
        )


def form_given(chosen: Sequence[str], form: str) -> str:
    """What a person's data may be exchanged for without another choice of people.

    Args:
        chosen: how, as a study remembers it.
        form: what the mechanism allows of people who were not chosen.
    """
    return NARROWEST_FORM if by_data(chosen) else form


def told_of_choice(chosen: Sequence[str], people: int) -> Iterator[str]:
    """What the owner should know of a choice, before a release is paid for.

    Args:
        chosen: how, as a study remembers it.
        people: how many they are.
    """
    if by_data(chosen):
        how = " and who ".join(_did(each) for each in chosen if each != CHOSEN_BY_LIST)
        yield (
            f"the {people} people released were chosen by their data (who {how}): who they are is "
            "not protected, nor that others did not; the certificate says so"
        )


def _did(each: str) -> str:
    if each == EVERY_TASK:
        return "has every task"
    return f"saw '{each.removeprefix(SAW)}'"
