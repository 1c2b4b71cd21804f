"""Everything about a release that is settled before noise is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.features.omission import Blanks
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.quasi_identifiers import SMALL_GROUP, QuasiIdentifier
from eyelid.io.reading import read
from eyelid.mechanisms.features import (
    FeatureMechanism,
    PredictableMechanism,
    feature_mechanism,
    windows_of,
)
from eyelid.mechanisms.groups.anonymising import AnonymisingMechanism
from eyelid.mechanisms.groups.public_groups import groups_by
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.mechanism import Mechanism, Shape, find
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.mechanisms.synthetic.seeded import Seeded
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.bounds import Bounds, BoundsSource
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON, Trust, Unit
from eyelid.releases.bounds import Ranges, bounds_for, clipped_to, ranges_of
from eyelid.releases.certificate import ReleasedAs
from eyelid.releases.imputation import RAW
from eyelid.spelling import plural

NOTHING = "no feature has a value at all: there is nothing to release"
NOTHING_LONG_ENOUGH = (
    "no recording can be summarised: each is shorter than one window, or than min_seconds "
    "(--min-seconds), or has fewer than ten samples a second: make features of shorter windows "
    "first ('eyelid features IN OUT --window S')"
)
SEEDED_GROUPS = (
    "the groups came from a seed: anybody who has or guesses it knows who is with whom, and "
    "whoever chose it may have chosen the groups"
)
SEEDED_ROWS = (
    "the rows were made up from a seed, so anybody who has or guesses it can repeat every random "
    "choice, also of the people they were made from"
)
DATA_BOUNDS = (
    "the bounds were read off the private data, so the noise itself shows the most extreme person"
)
LISTED_BOUNDS = (
    "the bounds were read off the private data, so the certificate, which lists them, shows the "
    "values of the most extreme person"
)

# Above this share of padding, its owner hears what it does to means.
_MUCH_PADDING = 0.05
# Above this share of rows that a plan cuts off, the plan may be a slip.
_MUCH_CUT = 0.5


@dataclass(frozen=True, eq=False)
class Plan:
    """A release that could be run.

    Attributes:
        mechanism: with its parameters.
        table: with the bounds it will be clipped to.
        defined_features: with the bounds of their own definitions.
        shape: its public facts.
        bounds: where values are clipped.
        guarantee: for the unit asked for.
        person_level: for a person.
        keep: columns released as they are, unprotected.
    """

    mechanism: FeatureMechanism
    table: FeatureTable
    defined_features: tuple[Feature, ...]
    shape: Shape
    bounds: Bounds
    guarantee: Guarantee
    person_level: Guarantee
    keep: tuple[str, ...]

    @property
    def alike(self) -> bool:
        """Whether nothing that is released as it is tells the people apart, but for their names."""
        return not self.keep and released_alike(self.mechanism, self.guarantee, self.table)

    @property
    def central(self) -> bool:
        """Whether an aggregate over people is released, and nobody's own record."""
        return self.guarantee.trust is Trust.CENTRAL

    @property
    def people(self) -> list[str]:
        """Everybody whose data the release touches."""
        return self.table.recordings["person"].unique(maintain_order=True).to_list()


def released_alike(mechanism: Mechanism, guarantee: Guarantee, table: FeatureTable) -> bool:
    """Whether nothing that a mechanism releases as it is tells people apart, but for their names.

    Of own records the recordings show. An aggregate shows nobody's: random groups of k-same may
    differ in length and in the recordings that their members have, but all members of a group in
    the same way, and only who of them somebody is was to be hidden.
    """
    if isinstance(mechanism, MeanMechanism):
        # Who has which recordings is hidden, who is in which public group is not.
        return not mechanism.public_groups
    if isinstance(mechanism, Synthetic):
        return not mechanism.by
    return guarantee.trust is Trust.CENTRAL or people_alike(table)


def described(mechanism: Mechanism, table: FeatureTable) -> ReleasedAs:
    """What kind of thing a mechanism releases, with the public groups that it is about.

    Args:
        mechanism: with its parameters.
        table: whose people there are.
    """
    by = mechanism.parameters().get("by")
    if not by:
        return ReleasedAs(mechanism.release)
    groups = groups_by(table, by).people.select("person", "people").rows()
    return ReleasedAs(mechanism.release, by, dict(groups))


