"""Means over people: the natural release of a study, and the one that is still worth reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from eyelid.errors import Refused
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.public_groups import GroupedFacts, Groups, grouped, groups_by
from eyelid.mechanisms.means.inner_mechanism import AUTO, parsed
from eyelid.mechanisms.means.mean_mechanism import TEAM, MeanMechanism
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Unit


@register
@dataclass(frozen=True)
class GroupMean(MeanMechanism):
    """The mean over the people of each public group, under the noise of one person."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The mean over the people of each public group, under the noise of one person.",
        takes="""a FeatureTable, or whatever the mechanism inside takes. Recordings are put side by
        side by task, and by their order within a task. Of each task the first recordings of a
        person count (1 unless set), and one that a person lacks counts with the public midpoint.
        Each person's values are clipped and turned into integers by the mechanism inside, and these
        are summed up in integers. Its noise is drawn once for each group. The sum is divided by the
        public number of people N, and values are rebuilt from it and clipped to the public
        bounds.""",
        protects="""what the mechanism inside protects (always a person), replace-one, with its ε
        and δ; trust is central: those who compute the mean see all data. N, the groups,
        who is in which and the tasks are public; who has which recordings, and how long they are,
        is not.""",
        why="""one person is one term of the sum, so the sum moves as far as that term: the
        sensitivity is that of the mechanism inside for one person, and Δ/N for the mean. Everything
        after the noise is post-processing. Groups are disjoint people, so that each person is in
        one sum only: several groups cost what one costs.""",
        remarks=(
            """What is inside is chosen by public facts (N, recordings, rows, features, ε, δ) unless
            it is set: of dct, laplace, gaussian and dct with spherical noise the one with the least
            expected error, and the certificate names it. For few numbers that is Laplace noise,
            pure ε; for many, Gaussian noise, (ε, δ). A δ that is given decides the kind: above 0 it
            is (ε, δ) with its μ, which adds up slowly over releases, and δ = 0 is pure ε.""",
        ),
        paper="""Rastogi & Nath 2010 take sums over people, which Bozkir et al. 2021 left for each
        person's own signal; integer sums as in Canonne, Kamath & Steinke 2020.""",
    )
    name: ClassVar[str] = "groupmean"
    units: ClassVar[tuple[str, ...]] = ("person", "recording", "record", "chunk")
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "inner": "dct:k=2:radius=0.3"},
        {"epsilon": 1.0, "inner": "laplace"},
        {"epsilon": 4.0, "delta": 1e-5, "inner": "envelope:k=2:variation=0.02"},
    )
    paper: ClassVar[str] = (
        "Rastogi & Nath (2010), Differentially private aggregation of distributed time-series; "
        "Dwork, McSherry, Nissim & Smith (2006)"
    )

    by: str | None = parameter(
        "public attributes whose values make groups: gender, or a,b", default=None
    )

    @classmethod
    def unit_named(cls, name: str, parameters: dict[str, Any]) -> Unit:
        """A chunk has the length that the mechanism inside gives it."""
        inner = parameters.get("inner", AUTO)
        if inner == AUTO:
            if name == "chunk":
                raise Refused(
                    "chunks have the length that the mechanism inside gives them: set one, such as "
                    "inner=cfpa:chunk=128"
                )
            return super().unit_named(name, parameters)
        kind, settings = parsed(inner)
        numbers = {key: int(value) for key, value in settings.items() if value.isdigit()}
        return kind.unit_named(name, numbers)

    @classmethod
    def variants(cls, table: FeatureTable, **settings: Any) -> Iterable[dict[str, Any]]:
        """With each of the usual mechanisms inside."""
        return [{"inner": inner} for inner in ("dct", "envelope", "laplace", "fpa")]

    @classmethod
    def set_for_games(cls) -> Iterator[GroupMean]:
        """The first with every unit that the mechanism inside offers, the others for the person."""
        for first, parameters in zip((True, *[False] * len(cls.games)), cls.games, strict=False):
            kind, _ = parsed(parameters["inner"])
            for name in (kind.game_units or kind.units) if first else (PERSON.name,):
                yield cls(**parameters, unit=cls.unit_named(name, parameters))

    def facts(self, table: FeatureTable) -> PublicFacts:
        """The public facts, with the smallest group where there are several."""
        facts = super().facts(table)
        if not self.by:
            return facts
        return GroupedFacts(**vars(facts), smallest=int(self.groups(table).sizes.min()))

    def smallest(self, facts: PublicFacts) -> int:
        """People in the smallest group, which a study must tell."""
        return grouped(facts, self.by).smallest

    def partition(self, table: FeatureTable, noise: Randomness) -> Groups:
        """The public groups: nothing is drawn."""
        return self.groups(table)

    def groups(self, table: FeatureTable) -> Groups:
        """The groups, by name, and who is in which."""
        return groups_by(table, self.by)

    def groups_shown(self, table: FeatureTable) -> list[str]:
        """Who is in which, and how many are."""
        if not self.by:
            return []
        counts = self.groups(table).people.select("person", "people").rows()
        sizes = ", ".join(f"{name}: {count}" for name, count in counts)
        return [f"who is in which group by {self.by}, and how many are ({sizes})"]

    def in_teams(self) -> GroupMean:
        """Each team is a group."""
        return replace(self, by=TEAM)
