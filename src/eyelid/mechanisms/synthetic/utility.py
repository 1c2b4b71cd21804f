"""What is left to learn from synthetic participants and rows, as far as public facts tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.public_groups import GroupedFacts, grouped
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.synthetic.capacity import mean_error_sd
from eyelid.mechanisms.synthetic.fitting import CERTAIN
from eyelid.mechanisms.synthetic.public_pairs import WINDOWS
from eyelid.spelling import plural

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.seeded import Seeded
    from eyelid.mechanisms.synthetic.synthetic import Synthetic

ALL, COMMON = "all", "common"
"""Words for ``carry``: as many features as the error allows, or a few that are reported most."""
# For planning a study.
CROWDS = (50, 100, 200, 500, 1000, 2000, 5000)
_ONLY_THOSE = "Choose those that your question needs ('eyelid features IN OUT --only A,B')"
_FEWER = " where everybody has the task (where a third have it, three times as far)"
# Above these, smaller differences between tasks, what goes together and how long recordings are are
# called lost: the noise on a difference, in standard deviations, that on a correlation, and the
# share of people who would have to have about the same length.
_MOST_APART = 0.2
_MOST_ON_CORRELATIONS = 0.3
_MOST_ALIKE = 0.5


def worth(mechanism: Synthetic, facts: PublicFacts) -> str:
    """What is kept, what is not, and how far off."""
    if not mechanism.useful(facts):
        return f"{too_few(mechanism, facts)}."
    carried = mechanism.carried(facts)
    kept, lost = _kept(mechanism, facts)
    sentence = (
        f"{mechanism.made_up or facts.people:,} synthetic participants with {carried} of "
        f"{plural(facts.features, 'feature')}, {plural(facts.recordings, 'task')}. Of each "
        "task, the share of rows in a quarter of a feature will be off by about "
        f"{mechanism.expected_share_error(facts):.2g}{_FEWER if facts.recordings > 1 else ''}. "
        f"Kept: {', '.join(kept)}. Not kept: {', '.join(lost)}."
    )
    if not mechanism.informative(facts):
        sentence = f"Farther off than {_wanted(mechanism, facts)}. {sentence}"
    elif carried < facts.features:
        left = plural(facts.features - carried, "feature")
        if carried < mechanism.features_within(facts):
            sentence += (
                f" {left} left out: each makes the noise on all others larger. {_ONLY_THOSE}; "
                f"`carry={ALL}` carries as many as an error of {mechanism.error:g} allows."
            )
        else:
            sentence += (
                f" {left} left out: all of them, with an error of {mechanism.error:g}, would need "
                f"{mechanism.people_needed(facts):,} people."
            )
    return sentence


def _wanted(mechanism: Synthetic, facts: PublicFacts) -> str:
    """The error that is wanted, and of what it is not kept where shares keep it."""
    wanted = f"the error of {mechanism.error:g} that is wanted"
    if mechanism.expected_share_error(facts) > mechanism.error:
        return wanted
    if mechanism.of_people(facts):
        return f"{wanted}, which is for shares, means and correlations of two features"
    return f"{wanted}, which is for shares and means"


def too_few(mechanism: Synthetic, facts: PublicFacts) -> str:
    """Why so few people make up none that are of use, and what to share instead."""
    one, tasks = replace(facts, features=1), plural(facts.recordings, "task")
    try:
        needed = f"would need {mechanism.people_needed(one):,}"
    except InputError:
        needed = "would need more than there are"
    groups = grouped(facts, mechanism.by)
    smallest = f" ({groups.smallest} in the smallest of {groups.groups} groups by {mechanism.by})"
    return (
        f"{facts.people} people are too few{smallest if mechanism.by else ''}: no useful study of "
        "synthetic participants exists that "
        f"hides a person among them at epsilon {mechanism.epsilon:g}, even one feature of "
        f"{tasks} {needed} for an error of {mechanism.error:g}. Share the results themselves "
        f"(summary{', which has --by, too' if mechanism.by else ''}), means of "
        "groups (ksame), means over everybody (groupmean), or take a weaker unit than the "
        "person (dct `unit='recording'`); `carry=1` draws them all the same"
    )


def _kept(mechanism: Synthetic, facts: PublicFacts) -> tuple[list[str], list[str]]:
    """What synthetic participants keep of real ones, and what not, by the noise."""
    lost: list[str] = []
    kept = ["how each feature is distributed in each task"]
    apart = mechanism.tasks_apart(facts)
    if facts.recordings > 1 and apart > _MOST_APART:
        kept = [
            "how each feature is distributed over all tasks",
            f"differences between tasks that are well above {apart:.2g} standard deviations",
        ]
        lost.append("smaller differences between tasks")
    noise, features = mechanism.noise_of_correlations(facts), mechanism.carried(facts)
    if mechanism.of_people(facts):
        several = [f"correlations of every two features (±{noise:.2g})"] * (features > 1)
        (kept if noise <= _MOST_ON_CORRELATIONS else lost).extend(several)
        kept.append("how much a person's rows are alike")
        lost.append("the order of rows in time")
    elif noise <= _MOST_ON_CORRELATIONS:
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
        lost.append("lengths (`rows=…` sets them)")
    lost += [
        "any participant's record",
        "what three features have to do with each other",
        "exact sums and ratios between features",
        "which values go missing (their share is kept where it stands out of the noise)"
        if mechanism.of_people(facts)
        else "shares of missing values (a feature that hardly anyone has stays empty)"
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
    sentence = (
        f"{mechanism.rows} synthetic rows of each of {facts.recordings} tasks. Each keeps {kept} "
        f"of {facts.features} features of a person's row where {test.k} of "
        f"{mechanism.seeds(facts.people)} people could have given it; the rest follows from pairs "
        f"of neighbouring features, counted with noise of {noise:.3g} people a cell, of "
        f"{modelled.people}. Rows have no order of time."
    )
    # An even spread puts so many people into one cell of a table.
    if noise > modelled.people / mechanism.bins**2:
        sentence += (
            " That is more noise than an even spread puts people into a cell: little of how "
            "features go together will be left. Fewer features (--only of features), "
            "fewer bins or more people would show more."
        )
    return sentence


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


@dataclass(frozen=True)
class Prospect:
    """What so many real people allow.

    Attributes:
        people: how many there are.
        features: how many synthetic participants would have; 0 where nothing of use exists.
        share_error: how far the share of a task in a quarter of a feature would be off.
    """

    people: int
    features: int
    share_error: float | None


@dataclass(frozen=True)
class MeanError:
    """How far the mean of one feature over everybody will be off.

    Attributes:
        feature: by name.
        error: at most about, in its unit.
        unit: of the feature.
    """

    feature: str
    error: float
    unit: str

    def __str__(self) -> str:
        """With its unit, two digits."""
        unit = "" if self.unit in ("", "1") else f" {self.unit}"
        return f"{self.feature} {self.error:.2g}{unit}"


@dataclass(frozen=True)
class MadeUp:
    """Synthetic participants as they will be.

    Attributes:
        people: how many.
        features: how many they have; 0 where the real people are too few.
        features_there: how many there are of real people.
        carried: their names, in the public order, as far as they are known.
        dropped: the names of the others.
        share_error: how far the share of a task in a quarter of a feature will be off, if there
            are features.
        share_noise: the part of it that is noise on the share itself.
        correlation_noise: the noise on a correlation, of two features or over time.
        noise_in_people: of each round, on its counts.
        informative: whether the error of a share is within what is wanted.
        wanted_error: the most that it may be.
        people_needed: real people for all features within that; None if no number is enough.
        people_needed_for_one: the same for a single feature.
        rows_that_count: of each real person and task.
        bins: of each feature.
        why_dropped: why features are left out, and which; empty if none is.
        mean_errors: of each feature that is carried, where their bounds are known.
        tasks_apart_sd: how far the difference of two tasks' means will be off, about, in standard
            deviations of the feature.
        tells_nobody: whether a feature that nobody has stays empty.
        mean_error_sd: how far a mean over everybody will be off, about, in standard deviations of
            a feature's rows; None where there are no features.
    """

    people: int
    features: int
    features_there: int
    carried: tuple[str, ...]
    dropped: tuple[str, ...]
    share_error: float | None
    share_noise: float | None
    correlation_noise: float | None
    noise_in_people: dict[str, float]
    informative: bool
    wanted_error: float
    people_needed: int | None
    people_needed_for_one: int | None
    rows_that_count: int
    bins: int
    why_dropped: str
    mean_errors: tuple[MeanError, ...] = ()
    tasks_apart_sd: float | None = None
    tells_nobody: bool = False
    mean_error_sd: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As certificate.json and ``eyelid cost --json`` have it."""
        return asdict(self) | {
            "carried": list(self.carried),
            "dropped": list(self.dropped),
            "mean_errors": [asdict(each) for each in self.mean_errors],
        }

    @property
    def noise_in_words(self) -> str:
        """The noise in words, round by round."""
        return noise_of_counts_in_words(self.noise_in_people)


