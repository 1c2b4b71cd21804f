"""What a study of synthetic participants is worth, in words, as far as public facts tell."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.public_groups import grouped
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.fitting import CERTAIN
from eyelid.spelling import plural

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.seeded import Seeded
    from eyelid.mechanisms.synthetic.synthetic import Synthetic

ALL = "all"
"""As many features as the error allows, of the parameter ``carry``."""
_ONLY_THOSE = "Choose those that your question needs ('eyelid features IN OUT --only A,B')"
_FEWER = " where everybody has the task (where a third have it, three times as far)"
# Above these, what goes together and how long recordings are is called lost: the noise on a
# correlation, and the share of people who would have to have about the same length.
_MOST_ON_CORRELATIONS = 0.3
_MOST_ALIKE = 0.5


def worth(mechanism: Synthetic, facts: PublicFacts) -> str:
    """What is kept, what is not, and how far off."""
    if not mechanism.useful(facts):
        return f"{too_few(mechanism, facts)}."
    carried = mechanism.carried(facts)
    kept, lost = _kept(mechanism, facts)
    told = (
        f"{mechanism.made_up or facts.people:,} made-up people with {carried} of "
        f"{plural(facts.features, 'feature')}, {plural(facts.recordings, 'task')}. Of each "
        "task, the share of rows in a quarter of a feature will be off by about "
        f"{mechanism.expected_share_error(facts):.2g}{_FEWER if facts.recordings > 1 else ''}. "
        f"Kept: {', '.join(kept)}. Not kept: {', '.join(lost)}."
    )
    if not mechanism.informative(facts):
        told = f"Farther off than the error of {mechanism.error:g} that is wanted. {told}"
    elif carried < facts.features:
        left = plural(facts.features - carried, "feature")
        if carried < mechanism.features_within(facts):
            told += (
                f" {left} left out: each makes the noise on all others larger. {_ONLY_THOSE}; "
                f"--set carry={ALL} carries as many as an error of {mechanism.error:g} allows."
            )
        else:
            told += (
                f" {left} left out: all of them, with an error of {mechanism.error:g}, would need "
                f"{mechanism.people_needed(facts):,} people."
            )
    return told


def too_few(mechanism: Synthetic, facts: PublicFacts) -> str:
    """Why so few people make up none that are of use, and what to share instead."""
    one, tasks = replace(facts, features=1), plural(facts.recordings, "task")
    try:
        needed = f"would need {mechanism.people_needed(one):,}"
    except InputError:
        needed = "would need more than there are"
    return (
        f"{facts.people} people are too few: no useful study of made-up people exists that "
        f"hides a person among them at epsilon {mechanism.epsilon:g}, even one feature of "
        f"{tasks} {needed} for an error of {mechanism.error:g}. Share means of "
        "groups (ksame), means over everybody (groupmean), or take a weaker unit than the "
        "person (dct --unit recording); --set carry=1 makes them up all the same"
    )


def _kept(mechanism: Synthetic, facts: PublicFacts) -> tuple[list[str], list[str]]:
    """What made-up people have of real ones, and what they have not, by the noise there is."""
    kept, lost = ["how each feature is distributed in each task"], []
    noise, features = mechanism.noise_of_correlations(facts), mechanism.carried(facts)
    if noise <= _MOST_ON_CORRELATIONS:
        pairs = "of two features along a tree and " if features > 1 else ""
        kept += [f"correlations {pairs}over time (±{noise:.2g})", "trends over a recording"]
    else:
        lost += [f"correlations of two features (±{noise:.2g})"] * (features > 1)
        lost.append("trends over a recording")
        # Features are taken to last about as long as each other, which all of them tell.
        common = noise / math.sqrt(features)
        over_time = f"correlations over time (±{common:.2g} on average over features)"
        (kept if common <= _MOST_ON_CORRELATIONS else lost).append(over_time)
    each, every = _alike_in_length(mechanism, facts)
    if mechanism.rows is not None:
        lost.append(f"lengths (rows={mechanism.rows} sets them)")
    elif each <= _MOST_ALIKE:
        kept.append(f"lengths that {each:.0%} of a task's people share")
    elif every <= _MOST_ALIKE:
        kept.append(f"lengths that {every:.0%} of all recordings share")
    else:
        lost.append("lengths (--set rows= sets them)")
    lost += [
        "anybody's own record",
        "what three features have to do with each other",
        "exact sums and ratios between features",
        "shares of missing values (a feature that hardly anyone has stays empty)"
        if mechanism.tells_nobody(facts)
        else "missing values (also of a feature that nobody has: the noise hides that)",
        "rare events",
    ]
    return kept, lost


def _alike_in_length(mechanism: Synthetic, facts: PublicFacts) -> tuple[float, float]:
    """The shares of people with recordings about as long that are told from the noise.

    Of one task in the smallest group, and over all tasks and groups together.
    """
    noise = CERTAIN * mechanism.noise_of_shares(replace(facts, features=mechanism.carried(facts)))
    part = grouped(facts, mechanism.by).smallest / facts.people
    return noise, noise * part * math.sqrt(grouped(facts, mechanism.by).groups / facts.recordings)


def shown_of_people(mechanism: Synthetic, table: FeatureTable) -> list[str]:
    """What is public."""
    facts = mechanism.facts(table)
    shown = [
        f"the number of people ({facts.people}) and that each of them took part",
        "the name of the task"
        if facts.recordings == 1
        else f"the names of the {facts.recordings} tasks, also of one that few people have",
    ]
    if mechanism.by:
        counts = mechanism.groups(table).people.select("person", "people").rows()
        sizes = ", ".join(f"{name}: {count}" for name, count in counts)
        shown.append(
            f"everybody's {mechanism.by}: how many people there are of each is told ({sizes})"
        )
    shown.append("the names and bounds of the features, the step and the window of rows")
    return shown


def worth_of_rows(mechanism: Seeded, facts: PublicFacts) -> str:
    """How the model's noise compares with what it measures."""
    modelled = mechanism.model_facts(facts)
    noise = mechanism.marginals(facts.people).noise_of_person(modelled)
    test = mechanism.threshold(facts)
    low, high = mechanism.kept
    kept = f"{low}" if low == high else f"{low} to {high}"
    told = (
        f"{mechanism.rows} made-up rows of each of {facts.recordings} tasks. Each keeps {kept} of "
        f"{facts.features} features of a person's row where {test.k} of "
        f"{mechanism.seeds(facts.people)} people could have given it; the rest follows from pairs "
        f"of neighbouring features, counted with noise of {noise:.3g} people a cell, of "
        f"{modelled.people}. Rows have no order of time."
    )
    # An even spread puts so many people into one cell of a table.
    if noise > modelled.people / mechanism.bins**2:
        told += (
            " That is more noise than an even spread puts people into a cell: little of how "
            "features go together will be left. Fewer features (--only of features), "
            "fewer bins or more people would show more."
        )
    return told