def check_others(table: FeatureTable, shape: Shape) -> None:
    """Fail where there is only one person.

    Args:
        table: or its outline.
        shape: the public facts of its release.
    """
    if shape.people < 2:
        name = table.recordings["person"][0]
        raise InputError(
            f"the study has only one person ({name}), who has nobody to hide among: a release "
            "needs at least 2 people"
        )


def named_inside(mechanism: FeatureMechanism, shape: Shape) -> FeatureMechanism:
    """The mechanism; of a mean that chooses what is inside, with the choice for these facts."""
    return mechanism.decided(shape)


def people_alike(table: FeatureTable) -> bool:
    """Whether everybody has the same recordings, by name, of the same tasks and stimuli."""
    keys = [c for c in ("recording", "task", "stimulus") if c in table.data.columns]
    each = table.recordings.group_by("person", maintain_order=True).agg(pl.len(), *keys)
    return each.drop("person").n_unique() == 1


def tasks_of_few(mechanism: FeatureMechanism, table: FeatureTable) -> list[str]:
    """Tasks whose names a release shows though too few people have them to tell of them."""
    if "task" not in table.recordings.columns:
        return []
    enough, else_ = _enough_of_a_task(mechanism, table)
    having = table.recordings.group_by("task").agg(pl.col("person").n_unique()).sort("task")
    return [
        f"only {many} of the people {'has' if many == 1 else 'have'} task '{task}', fewer than "
        f"{else_}; leave it out unless everybody knows that it is part of your study"
        for task, many in having.rows()
        if many < enough
    ]


def singled_out(people: pl.DataFrame, keep: Sequence[str]) -> Iterator[str]:
    """Whom kept attributes single out, all of them together, for the owner's eyes: it is private.

    Args:
        people: those who are released, with their attributes.
        keep: attributes that are released as they are.
    """
    if not keep:
        return
    # Who has no value shows, too.
    sizes = people.group_by(keep).len()["len"]
    alone, fewest = int((sizes == 1).sum()), min(sizes)
    if len(sizes) == 1 or fewest >= SMALL_GROUP:
        return
    found = QuasiIdentifier(tuple(keep), len(people), alone, fewest)
    who = str(found) if alone else f"as few as {fewest} people share: {found.named}"
    yield (
        f"{RAW}: what you keep singles people out, whatever the noise: {who}. Whoever knows it of "
        "a participant finds their record by it: leave it out of keep, or make it coarser first"
    )


def stimuli_mixed(mechanism: FeatureMechanism, table: FeatureTable) -> Iterator[str]:
    """That a mean is over different stimuli, for the owner's eyes: it is private.

    Recordings of several people are put side by side by task and order.
    """
    averages = isinstance(mechanism, MeanMechanism | AnonymisingMechanism)
    if not averages or "stimulus" not in table.recordings.columns:
        return
    within = [name for name in ("task",) if name in table.recordings.columns]
    place = pl.int_range(pl.len()).over("person", *within)
    mixed = (
        table.recordings.with_columns(place.alias("place"))
        # What was lost may not say what was shown.
        .filter(pl.Series(~table.blank))
        .group_by(*within, "place")
        .agg(pl.col("stimulus").n_unique().alias("stimuli"))
        .filter(pl.col("stimuli") > 1)
    )
    if mixed.height:
        yield (
            f"{RAW}: people saw their stimuli in different orders or numbers, and recordings are "
            "averaged by task and order, so means are over different stimuli. 'eyelid convert IN "
            "OUT --map task=each-stimulus' makes each stimulus a task of its own, with its own "
            "means and its part of the noise"
        )


