"""What a release would promise and how far off it would be, before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.features.omission import Blanks
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
    counted_or_chosen,
)
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import choice_notes, form_given
from eyelid.mechanisms.expectation import as_synthetic
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.partition import group_sizes
from eyelid.mechanisms.groups.slots import lacking
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts
from eyelid.mechanisms.release_kind import Gaps
from eyelid.mechanisms.synthetic.utility import made_up
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.unit import PERSON
from eyelid.releases.budget import spent_on
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
from eyelid.releases.kinds.features.preparation import check_min_seconds
from eyelid.reporting.budget import UNCOUNTED, Budget
from eyelid.reporting.feature_quote import FeatureOffer
from eyelid.reporting.quote import Quote
from eyelid.reporting.worth import errors_have_units
from eyelid.spelling import plural


def feature_cost(
    mechanism: str | Mechanism,
    source: Study | FeatureTable | Path | str | None = None,
    *,
    people: int | Whom = None,
    recordings: int | None = None,
    features: int | None = None,
    length: int | str | None = None,
    map: Map = None,
    min_seconds: float | None = None,
    **parameters: Any,
) -> Quote[FeatureOffer]:
    """The guarantee and the expected error of a release of features, before anything runs.

    Args:
        mechanism: its name, or a mechanism with its parameters set.
        source: a study whose public facts to take; or give them:
        people: how many people; or, of a study, whom it is about, as for `eyelid.release`.
        recordings: how many recordings each.
        features: how many features.
        length: rows of a recording; synthetic participants need none.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        min_seconds: what a recording of the study has to last, as for `eyelid.release`.
        parameters: of the mechanism, such as ``epsilon``, ``delta`` and ``unit``.
    """
    if source is not None:
        count, whom = counted_or_chosen(people)
        given = {"people": count, "recordings": recordings, "features": features}
        doubled = [name for name, value in given.items() if value is not None]
        if doubled:
            raise InputError(f"the study says how many {doubled[0]} it has: leave it out")
        chosen = build_mechanism(mechanism, length=length, **parameters)
        path = Path(source) if isinstance(source, str | Path) else None
        study = read(source, map) if isinstance(source, str | Path) else source
        check_min_seconds(min_seconds, study.kind if isinstance(study, Study) else "features")
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
            UNCOUNTED,
            [
                *filter(None, [Blanks.of(table).in_words()]),
                *choice_notes(table.chosen, facts.people),
                *missing_values(chosen, table, ranges_of(table)),
                *_lacking_notes(chosen, facts, table),
                *of_recordings(chosen, table),
            ],
        )
        alike = released_alike(chosen, priced.cost(facts, PERSON), table)
        try:
            before = spent_on(study, path)
            alike = alike and _one_history(before, facts.people)
        except InputError as error:
            notes.append(f"what was released of these people before is not known: {error}")
        return _quote(chosen, facts, table, alike=alike, before=before, notes=tuple(notes))
    count, _ = counted_or_chosen(people, study=False)
    counts = {"people": count, "recordings": recordings, "features": features, "length": length}
    chosen = build_mechanism(mechanism, **parameters)
    synthetic = as_synthetic(chosen)
    if synthetic is not None:
        # So many rows of a task count, however many there are.
        counts["length"] = synthetic.records
    absent = [name for name, value in counts.items() if value is None]
    if absent:
        last = ", `features` and `length`" if synthetic is None else " and `features`"
        raise InputError(
            f"cost needs a study, or `people`, `recordings`{last}; missing: {', '.join(absent)}"
        )
    numbers = {name: int(value) for name, value in counts.items() if value is not None}
    return _quote(chosen, chosen.measured_facts(**numbers))


def _quote(
    asked: FeatureMechanism,
    facts: PublicFacts,
    table: FeatureTable | None = None,
    *,
    alike: bool = True,
    before: Budget = UNCOUNTED,
    notes: tuple[str, ...] = (),
) -> Quote[FeatureOffer]:
    """The price of a mechanism on so many people, and of a study's if there is one."""
    mechanism, synthetic = asked.decided(facts), as_synthetic(asked)
    offer = FeatureOffer(
        mechanism,
        facts,
        None if synthetic is None else made_up(synthetic, facts, table),
        table.features if table is not None and errors_have_units(asked) else (),
    )
    priced = _priced(mechanism, facts)
    return Quote(
        offer,
        guarantee=promised(priced, facts, mechanism.unit),
        person_level=promised(priced, facts, PERSON),
        how=priced.person_total(facts),
        form=form_given(() if table is None else table.chosen, mechanism.form),
        alike=alike,
        before=before,
        notes=notes,
    )


def _priced(chosen: FeatureMechanism, facts: PublicFacts) -> FeatureMechanism:
    """The mechanism, with one feature where people are too few for any.

    What it promises does not depend on features, and planning a study takes more than
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


def _lacking_notes(chosen: FeatureMechanism, facts: PublicFacts, table: FeatureTable) -> list[str]:
    """Which recordings groups may lose, because some people lack them."""
    if chosen.gaps is not Gaps.EMPTY_GROUPS:
        return []
    groups = len(group_sizes(facts.people, chosen.group_size or 1))
    return [
        f"{count} of {facts.people} people lack {name}: a group with one of them loses it, which "
        f"may be {min(count, groups)} of {plural(groups, 'group')}"
        for name, count in lacking(table).items()
    ]