def shown_of_rows(mechanism: Seeded, facts: PublicFacts) -> list[str]:
    """What is public, and what of the test may be told."""
    shown = [
        f"the number of people ({facts.people}) and that each of them took part",
        f"the names of the {facts.recordings} tasks, also of one that few people have",
    ]
    if mechanism.test == "deterministic":
        shown.append(
            "what many rows say together: deniability is about each row by itself and adds up "
            "to nothing"
        )
    return shown


def total_of_rows(mechanism: Seeded, facts: PublicFacts) -> str:
    """How rows and model add up."""
    rows = mechanism.rows * facts.recordings
    if mechanism.test == "deterministic":
        return (
            f"plausible deniability of each of {rows} rows by itself, which has no ε and adds "
            f"up with nothing, for {mechanism.seeds(facts.people)} people; the model has ε = "
            f"{mechanism.epsilon:g}, δ = {mechanism.delta_for(facts.people):g} for the other "
            f"{mechanism.modelled(facts.people)}: nobody is in both"
        )
    test = mechanism.threshold(facts)
    return (
        f"{rows} rows of ε = {test.epsilon_each:.4g} each, composed, for the "
        f"{mechanism.seeds(facts.people)} people who may be seeds; the model with the whole ε for "
        f"the other {mechanism.modelled(facts.people)}: nobody is in both"
    )
