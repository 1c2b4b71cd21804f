"""The certificate: exactly what is guaranteed, to whom, and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import CHOSEN_BY_LIST, EVERY_TASK, SAW
from eyelid.mechanisms.mechanism import catalogue
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.accounts import Gap
from eyelid.privacy.bounds import Bounds, BoundsSource
from eyelid.privacy.guarantee import CERTIFICATE_SCHEMA, Guarantee, Kind
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import Trust
from eyelid.spelling import json_text

NO_LEDGER = "what earlier releases of these people gave away: there is no ledger"
ANOTHER_LEDGER = (
    "what another ledger has counted of these people: the one used here is not the only one"
)
NOT_COUNTED = {
    Gap.ELSEWHERE: ANOTHER_LEDGER,
    Gap.LOST: "what a ledger that was lost had counted of these people: another one was begun",
    Gap.RENAMED: (
        "what was released of these people under other ids: some have left the study and others "
        "have come, who may be the same"
    ),
    Gap.SAME_IDS: (
        "what another ledger may have counted of these people: another study has the same ids"
    ),
}
"""What a release leaves unprotected whose ledger does not know, or may not know, all others."""

OTHER_GROUPS = (
    "who of a group a person is, to those who also have another release of these people: two "
    "partitions intersect, and one chance in k is promised of a single release only"
)

NARROWEST_FORM = "of the same form (recordings, length, time stamps, lost samples)"
"""The narrowest form: that of certificates which state none, as older versions wrote them, and of
totals: releases of other forms are among those that add up."""

_NO_BOUND_ON = {
    Kind.K_ANONYMITY: "re-identification",
    Kind.DENIABILITY: "what is told about a person",
}


def other_releases(others: int, elsewhere: bool) -> str:
    """That other releases of the same people exist, or may; empty where none is known of.

    Args:
        others: how many the ledger has counted.
        elsewhere: whether another ledger may have counted more.
    """
    if others:
        known = "release of these people is" if others == 1 else "releases of these people are"
        return f"{others} other {known} known"
    return "other releases of these people may be counted in another ledger" if elsewhere else ""


def undone(person_level: Guarantee, others: str) -> str:
    """Why other releases leave nothing of what one of its kind promises alone; empty if they do.

    Args:
        person_level: of a release.
        others: why there are, or may be, other releases; empty where this is the only one.
    """
    if not others or not person_level.holds or person_level.kind not in _NO_BOUND_ON:
        return ""
    return f"no bound on {_NO_BOUND_ON[person_level.kind]}: {others}"


def bounding(person_level: Guarantee, total: Guarantee | None, releases: int) -> Guarantee:
    """The guarantee that bounds how often people are named, where there is one.

    Args:
        person_level: of a release.
        total: over everything counted of these people; None without a ledger.
        releases: how many were counted, this one included.
    """
    if person_level.kind is Kind.K_ANONYMITY:
        # It adds up with nothing: 1/k is true of people of whom nothing else was released.
        return person_level.broken(OTHER_GROUPS) if releases > 1 else person_level
    if total is None or person_level.trust is Trust.CENTRAL:
        return person_level
    return total


@dataclass(frozen=True)
class Promise:
    """What a release promises, from public facts.

    Attributes:
        guarantee: for the unit asked for.
        person_level: for a person, in total.
        how: how that total follows.
        alike: whether nothing that is released as it is tells people apart.
    """

    guarantee: Guarantee
    person_level: Guarantee
    how: str
    alike: bool

    def bound(self, people: int) -> float | None:
        """On re-identifying a person by one record of theirs; None where none is known."""
        if not self.alike:
            return None
        return rank1_bounds(self.person_level, people)["raw_to_release"]


@dataclass(frozen=True)
class ReleasedAs:
    """What kind of thing was released, with the public groups that it is about.

    Attributes:
        kind: as the mechanism declares it.
        by: public attributes that groups are made by, with commas between.
        groups: how many people each of them has, by name; empty where it is not known.
    """

    kind: ReleaseKind
    by: str | None = None
    groups: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As in certificate.json."""
        return {"kind": str(self.kind), "by": self.by, "groups": dict(self.groups) or None}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> ReleasedAs:
        """What `to_dict` has told."""
        groups = {str(name): int(people) for name, people in (facts.get("groups") or {}).items()}
        return cls(ReleaseKind(facts["kind"]), facts.get("by"), groups)