def lengths_cut(mechanism: FeatureMechanism, table: FeatureTable) -> Iterator[str]:
    """What a default length does to these recordings, for the owner's eyes: it is private."""
    if not isinstance(mechanism, MeasuringMechanism):
        return
    lengths = table.recordings["rows"]
    if mechanism.length == "shortest" and lengths.min() == 1 and lengths.n_unique() > 1:
        yield (
            "length=shortest cuts every recording to 1 row, because one has no more, or was left "
            "out as too short: set a number instead, --set length=N"
        )
    if mechanism.length != "public":
        return
    # Of recordings without a value it is told elsewhere.
    rows = table.recordings["rows"].to_numpy()[~table.blank]
    kept = mechanism.common_rows(table)
    if not rows.size or (rows == kept).all():
        return
    padding = float(np.maximum(kept - rows, 0).sum() / (kept * rows.size))
    cut = float(np.maximum(rows - kept, 0).sum() / rows.sum())
    pulled = (
        f" {padding:.0%} of the rows that count are padding, which pulls means over rows to the "
        "midpoint: no expected error includes that."
        if padding > _MUCH_PADDING
        else ""
    )
    if table.planned_rows is not None:
        if pulled or cut > _MUCH_CUT:
            yours = " to ".join(str(many) for many in sorted({rows.min(), rows.max()}))
            yield (
                f"every recording counts with {plural(kept, 'row')}, as planned; yours have "
                f"{yours}. Longer ones are cut ({cut:.0%} of all rows are lost), shorter ones "
                f"padded with the midpoint.{pulled} If that was not the plan, say how many rows a "
                "recording has: --set length=N, or planned_rows of the study"
            )
        return
    yield (
        f"every recording counts with {kept} rows, the default, so that nobody's length shows; "
        f"yours have {rows.min()} to {rows.max()}. Longer ones are cut, shorter ones padded with "
        f"the midpoint.{pulled} If a length was planned, set it: --set length=N"
    )


def recordings_left_out(mechanism: FeatureMechanism, table: FeatureTable) -> Iterator[str]:
    """How many recordings a mean leaves out, for the owner's eyes: it is private."""
    if not isinstance(mechanism, MeanMechanism):
        return
    left = int((mechanism.slots(table).slot < 0).sum())
    if left:
        count = plural(mechanism.per_task, "recording")
        yield (
            f"of each task the first {count} of everybody counts, so that nobody's number of "
            f"recordings shows; {left} of yours are left out. If more were planned, set their "
            "number: --set per_task=N"
        )


def _enough_of_a_task(mechanism: FeatureMechanism, table: FeatureTable) -> tuple[int, str]:
    """How many people should have a task, and what becomes of one that fewer have."""
    if isinstance(mechanism, Seeded):
        k = mechanism.threshold(mechanism.shape(table)).k
        return k, (
            f"k = {k}: its name is released, with rows that come from the model or nearly all do"
        )
    if isinstance(mechanism, Synthetic) and mechanism.useful(shape := mechanism.shape(table)):
        shares = mechanism.measurement(shape).shares
        people = math.ceil(shares.noise_of_person(mechanism.facts(shape)))
        return people, (
            f"the {people} that the noise on a count is: its name is released, with recordings "
            "that are hardly more than noise"
        )
    if isinstance(mechanism, MeanMechanism):
        return 2, "2: that it is part of the study shows that they took part in it"
    return 0, ""


def promised(mechanism: Mechanism, shape: Shape, unit: Unit, *reasons: str) -> Guarantee:
    """What a mechanism promises, unless it says itself that it does not hold, or for a reason."""
    if not mechanism.claims_to_hold:
        paper = f"{mechanism.name} does not give the guarantee that its paper prints"
        reasons = (paper, *reasons)
    return mechanism.cost(shape, unit).broken(*reasons)


def feature_table(
    source: Study | FeatureTable | Path | str,
    map: Map = None,
    mechanism: FeatureMechanism | None = None,
) -> FeatureTable:
    """The feature table that somebody means by a study, a table, or a path.

    Samples are summarised in windows of the default length first, or as a mechanism takes them.
    """
    read_in = read(source, map) if isinstance(source, Path | str) else source
    check_type(read_in)
    table = windows_of(read_in) if mechanism is None else mechanism.summarise(read_in)
    if isinstance(read_in, Study) and read_in.kind == "samples":
        blanks = Blanks.of(table)
        if blanks.blank == blanks.recordings:
            raise InputError(NOTHING_LONG_ENOUGH)
    return table


def check_type(source: object) -> None:
    """Refuse what is neither a study nor a table."""
    if not isinstance(source, Study | FeatureTable):
        raise InputError(
            f"this is a {type(source).__name__}: give a Study, a FeatureTable or a path (of a "
            "table: eyelid.Study('features', table, people, features=…), docs/synthetic.md)"
        )


