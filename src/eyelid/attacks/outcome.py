"""One release, measured: re-identification rates, remaining utility, errors.

The same is asked of releases of every kind, each in the way that is fair to it:

* **Individual records** (noise, synthetic rows in a person's name): attackers who know raw
recordings of
  something else say whose a released one is, and the other way round; and so does an attacker who
  has the very recordings (`same_recordings`). What is learned from the release of the others is
  tested on raw windows of a person.
* **Groups** of `ksame`, and noisy means of several groups: all these attackers get the mean of each
  group under the names of all its members. Whole groups of `ksame` are left out in tests.
* **Means over all people and synthetic participants** have no record to re-identify, which is said
  and not drawn as a success. The mechanism is run again without those who are tested, for these,
  for noisy means of groups, and where a paper's rows stand in a person's name and come from others
  too.

An attacker who has the very recordings that were released: whose is each released person?
A colleague with the raw files, a leak, or an earlier publication of the same data: the attacker
knows everybody's recordings and puts each released one beside everybody's of the same task, row by
row. All that is released under one name counts together, since it is linked. Three ways, of which a
comparison takes the one that names most:

* ``rows``: the nearest over all rows and features, each feature weighted by how far off it is from
  what is usual. Noise that is drawn anew for every row is averaged away so.
* ``means``: the same of recordings' means alone, for releases whose rows are in no order.
* ``likelihood``: the exact likelihood under the distribution of the noise, where what was measured
can be
  read off the release. Nobody who judges one released person at a time names more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.anonymity import intersection
from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.attackers.attacker import last_where_impossible
from eyelid.attacks.attackers.likelihood import NAME, likelihood_scores
from eyelid.attacks.attributes import infer_attributes
from eyelid.attacks.classifiers import Codes
from eyelid.attacks.conclusions import GUESSED, JUDGED, conclusions, judged
from eyelid.attacks.error import error_of
from eyelid.attacks.identification import identify
from eyelid.attacks.measurements import legible
from eyelid.attacks.protocols import POSITIVE, Material, find_protocol
from eyelid.attacks.records import Records, aligned, records_of
from eyelid.attacks.scores import named
from eyelid.attacks.utility import learned_without, utility
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy.noise import Randomness, randomness

# Who judges windows, and who averages noise away.
ATTACKERS = ("lda", "means", "whitened")
_PROTOCOLS = ("raw→release", "release→raw")
MODELS = ("forest", "svm", "logistic")
"""Three kinds of classifiers that people use, by their name in `EVERY_MODEL`."""


KNOWS = "has the very recordings"
# Of everybody together, about a quarter of a gigabyte; beyond it neighbouring rows are averaged.
_MOST_VALUES = 1 << 25
# As shares of the range squared: what never differs decides nothing.
_LEAST = 1e-12
Shares = tuple[float, ...]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Questions:
    """What is asked of every release.

    Attributes:
        target: what the data should still be good for: ``task``, a label or an attribute; None
            where there is nothing to recognise.
        attributes: of people, to be inferred.
        attackers: who re-identifies people.
        model: who recognises the target, of `MODELS`; or what a study concludes, of
            `eyelid.attacks.conclusions.JUDGED`, which stands in its place.
    """

    target: str | None = "task"
    attributes: tuple[str, ...] = ()
    attackers: tuple[str, ...] = ATTACKERS
    model: str = "forest"

    @property
    def concluded(self) -> bool:
        """Whether use is what a study concludes, and not how well a target is recognised."""
        return self.model in JUDGED

    @property
    def used_as(self) -> str | None:
        """What the share that is used is one of, in words; None where there is none."""
        if self.target is None:
            return None
        return JUDGED.get(self.model, f"{self.target} recognised")


@dataclass(frozen=True)
class Outcome:
    """What came of one run.

    Attributes:
        named: by attacker and protocol, of each person the share of decisions that were right;
            empty where nobody's record was released.
        chance: of re-identifying a person by guessing.
        used: of each person, the share of windows whose target was told; None where it was not
            tried.
        not_used: why it was not tried.
        whole: whether ``used`` is one figure of the whole study, the same for everybody.
        used_chance: what always naming the commonest gives, where it was asked.
        attributes: by name, the balanced accuracy of the best attacker with its 95% limits.
        error_of_span: root mean square error of a released value, or of a released mean.
        errors: the same of each feature by name, in its unit, with the unit.
        seconds: how long all that took.
    """

    named: dict[str, Shares] = field(default_factory=dict)
    chance: float = 0.0
    used: Shares | None = None
    not_used: str = ""
    whole: bool = False
    used_chance: float = 0.0
    attributes: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    error_of_span: float | None = None
    errors: dict[str, tuple[float, str]] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    def with_named(self, named: dict[str, Shares]) -> Outcome:
        """This outcome with people re-identified by other attackers as well."""
        return replace(self, named=self.named | named)

    def to_dict(self) -> dict[str, Any]:
        """As a line of a file; numbers come back as they were."""
        return asdict(self)

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Outcome:
        """What `to_dict` wrote."""
        used = entry["used"]
        return cls(
            named={name: tuple(shares) for name, shares in entry["named"].items()},
            chance=entry["chance"],
            used=None if used is None else tuple(used),
            not_used=entry["not_used"],
            whole=entry.get("whole", False),
            used_chance=entry["used_chance"],
            attributes={name: tuple(three) for name, three in entry["attributes"].items()},
            error_of_span=entry["error_of_span"],
            errors={name: (value, unit) for name, (value, unit) in entry.get("errors", {}).items()},
            seconds=entry["seconds"],
        )


def measured_raw(table: FeatureTable, questions: Questions, seed: int = 0) -> Outcome:
    """Answers to the questions when they are asked of the data as they are."""
    started = time.perf_counter()
    material = Material(table)
    return replace(
        concluded(attacked_records(material, questions, seed), questions, table, table),
        error_of_span=0.0,
        seconds=time.perf_counter() - started,
    )


def fresh_noise(seed: int, of: bytes) -> Randomness:
    """Noise for a run of which nothing is released: other for other purposes."""
    return randomness(np.random.default_rng([seed, *of]))


def concluded(
    found: Outcome, questions: Questions, original: FeatureTable, released: FeatureTable
) -> Outcome:
    """An outcome whose use is what a study concludes, where that is asked.

    Args:
        found: but for its use.
        questions: what is asked.
        original: everybody's windows.
        released: what was made of them.
    """
    if not questions.concluded:
        return found
    figure = judged(conclusions(original, released), questions.model)
    if figure is None:
        return replace(found, not_used="it has no means by task of these features to compare")
    people = original.data["person"].n_unique()
    return replace(
        found,
        used=(figure,) * people,
        whole=True,
        used_chance=GUESSED[questions.model],
    )


def attacked_records(
    material: Material,
    questions: Questions,
    seed: int,
    together: Codes | None = None,
) -> Outcome:
    """Re-identification and recognition in records of people, or of their groups."""
    raw = material.released is None
    how = [POSITIVE] if raw else [find_protocol(name) for name in _PROTOCOLS]
    over_all = () if together is None else _PROTOCOLS
    try:
        findings = identify(material, find_attackers(questions.attackers), how, seed, over_all)
    except InputError:
        # Recordings that cannot be parted: nothing can be known beforehand and something shown.
        findings = []
    used, chance, not_used = None, 0.0, ""
    if questions.target is not None and not questions.concluded:
        uses = utility(
            material,
            [questions.target],
            models=[questions.model],
            seed=seed,
            together=together,
            plainly=True,
        )
        if uses:
            used, chance = uses[0].shares, uses[0].raw.chance
        elif together is not None:
            not_used = "all are in one group: nobody is left to learn from"
        else:
            not_used = f"no {questions.target} is left to learn from"
    released = material.released
    off = None if released is None else error_of(material.original, released)
    return Outcome(
        named={f"{f.attacker}, {f.protocol}": tuple(f.shares.tolist()) for f in findings},
        chance=findings[0].rate.chance if findings else 1 / len(material.people),
        used=used,
        not_used=not_used,
        used_chance=chance,
        attributes=_attributes(material, questions, seed),
        error_of_span=None if off is None else off.rmse_of_span,
        errors={} if off is None else off.in_units,
    )


def by_intersection(material: Material) -> dict[str, Shares]:
    """The intersection attack: in which groups are the very recordings in every task?"""
    assert material.released is not None, "there is no release"
    rate = intersection(material.original, material.released).rate
    return {f"intersection, {KNOWS}": (rate,) * len(material.people)}


def mean_errors(runs: Sequence[Outcome]) -> dict[str, tuple[float, str]]:
    """By feature, the mean over runs of its root mean square error, with its unit."""
    errors: dict[str, list[tuple[float, str]]] = {}
    for run in runs:
        for name, error in run.errors.items():
            errors.setdefault(name, []).append(error)
    return {name: (fmean(value for value, _ in of), of[0][1]) for name, of in errors.items()}


@dataclass(frozen=True)
class Trial:
    """One run of a mechanism, to be attacked and used for a comparison. Nothing is released.

    Attributes:
        mechanism: with its parameters.
        taken: what it takes.
        table: the windows that its release is compared with: as a rule the same.
        questions: what is asked.
        seed: of its noise and of everybody's random choices.
    """

    mechanism: Any
    taken: FeatureTable
    table: FeatureTable
    questions: Questions
    seed: int = 0


def by_other_people(trial: Trial, noise: Randomness) -> Outcome:
    """Shares of each person's windows whose task is told by a release of others; or why none is."""
    questions = trial.questions
    if questions.target is None or questions.concluded:
        return Outcome()
    if questions.target != "task":
        return Outcome(not_used=f"it says nothing of {questions.target}: only tasks are learned")
    run = partial(trial.mechanism.apply, noise=noise)
    try:
        shares = learned_without(
            run, trial.taken, trial.table, model=questions.model, seed=trial.seed
        )
    except InputError as error:
        return Outcome(not_used=f"without those who are tested too few are left: {error}")
    if shares is None:
        return Outcome(not_used="it says nothing of tasks")
    return Outcome(used=tuple(shares.tolist()))


