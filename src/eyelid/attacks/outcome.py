"""One release, measured: who can be named in it, what it is still good for, how far off it is.

The same is asked of releases of every kind, each in the way that is fair to it:

* **Own records** (noise, made-up rows in somebody's name): attackers who know raw recordings of
  something else name whose a released one is, and the other way round; and so does whoever has the
  very recordings (`same_recordings`). What is learned from the release of the others is tested on
  raw windows of somebody.
* **Groups** of `ksame`, and noisy means of several groups: all these attackers get the mean of each
  group under the names of all its members. Whole groups of `ksame` are left out in tests.
* **Means over everybody and made-up people** have nobody's record: nobody is named, which is said
  and not drawn as a success. The mechanism is run again without those who are tested, for these,
  for noisy means of groups, and where a paper's rows stand in somebody's name and come from others
  too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from eyelid.attacks.anonymity import intersection
from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.attributes import infer_attributes
from eyelid.attacks.classifiers import Codes
from eyelid.attacks.error import error_of
from eyelid.attacks.groups import Grouped, one_a_group, under_names
from eyelid.attacks.held_out import learned_without
from eyelid.attacks.identification import identify
from eyelid.attacks.means import true_means
from eyelid.attacks.protocols import POSITIVE, Material, find_protocol
from eyelid.attacks.same_recordings import (
    KNOWS,
    Shares,
    named_by_likelihood,
    named_by_rows,
)
from eyelid.attacks.utility import utility
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.synthetic.seeded import Seeded
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import Randomness, randomness

# Who judges windows, and who averages noise away.
ATTACKERS = ("lda", "means", "whitened")
_PROTOCOLS = ("raw→release", "release→raw")
_MADE_UP = (Seeded, Synthetic)


@dataclass(frozen=True)
class Questions:
    """What is asked of every release.

    Attributes:
        target: what the data should still be good for: ``task``, a label or an attribute; None
            where there is nothing to recognise.
        attributes: of people, to be inferred.
        attackers: who names people.
        model: who recognises the target.
    """

    target: str | None = "task"
    attributes: tuple[str, ...] = ()
    attackers: tuple[str, ...] = ATTACKERS
    model: str = "forest"


@dataclass(frozen=True)
class Outcome:
    """What came of one run.

    Attributes:
        named: by attacker and protocol, of each person the share of decisions that were right;
            empty where nobody's record was released.
        chance: of naming somebody by guessing.
        used: of each person, the share of windows whose target was told; None where it was not
            tried.
        not_used: why it was not tried.
        used_chance: what always naming the commonest gives, where it was asked.
        attributes: by name, the balanced accuracy of the best attacker with its 95 % limits.
        error_of_span: root mean square error of a released value, or of a released mean.
        errors: the same of each feature by name, in its unit, with the unit.
        seconds: how long all that took.
    """

    named: dict[str, Shares] = field(default_factory=dict)
    chance: float = 0.0
    used: Shares | None = None
    not_used: str = ""
    used_chance: float = 0.0
    attributes: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    error_of_span: float | None = None
    errors: dict[str, tuple[float, str]] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """As a line of a file; numbers come back as they were."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Outcome:
        """What `to_dict` wrote."""
        used = told["used"]
        return cls(
            named={name: tuple(shares) for name, shares in told["named"].items()},
            chance=told["chance"],
            used=None if used is None else tuple(used),
            not_used=told["not_used"],
            used_chance=told["used_chance"],
            attributes={name: tuple(three) for name, three in told["attributes"].items()},
            error_of_span=told["error_of_span"],
            errors={name: (value, unit) for name, (value, unit) in told.get("errors", {}).items()},
            seconds=told["seconds"],
        )


def measured_raw(table: FeatureTable, questions: Questions, seed: int = 0) -> Outcome:
    """The same questions asked of the data as they are."""
    started = time.perf_counter()
    material = Material(table)
    return replace(
        _own_records(material, questions, seed),
        error_of_span=0.0,
        seconds=time.perf_counter() - started,
    )