def build_mechanism(name: str | FeatureMechanism, **parameters: Any) -> FeatureMechanism:
    """A mechanism from a name and what was asked for; what was not asked for takes its default."""
    asked = {key: value for key, value in parameters.items() if value is not None}
    if isinstance(name, FeatureMechanism):
        if asked:
            raise InputError(
                f"{name.name} has its parameters set already: leave out {', '.join(asked)}"
            )
        return name
    kind = find(name)
    if "averaged" in asked:
        raise InputError("averaged is set by groupmean alone: write inner=envelope there")
    if "unit" not in asked and PERSON.name not in kind.units:
        asked["unit"] = kind.units[0]
    return feature_mechanism(name, **asked)


def make_plan(
    source: Study | FeatureTable | Path | str,
    mechanism: FeatureMechanism,
    noise: Randomness,
    bounds: str | Path | Bounds = "public",
    keep: Sequence[str] = (),
) -> Plan:
    """Check everything that can be checked before anything is spent or written."""
    table = feature_table(source, mechanism=mechanism)
    check_numbers(table.data, table.names)
    ranges = ranges_of(table)
    if not any(each.seen for each in ranges.values()):
        raise InputError(NOTHING)
    return plan_for(table, ranges, mechanism, noise, bounds, keep)


def plan_for(
    table: FeatureTable,
    ranges: Ranges,
    mechanism: FeatureMechanism,
    noise: Randomness,
    bounds: str | Path | Bounds = "public",
    keep: Sequence[str] = (),
) -> Plan:
    """The same for a table whose features were looked at.

    Args:
        table: or its outline, where the mechanism makes everybody's record private on its own.
        ranges: of its features.
        mechanism: with its parameters set.
        noise: where it will come from.
        bounds: as for `eyelid.release`.
        keep: attributes of people to release as they are.
    """
    if table.released:
        raise InputError(
            "this is a released dataset already: release from the original study, whose ledger "
            "counts these people"
        )
    chosen = bounds_for(table, bounds, ranges)
    defined = table.features
    table = clipped_to(table, chosen)
    mechanism = mechanism.settled(table)
    shape = mechanism.shape(table)
    check_others(table, shape)
    # Whatever could fail fails now, before anything is paid.
    mechanism.check(table)
    noisy = isinstance(mechanism, PredictableMechanism)
    reasons = []
    if not noise.private:
        grouped = isinstance(mechanism, AnonymisingMechanism)
        counted = noisy or isinstance(mechanism, Synthetic)
        reasons.append(SEEDED if counted else SEEDED_GROUPS if grouped else SEEDED_ROWS)
    if chosen.source is BoundsSource.DATA:
        reasons.append(DATA_BOUNDS if noisy else LISTED_BOUNDS)
    guarantee = promised(mechanism, shape, mechanism.unit, *reasons)
    if keep and guarantee.trust is Trust.CENTRAL:
        raise InputError(
            f"{mechanism.name} releases no record under a person's name, so there is no {keep[0]} "
            "to keep: "
            f"leave keep out{_instead_of_keeping(mechanism, keep[0])}"
        )
    attributes = [c for c in table.people.columns if c != "person"]
    labels = [c for c in table.data.columns if c.startswith("label_")]
    for name in keep:
        if name not in attributes:
            if name in labels:
                raise InputError(
                    f"{name} labels single rows, which a release rewrites: leave it out"
                )
            raise unknown("column to keep", name, attributes)
    return Plan(
        mechanism=mechanism,
        table=table,
        defined_features=defined,
        shape=shape,
        bounds=chosen,
        guarantee=guarantee,
        person_level=promised(mechanism, shape, PERSON, *reasons),
        keep=tuple(keep),
    )


def _instead_of_keeping(mechanism: FeatureMechanism, attribute: str) -> str:
    """What a mechanism can do with an attribute that it cannot keep."""
    ways = {
        "by": f"make groups with --set by={attribute}",
        "balance": f"give every group nearly its share with --set balance={attribute}",
        "diverse": f"several values to every group with --set diverse={attribute}",
    }
    offered = {item.name for item in fields(mechanism)}
    return "".join(f", or {way}" for name, way in ways.items() if name in offered)


def check_numbers(data: pl.DataFrame, names: Sequence[str]) -> None:
    """Refuse features that are text or the like."""
    for name in names:
        if not data.schema[name].is_numeric():
            raise InputError(f"feature {name} is not a number: a mechanism cannot take it")