def noise_of_counts_in_words(noise: Mapping[str, float]) -> str:
    """The noise on counts of people in words, round by round."""
    each = ", ".join(f"{name} {sd:.3g}" for name, sd in noise.items())
    return f"discrete Gaussian on counts of people, of standard deviation: {each}"


def made_up(mechanism: Synthetic, facts: PublicFacts, table: FeatureTable | None = None) -> MadeUp:
    """What synthetic participants will be like.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
        table: whose features have names; only these are looked at.
    """
    now, needed = prospect(mechanism, facts), _needed(mechanism, facts)
    names = _in_order(mechanism, facts, table)
    carried, dropped = names[: now.features], names[now.features :]
    smaller = replace(facts, features=max(1, now.features))
    return MadeUp(
        people=(mechanism.made_up or facts.people) if now.features else 0,
        features=now.features,
        features_there=facts.features,
        carried=carried,
        dropped=dropped,
        share_error=now.share_error,
        share_noise=mechanism.noise_of_shares(smaller) if now.features else None,
        correlation_noise=mechanism.noise_of_correlations(facts) if now.features else None,
        noise_in_people=mechanism.noise_in_people(facts) if now.features else {},
        informative=now.features > 0 and mechanism.informative(facts),
        wanted_error=mechanism.error,
        people_needed=needed,
        people_needed_for_one=_needed(mechanism, replace(facts, features=1)),
        rows_that_count=mechanism.records,
        bins=mechanism.bins_for(facts),
        why_dropped=(
            _why_dropped(mechanism, facts, dropped, needed)
            if now.features
            else too_few(mechanism, facts)
        ),
        mean_errors=_mean_errors(mechanism, table) if now.features else (),
        tasks_apart_sd=mechanism.tasks_apart(facts)
        if now.features and facts.recordings > 1
        else None,
        tells_nobody=now.features > 0 and mechanism.tells_nobody(facts),
        mean_error_sd=mean_error_sd(mechanism, facts) if now.features else None,
    )


