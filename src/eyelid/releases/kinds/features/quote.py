"""What a release would promise and how far off it would be, before anything runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eyelid.errors import InputError
from eyelid.gaze.features.omission import Blanks
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
    counted_or_chosen,
)
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import form_given, told_of_choice
from eyelid.mechanisms.expectation import (
    Expectation,
    MadeUp,
    Prospect,
    as_synthetic,
    expectation,
    made_up,
    people_needed,
    predicted,
    prospects,
)
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.ksame import lacking
from eyelid.mechanisms.groups.partition import group_sizes
from eyelid.mechanisms.mechanism import PublicFacts, find
from eyelid.mechanisms.release_kind import Gaps, ReleaseKind
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.rank1 import advantage_bound
from eyelid.privacy.unit import PERSON, Trust
from eyelid.releases.budget import Budget, Counted, quoted, spent_on
from eyelid.releases.kinds.features.notes import missing_values, of_recordings
from eyelid.releases.kinds.features.plan import (
    build_mechanism,
    check_numbers,
    check_others,
    clipped_to,
    feature_table,
    promised,
    ranges_of,
    released_alike,
)
from eyelid.reporting.worth import errors_have_units, worth
from eyelid.spelling import plural

if TYPE_CHECKING:
    from eyelid.releases.kinds.streams.quote import StreamQuote


@dataclass(frozen=True)
class Quote(Counted):
    """A price and what it buys, from public facts only.

    Attributes:
        mechanism: with its parameters.
        facts: the public facts.
        alike: whether people cannot be told apart by what is not protected.
        before: what the ledger has counted of these people; None without a study.
        notes: what to know of these people before a release, for the owner's eyes.
        made_up: what made-up people will be like, where that is what is released.
        features: of the study, with their bounds; empty without one.
        chosen: how these people were chosen out of more, as a study remembers it.
    """

    mechanism: FeatureMechanism
    facts: PublicFacts
    alike: bool = True
    before: Budget | None = None
    notes: tuple[str, ...] = ()
    made_up: MadeUp | None = None
    features: tuple[Feature, ...] = ()
    chosen: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """What a person's data may be exchanged for under the guarantee."""
        return form_given(self.chosen, self.mechanism.form)

    @property
    def guarantee(self) -> Guarantee:
        """For the unit asked for."""
        return promised(_priced(self.mechanism, self.facts), self.facts, self.mechanism.unit)

    @property
    def person_level(self) -> Guarantee:
        """For a person."""
        return promised(_priced(self.mechanism, self.facts), self.facts, PERSON)

    @property
    def useless(self) -> bool:
        """Whether nothing would be released, because these people are too few for anything."""
        return self.made_up is not None and not self.made_up.features

    @property
    def prospects(self) -> tuple[Prospect, ...]:
        """What more or fewer people would allow, where people are made up."""
        mechanism = as_synthetic(self.mechanism)
        return () if mechanism is None else prospects(mechanism, self.facts)

    @property
    def expected(self) -> Expectation | None:
        """How far off what is released will be; None where that depends on the people."""
        mechanism = predicted(self.mechanism)
        return None if mechanism is None else expectation(mechanism, self.facts)

    @property
    def advantage_bound(self) -> float | None:
        """How well it can be told who is in means over people, at most; None for own records."""
        central = self.person_level.trust is Trust.CENTRAL
        return advantage_bound(self.person_level) if central else None

    @property
    def informative(self) -> bool | None:
        """Whether a release can be relied on, as far as public facts tell."""
        if self.made_up is not None:
            return self.made_up.informative
        return self.expected.informative if self.expected else None

    @property
    def people_needed(self) -> int | None:
        """From how many people on a mean over them would carry information, if that is known.

        That is about a recording's mean over its rows, as ``informative`` is.

        Of made-up people: for all features within the error that is wanted.
        """
        if self.made_up is not None:
            return self.made_up.people_needed
        mechanism = predicted(self.mechanism)
        return None if mechanism is None else people_needed(mechanism, self.facts)

    @property
    def people_needed_for_values(self) -> int | None:
        """The same for single rows of the mean, which take more people than means over rows."""
        mechanism = predicted(self.mechanism)
        return None if mechanism is None else people_needed(mechanism, self.facts, for_values=True)

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid cost --json`` prints it."""
        expected, people = self.expected, self.made_up
        priced = _priced(self.mechanism, self.facts)
        return {
            "mechanism": {
                "name": self.mechanism.name,
                "parameters": self.mechanism.parameters(),
            },
            "shape": asdict(self.facts),
            "guarantee": self.guarantee.to_dict(),
            "form": self.form,
            "person_level": self.person_level.summary() | {"how": priced.person_total(self.facts)},
            "noise": None
            if self.useless
            else {
                "sampler": self.mechanism.sampler(self.facts),
                "numerics": self.mechanism.numerics,
            },
            "expected_error": {
                "share_of_rows": people.share_error,
                "correlation": people.correlation_noise,
            }
            if people
            else expected.to_dict(self.features)
            if expected
            else None,
            "informative": self.informative,
            "informative_about": expected.informative_about if expected else None,
            "people_needed": self.people_needed,
            "people_needed_for_values": self.people_needed_for_values,
            "says": worth(self.mechanism, self.facts, self.features),
            "rank1_bound": self.rank1_bound,
            "advantage_bound": self.advantage_bound,
            "ledger": quoted(self.before, self.person_level),
            "warnings": self.warnings,
            "notes": list(self.notes),
            **(
                {}
                if people is None
                else {"made_up": people.to_dict(), "prospects": [asdict(p) for p in self.prospects]}
            ),
        }


def cost(
    mechanism: str | FeatureMechanism | StreamMechanism,
    source: Study | FeatureTable | Path | str | None = None,
    *,
    people: int | Whom = None,
    recordings: int | None = None,
    features: int | None = None,
    length: int | str | None = None,
    map: Map = None,
    min_seconds: float | None = None,
    **parameters: Any,
) -> Quote | StreamQuote:
    """The guarantee and the expected error of a release, before anything runs.

    Args:
        mechanism: its name, or a mechanism with its parameters set.
        source: a study whose public facts to take; or give them:
        people: how many people; or, of a study, whom it is about, as for `eyelid.release`.
        recordings: how many recordings each.
        features: how many features.
        length: rows of a recording, of a filter samples; made-up people need none.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        min_seconds: what a recording of the study has to last, as for `eyelid.release`.
        parameters: of the mechanism, such as ``epsilon``, ``delta`` and ``unit``.

    >>> quote = cost("laplace", people=20, recordings=3, features=16, length=600, epsilon=1.0)
    >>> quote.person_level.epsilon, quote.to_dict()["informative"]
    (1.0, False)
    """
    kind = find(mechanism) if isinstance(mechanism, str) else mechanism
    if kind.release is ReleaseKind.SAMPLES:
        # Deferred: most prices are of features.
        from eyelid.releases.kinds.streams.quote import stream_cost

        return stream_cost(
            mechanism,
            source,
            people=people,
            recordings=recordings,
            features=features,
            length=length,
            map=map,
            **parameters,
        )
    if source is not None:
        count, whom = counted_or_chosen(people)
        given = {"people": count, "recordings": recordings, "features": features}
        doubled = [name for name, value in given.items() if value is not None]
        if doubled:
            raise InputError(f"the study says how many {doubled[0]} it has: leave it out")
        chosen = build_mechanism(mechanism, length=length, **parameters)
        path = Path(source) if isinstance(source, str | Path) else None
        study = read(source, map) if isinstance(source, str | Path) else source
        if isinstance(study, Study):
            study = replace(chosen_of(study, whom), min_seconds=min_seconds)
        elif whom is not None:
            study = FeatureTable.of(chosen_of(study.study(), whom))
        table = feature_table(study, mechanism=chosen)
        facts = chosen.facts(table)
        # What a release would refuse has no price; bounds may still come from a file.
        check_others(table, facts)
        priced = _priced(chosen, facts)
        priced.check(clipped_to(table, Bounds(dict.fromkeys(table.names, (0.0, 1.0)))))
        check_numbers(table.data, table.names)
        before, notes = (
            None,
            [
                *filter(None, [Blanks.of(table).told()]),
                *told_of_choice(table.chosen, facts.people),
                *missing_values(chosen, table, ranges_of(table)),
                *_lacking_told(chosen, facts, table),
                *of_recordings(chosen, table),
            ],
        )
        alike = released_alike(chosen, priced.cost(facts, PERSON), table)
        try:
            before = spent_on(study, path)
            alike = alike and _one_history(before, facts.people)
        except InputError as error:
            notes.append(f"what was released of these people before is not known: {error}")
        return Quote(
            chosen.decided(facts),
            facts,
            alike,
            before,
            tuple(notes),
            _made_up(chosen, facts, table),
            table.features if errors_have_units(chosen) else (),
            table.chosen,
        )
    count, _ = counted_or_chosen(people, study=False)
    counts = {"people": count, "recordings": recordings, "features": features, "length": length}
    chosen = build_mechanism(mechanism, **parameters)
    synthetic = as_synthetic(chosen)
    if synthetic is not None:
        # So many rows of a task count, however many there are.
        counts["length"] = synthetic.records
    absent = [name for name, value in counts.items() if value is None]
    if absent:
        last = ", --features and --length" if synthetic is None else " and --features"
        raise InputError(
            f"cost needs a study, or --people, --recordings{last}; missing: {', '.join(absent)}"
        )
    numbers = {name: int(value) for name, value in counts.items() if value is not None}
    facts = chosen.measured_facts(**numbers)
    return Quote(chosen.decided(facts), facts, made_up=_made_up(chosen, facts))


def _made_up(
    chosen: FeatureMechanism, facts: PublicFacts, table: FeatureTable | None = None
) -> MadeUp | None:
    synthetic = as_synthetic(chosen)
    return None if synthetic is None else made_up(synthetic, facts, table)


def _priced(chosen: FeatureMechanism, facts: PublicFacts) -> FeatureMechanism:
    """The mechanism, with one feature where people are too few for any.

    What it promises does not depend on features, and whoever plans a study wants to know more than
    that these are too few.
    """
    synthetic = as_synthetic(chosen)
    if synthetic is None or chosen.useful(facts):
        return chosen
    return replace(synthetic, carry=1)


def _one_history(before: Budget, people: int) -> bool:
    """Whether earlier releases tell nobody from others, as far as the ledger knows."""
    if before.elsewhere or not all(d.alike for d in before.debits):
        return False
    return not before.debits or [b.people for b in before.balances] == [people]


def _lacking_told(chosen: FeatureMechanism, facts: PublicFacts, table: FeatureTable) -> list[str]:
    """Which recordings groups may lose, because some people lack them."""
    if chosen.gaps is not Gaps.EMPTY_GROUPS:
        return []
    groups = len(group_sizes(facts.people, chosen.group_size or 1))
    return [
        f"{count} of {facts.people} people lack {name}: a group with one of them loses it, which "
        f"may be {min(count, groups)} of {plural(groups, 'group')}"
        for name, count in lacking(table).items()
    ]