@dataclass(frozen=True)
class Certificate:
    """What accompanies a release; of the protected values it shows nothing.

    Attributes:
        mechanism: its name.
        parameters: as set.
        guarantee: for the unit that was asked for.
        person_level: the total of this release for a person.
        how: how that total comes about.
        bounds: what values were clipped to, and who said so.
        noise: sampler, numerics, randomness.
        ledger: every release that the ledger has counted for the same people, this one last.
        total: of all of them, true of every person released; None without a ledger, and where the
            ledger does not know, or may not know, all releases of these people.
        unprotected: what the release shows besides.
        rank1_bound: upper bounds on identification among the people released.
        people: how many.
        input_sha256: a fingerprint of the input, keyed by the ledger, that only its owner can
            check; a plain hash would confirm guesses about the data.
        version: of eyelid.
        output_sha256: of what was released, so that a swapped or edited file is noticed.
        map: public facts of released maps: size, grid, placement, layers, groups, areas.
        made_up: public facts of synthetic participants: how many, which features they have not and
            why, how far off they are expected to be.
        results: public facts of results: which numbers of each person, within which ranges, and
            where these are from; the statistics of them, and the groups.
        generated: public facts of synthetic recordings: of which tasks and stimuli they are, how
            long, which parameters are measured and which are the norm's.
        form: what a person's data may be exchanged for under the guarantee, as the mechanism says.
        released_as: what kind of thing it is; None in certificates of older versions.
    """

    mechanism: str
    parameters: dict[str, Any]
    guarantee: Guarantee
    person_level: Guarantee
    how: str
    bounds: Bounds
    noise: dict[str, str]
    ledger: tuple[dict[str, Any], ...]
    total: Guarantee | None
    unprotected: tuple[str, ...]
    rank1_bound: dict[str, float | None]
    people: int
    input_sha256: str | None
    version: str
    output_sha256: str | None = None
    map: dict[str, Any] | None = None
    made_up: dict[str, Any] | None = None
    results: dict[str, Any] | None = None
    generated: dict[str, Any] | None = None
    form: str = NARROWEST_FORM
    released_as: ReleasedAs | None = None

    @property
    def others(self) -> str:
        """That other releases of these people exist, or may; empty where none is known of."""
        return other_releases(max(len(self.ledger) - 1, 0), self.incomplete)

    @property
    def incomplete(self) -> bool:
        """Whether releases of these people may be missing from the ledger, so that none adds up."""
        return any(line in self.unprotected for line in NOT_COUNTED.values())

    @property
    def described(self) -> ReleasedAs:
        """What kind of thing was released, also where a certificate does not say it itself."""
        return self.released_as or ReleasedAs(
            catalogue()[self.mechanism].release, self.parameters.get("by")
        )

    def to_dict(self) -> dict[str, Any]:
        """As in certificate.json."""
        return {
            "schema": CERTIFICATE_SCHEMA,
            "mechanism": {"name": self.mechanism, "parameters": self.parameters},
            "guarantee": self.guarantee.to_dict(),
            "person_level": self.person_level.summary() | {"how": self.how},
            "bounds": {
                "source": str(self.bounds.source),
                "values": {name: list(pair) for name, pair in self.bounds.values.items()},
            },
            "noise": self.noise,
            "ledger": list(self.ledger),
            "ledger_total": self.total.to_dict() if self.total else None,
            "unprotected": list(self.unprotected),
            "rank1_bound": self.rank1_bound,
            "people": self.people,
            "input_sha256": self.input_sha256,
            "output_sha256": self.output_sha256,
            "version": self.version,
            **({} if self.map is None else {"map": self.map}),
            **({} if self.made_up is None else {"made_up": self.made_up}),
            **({} if self.results is None else {"results": self.results}),
            **({} if self.generated is None else {"generated": self.generated}),
            **({} if self.released_as is None else self._what()),
        }

    def _what(self) -> dict[str, Any]:
        """What older versions did not write: what was released, and the form of the promise."""
        assert self.released_as is not None, "an older certificate is written as it was"
        return {"form": self.form, "released_as": self.released_as.to_dict()}

    def misstates(self, form: str, released_as: ReleasedAs) -> bool:
        """Whether it states another form of data, or another kind of release, than it is about.

        Args:
            form: that the mechanism states.
            released_as: what kind of thing the release is.
        """
        return self.form not in (form, NARROWEST_FORM) or self.released_as not in (
            None,
            released_as,
        )

    def to_json(self) -> str:
        """The text of certificate.json."""
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Certificate:
        """What certificate.json says, of any origin."""
        if facts.get("schema") != CERTIFICATE_SCHEMA:
            raise InputError(
                f"the certificate has the schema '{facts.get('schema')}', this eyelid reads "
                f"'{CERTIFICATE_SCHEMA}': use the eyelid that wrote it"
            )
        named = facts["mechanism"]["name"]
        if not isinstance(named, str):
            raise TypeError(f"the mechanism has no name but {named}")
        guarantee = Guarantee.from_dict(facts["guarantee"])
        person = facts["person_level"]
        about = {"unit": "person", "neighbours": guarantee.neighbours, "trust": guarantee.trust}
        shared = ("k", "gamma", "reasons") if person["kind"] == guarantee.kind else ("reasons",)
        numbers = {key: facts["guarantee"].get(key) for key in shared}
        total = facts.get("ledger_total")
        return cls(
            mechanism=named,
            parameters=dict(facts["mechanism"]["parameters"]),
            guarantee=guarantee,
            person_level=Guarantee.from_dict({**numbers, **about, **person}),
            how=person.get("how", ""),
            bounds=Bounds(
                {name: (float(a), float(b)) for name, (a, b) in facts["bounds"]["values"].items()},
                BoundsSource(facts["bounds"]["source"]),
            ),
            noise=dict(facts["noise"]),
            ledger=tuple(facts["ledger"]),
            total=Guarantee.from_dict(total) if total else None,
            unprotected=tuple(facts["unprotected"]),
            rank1_bound=dict(facts["rank1_bound"]),
            people=int(facts["people"]),
            input_sha256=facts.get("input_sha256"),
            version=str(facts["version"]),
            output_sha256=facts.get("output_sha256"),
            map=facts.get("map"),
            made_up=facts.get("made_up"),
            results=facts.get("results"),
            generated=facts.get("generated"),
            form=str(facts.get("form") or NARROWEST_FORM),
            released_as=ReleasedAs.from_dict(kind) if (kind := facts.get("released_as")) else None,
        )


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


def of_some(unprotected: Sequence[str]) -> bool:
    """Whether people were chosen out of more, as far as a certificate says so.

    Args:
        unprotected: what it lists as such.

    >>> of_some(shown_by_choice(["every-task"])), of_some(shown_by_choice(["list"])), of_some([])
    (True, True, False)
    """
    return any(line == BY_LIST or _BY_DATA in line for line in unprotected)


def sentences_for_participants(unprotected: Sequence[str]) -> Iterator[str]:
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


def choice_notes(chosen: Sequence[str], people: int) -> Iterator[str]:
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