def _mean_errors(mechanism: Synthetic, table: FeatureTable | None) -> tuple[MeanError, ...]:
    if table is None:
        return ()
    units = {feature.name: feature.unit for feature in table.features}
    found = mechanism.mean_errors(table)
    return tuple(MeanError(name, error, units[name]) for name, error in found.items())


def _in_order(
    mechanism: Synthetic, facts: PublicFacts, table: FeatureTable | None
) -> tuple[str, ...]:
    """The names of features in the public order; without a study, of eyelid's windows."""
    names = [name for name, _ in WINDOWS] if table is None else table.names
    if facts.features != len(names):
        return ()
    order, _ = mechanism.tree(names)
    return tuple(names[place] for place in order)


def _why_dropped(
    mechanism: Synthetic, facts: PublicFacts, names: Sequence[str], needed: int | None
) -> str:
    """Why features are left out, and which."""
    carried = mechanism.carried(facts)
    many = facts.features - carried
    if not many:
        return ""
    which = f": {', '.join(names)}" if names else ""
    last, be = ("the last", "is") if many == 1 else (f"the last {many}", "are")
    if mechanism.carry == COMMON and carried < mechanism.features_within(facts):
        return (
            f"{last} of a public order of features, in which those that are reported most "
            f"come first, {be} left out, because each makes the noise on all others larger (choose "
            f"yours with 'eyelid features IN OUT --only A,B'; --set carry={ALL} carries as many as "
            f"an error of {mechanism.error:g} allows){which}"
        )
    if isinstance(mechanism.carry, int):
        return f"carry={mechanism.carry} leaves out {last} of a public order{which}"
    enough = "no number of people is enough" if needed is None else f"it takes {needed:,} people"
    return (
        f"{last} of a public order of features {be} left out, because each makes the noise on "
        f"all others larger ({enough} for all of them with an error of "
        f"{mechanism.error:g}){which}"
    )


def prospect(mechanism: Synthetic, facts: PublicFacts) -> Prospect:
    """What the people of a shape allow."""
    if not mechanism.useful(facts):
        return Prospect(facts.people, 0, None)
    error = mechanism.expected_share_error(facts)
    return Prospect(facts.people, mechanism.carried(facts), error)


def prospects(
    mechanism: Synthetic, facts: PublicFacts, crowds: Sequence[int] = CROWDS
) -> tuple[Prospect, ...]:
    """What more or fewer people would allow; groups keep their part of the whole.

    >>> from eyelid.mechanisms.synthetic.synthetic import Synthetic
    >>> mechanism = Synthetic(epsilon=4.0, delta=1e-6)
    >>> facts = PublicFacts(20, 3, 32, 52)
    >>> [each.features for each in prospects(mechanism, facts, (20, 100, 1000))]
    [0, 3, 8]
    """
    return tuple(prospect(mechanism, _with_people(facts, people)) for people in crowds)


def _with_people(facts: PublicFacts, people: int) -> PublicFacts:
    if isinstance(facts, GroupedFacts):
        smallest = max(1, facts.smallest * people // facts.people)
        return replace(facts, people=people, smallest=smallest)
    return replace(facts, people=people)


def _needed(mechanism: Synthetic, facts: PublicFacts) -> int | None:
    try:
        return mechanism.people_needed(facts)
    except InputError:
        return None