def _attributes(
    material: Material, questions: Questions, seed: int
) -> dict[str, tuple[float, float, float]]:
    """How well the best attacker tells each attribute, both kinds counting alike."""
    found: dict[str, tuple[float, float, float]] = {}
    for column in questions.attributes:
        # One at a time: names of quantities say where they were split, and may begin alike.
        inferred, _ = infer_attributes(material, [column], seed=seed, control=False)
        rates = [one.balanced_accuracy for one in inferred]
        best = max(rates, key=lambda rate: rate.rate, default=None)
        if best is not None:
            found[column] = best.rate, best.low, best.high
    return found


def named_by_rows(material: Material) -> dict[str, Shares]:
    """Whether each released person's nearest raw recordings are their own.

    Args:
        material: the original, and a release in people's own names.
    """
    assert material.released is not None, "there is no release"
    original, released = aligned(material.original, material.released)
    people = material.people
    known, shown = records_of(original, people), records_of(released, people)
    most = max(1, _MOST_VALUES // max(1, len(known.owner) * known.values.shape[1]))
    known, shown = known.condensed(most), shown.condensed(most)
    slot = slots_of(original).slot
    totals = {name: np.zeros((len(people), len(people))) for name in ("rows", "means")}
    for place in np.unique(slot):
        which = np.flatnonzero(slot == place)
        whose = known.owner[which]
        ours, theirs = _side_by_side(known, which), _side_by_side(shown, which)
        # Mechanisms clip, and so does an attacker who knows them.
        ours = np.clip(ours, 0.0, 1.0)
        for name, raw, released_as in (
            ("rows", ours, theirs),
            ("means", ours.mean(axis=1, keepdims=True), theirs.mean(axis=1, keepdims=True)),
        ):
            # Who lacks such a recording is not its owner.
            found = np.full((len(which), len(people)), -np.inf)
            found[:, whose] = _nearness(raw, released_as)
            totals[name][whose] += found
    owner = np.unique(known.owner)
    return {
        f"{name}, {KNOWS}": _shares(last_where_impossible(total[owner]), owner, len(people))
        for name, total in totals.items()
    }


def named_by_likelihood(
    mechanism: FeatureMechanism, taken: FeatureTable, released: FeatureTable
) -> dict[str, Shares]:
    """Whether released people are re-identified by the exact likelihood; empty if it is unknown.

    Args:
        mechanism: as it was run.
        taken: what it was run on.
        released: what it gave.
    """
    if not len(legible(mechanism, mechanism.facts(taken))):
        return {}
    people = tuple(released.data["person"].unique(maintain_order=True))
    scores = likelihood_scores(cast(RecordMechanism, mechanism), taken, released, people)
    return {f"{NAME}, {KNOWS}": _shares(scores.averaged, scores.owner, len(people))}


def _side_by_side(records: Records, which: NDArray[np.intp]) -> Values:
    """Some records at the length of the shortest of them: records × rows × features."""
    rows = records.rows
    first = (np.cumsum(rows) - rows)[which]
    return np.asarray(records.values[first[:, None] + np.arange(rows[which].min())])


def _nearness(raw: Values, shown: Values) -> Values:
    """Shown × raw: minus half of the squared distance, but for what all candidates share."""
    usual = raw.mean(axis=0)
    own, other = raw - usual, shown - usual
    weight = 1 / np.maximum(np.mean(other**2, axis=(0, 1)), _LEAST)
    flat = (own * np.sqrt(weight)).reshape(len(own), -1)
    product = (other * np.sqrt(weight)).reshape(len(other), -1) @ flat.T
    return np.asarray(product - 0.5 * (flat**2).sum(axis=1))


def _shares(scores: Values, owner: NDArray[np.intp], people: int) -> Shares:
    """Whether each person is re-identified, ties by lot; who has no record is not."""
    found = np.zeros(people)
    found[owner] = named(scores, owner)
    return tuple(found.tolist())