def measured(
    law: FeatureMechanism,
    taken: FeatureTable,
    table: FeatureTable,
    questions: Questions,
    seed: int = 0,
) -> Outcome:
    """Run a mechanism once, attack what comes out, and use it.

    Args:
        law: the mechanism.
        taken: what it takes.
        table: the windows that its release is compared with: as a rule the same.
        questions: what is asked.
        seed: of its noise and of everybody's random choices. Nothing is released.
    """
    started = time.perf_counter()
    noise = randomness(np.random.default_rng([seed, *b"one run of many"]))
    if isinstance(law, KSame):
        found = _groups(law, table, questions, seed)
    elif isinstance(law, MeanMechanism):
        found = _means(law, taken, table, questions, seed)
    elif isinstance(law, _MADE_UP):
        taught = _taught(law, taken, table, questions, noise, seed)
        found = replace(taught, chance=1 / len(table.people))
    else:
        released = law.apply(taken, noise)
        released = replace(released, people=released.people.select("person"), released=True)
        names = [name for name in table.names if name in released.names]
        own = table.only(*names)
        material = Material(own, replace(released.only(*names), features=own.features))
        if law.mixes_people:
            found = _own_records(material, replace(questions, target=None), seed)
            taught = _taught(law, taken, table, questions, noise, seed)
            found = replace(found, used=taught.used, not_used=taught.not_used)
        else:
            found = _own_records(material, questions, seed)
        best = named_by_likelihood(law, taken, released)
        found = _named_too(found, best or named_by_rows(material))
        if law.regroups:
            found = _named_too(found, _intersecting(material))
    return replace(found, seconds=time.perf_counter() - started)


def _own_records(
    material: Material,
    questions: Questions,
    seed: int,
    together: Codes | None = None,
) -> Outcome:
    """People named and things recognised in records that are somebody's, or their group's."""
    raw = material.released is None
    how = [POSITIVE] if raw else [find_protocol(name) for name in _PROTOCOLS]
    over_all = () if together is None else _PROTOCOLS
    try:
        findings = identify(material, find_attackers(questions.attackers), how, seed, over_all)
    except InputError:
        # Recordings that cannot be parted: nothing can be known beforehand and something shown.
        findings = []
    used, chance, not_used = None, 0.0, ""
    if questions.target is not None:
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


def _groups(law: KSame, table: FeatureTable, questions: Questions, seed: int) -> Outcome:
    """Means of random groups, attacked under the names of all members."""
    noise = randomness(np.random.default_rng([seed, *b"who is with whom"]))
    member = law.partition(table, noise)
    grouped = Grouped(law, table, one_a_group(law, table, member), member)
    material = Material(table, grouped.named())
    together = grouped.groups_of(material.people)
    found = _own_records(material, questions, seed, together)
    return _named_too(found, named_by_rows(material) | _intersecting(material))


def _intersecting(material: Material) -> dict[str, Shares]:
    """By whoever has the very recordings, and asks in which groups somebody is in every task."""
    assert material.released is not None, "there is no release"
    rate = intersection(material.original, material.released).rate
    return {f"intersection, {KNOWS}": (rate,) * len(material.people)}


def _named_too(found: Outcome, named: dict[str, Shares]) -> Outcome:
    """With people named by other attackers as well."""
    return replace(found, named=found.named | named)


def _means(
    law: MeanMechanism,
    taken: FeatureTable,
    table: FeatureTable,
    questions: Questions,
    seed: int,
) -> Outcome:
    """Noisy means: what they teach about others, and of several groups, who is behind them."""
    noise = randomness(np.random.default_rng([seed, *b"nobody in particular"]))
    taught = _taught(law, taken, table, questions, noise, seed)
    groups = law.partition(taken, noise)
    released = law.present(law.noisy_means(taken, groups, noise))
    own = table.only(*[name for name in table.names if name in released.names])
    truth = true_means(law, groups, own, released)
    found = Outcome(chance=1 / len(table.people))
    if law.drawn or len(groups.people) > 1:
        material = Material(own, under_names(own, released, groups.member))
        found = _own_records(material, replace(questions, target=None), seed, groups.member)
        found = _named_too(found, named_by_rows(material) | _intersecting(material))
    off = error_of(truth, replace(released, features=truth.features))
    return replace(
        found,
        used=taught.used,
        not_used=taught.not_used,
        error_of_span=off.rmse_of_span,
        errors=off.in_units,
    )


def mean_errors(runs: Sequence[Outcome]) -> dict[str, tuple[float, str]]:
    """By feature, the mean over runs of its root mean square error, with its unit."""
    found: dict[str, list[tuple[float, str]]] = {}
    for run in runs:
        for name, each in run.errors.items():
            found.setdefault(name, []).append(each)
    return {name: (fmean(value for value, _ in each), each[0][1]) for name, each in found.items()}


def _taught(
    law: FeatureMechanism,
    taken: FeatureTable,
    table: FeatureTable,
    questions: Questions,
    noise: Randomness,
    seed: int,
) -> Outcome:
    """Of each person, windows whose task is told by a release of others; or why none is."""
    if questions.target is None:
        return Outcome()
    if questions.target != "task":
        return Outcome(not_used=f"it says nothing of {questions.target}: only tasks are learned")
    run = partial(law.apply, noise=noise)
    try:
        told = learned_without(run, taken, table, model=questions.model, seed=seed)
    except InputError as error:
        return Outcome(not_used=f"without those who are tested too few are left: {error}")
    if told is None:
        return Outcome(not_used="it says nothing of tasks")
    return Outcome(used=tuple(told.tolist()))


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
