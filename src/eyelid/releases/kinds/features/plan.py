"""Everything about a release of features that is settled before noise is drawn."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.remote import check_here
from eyelid.errors import InputError, unknown
from eyelid.gaze.features.omission import Blanks
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.reading import read
from eyelid.mechanisms.certificate import ReleasedAs
from eyelid.mechanisms.features import (
    FeatureMechanism,
    feature_mechanism,
    windows_of,
)
from eyelid.mechanisms.groups.public_groups import groups_by
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts, check_set_alone, find
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.bounds import Bounds, BoundsSource
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import SEEDED
from eyelid.privacy.unit import PERSON, Trust, Unit
from eyelid.releases.accounting import Plan
from eyelid.reporting.sentences import released_as


@dataclass(frozen=True)
class Range:
    """The range of a feature, over some people.

    Attributes:
        least: its smallest value that is a number; infinite where there is none.
        most: its largest.
        seen: whether anything was measured, be it a number or not.
        values: how many there are.
        missing: how many rows have none.
        total: the sum of values, clipped to the feature's own bounds.
    """

    least: float = math.inf
    most: float = -math.inf
    seen: bool = False
    values: int = field(default=0, repr=False)
    missing: int = field(default=0, repr=False)
    total: float = field(default=0.0, repr=False)


Ranges = Mapping[str, Range]


def ranges_of(table: FeatureTable) -> Ranges:
    """The range of every feature of a table."""
    found = {}
    for feature in table.features:
        column = table.data[feature.name]
        values = column.cast(pl.Float64).fill_nan(None).drop_nulls().to_numpy()
        ends = (float(values.min()), float(values.max())) if len(values) else (math.inf, -math.inf)
        found[feature.name] = Range(
            *ends,
            seen=column.null_count() < len(column),
            values=len(values),
            missing=len(column) - len(values),
            total=float(values.clip(feature.lower, feature.upper).sum()),
        )
    return found


def ranges_together(parts: Sequence[Ranges]) -> Ranges:
    """The range of every feature over all parts.

    >>> one, other = {"rate": Range(0.0, 1.0, True)}, {"rate": Range()}
    >>> ranges_together([one, other])["rate"]
    Range(least=0.0, most=1.0, seen=True)
    """
    return {
        name: Range(
            min(part[name].least for part in parts),
            max(part[name].most for part in parts),
            any(part[name].seen for part in parts),
            sum(part[name].values for part in parts),
            sum(part[name].missing for part in parts),
            sum(part[name].total for part in parts),
        )
        for name in parts[0]
    }


def bounds_for(table: FeatureTable, choice: str | Path | Bounds, ranges: Ranges) -> Bounds:
    """The bounds of every feature of the table.

    Args:
        table: whose features; its rows are left alone.
        choice: ``public`` (from the definitions), ``data`` (read off the data: no guarantee
            holds), bounds, or a JSON ({"feature": [lower, upper]}) or csv file (feature, lower,
            upper) whose numbers were fixed without looking at the data; features the file leaves
            out keep their own.
        ranges: of the features, which nothing but ``data`` looks at.
    """
    own = {f.name: (f.lower, f.upper) for f in table.features}
    if choice == "public":
        return Bounds(own)
    if choice == "data":
        return _from_data(ranges)
    if isinstance(choice, Bounds):
        given, source = choice.values, choice.source
    else:
        given, source = _from_file(Path(choice)), BoundsSource.FILE
    for name in given:
        if name not in own:
            raise unknown("feature in the bounds", name, own)
    return Bounds(own | given, source)


def clipped_to(table: FeatureTable, bounds: Bounds) -> FeatureTable:
    """The table with these bounds as its features' own; mechanisms clip to them."""
    features = [
        replace(f, lower=bounds.values[f.name][0], upper=bounds.values[f.name][1])
        for f in table.features
    ]
    return replace(table, features=tuple(features))


def _from_data(ranges: Ranges) -> Bounds:
    values = {}
    for name, found in ranges.items():
        low, high = (0.0, 1.0) if found.least > found.most else (found.least, found.most)
        values[name] = (low, high if high > low else low + 1.0)
    return Bounds(values, BoundsSource.DATA)


def _from_file(path: Path) -> dict[str, tuple[float, float]]:
    check_here(path, "a file of bounds")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"cannot read the bounds '{path}': give public, data, or a json or csv file"
        ) from None
    try:
        if path.suffix.lower() == ".json":
            pairs = dict(json.loads(text))
        else:
            rows = csv.DictReader(text.splitlines())
            pairs = {row["feature"]: (row["lower"], row["upper"]) for row in rows}
        return {name: (float(low), float(high)) for name, (low, high) in pairs.items()}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"cannot understand the bounds in {path} ({error}): write "
            '{"feature": [lower, upper]} as json, or csv columns feature,lower,upper'
        ) from None


NOTHING = "no feature has a value at all: there is nothing to release"
NOTHING_LONG_ENOUGH = (
    "no recording can be summarised: each is shorter than one window, or than min_seconds "
    "(`min_seconds`), or has fewer than ten samples a second: make features of shorter windows "
    "first ('eyelid features IN OUT --window S')"
)
SEEDED_GROUPS = (
    "the groups came from a seed: anyone who has or guesses it knows who is with whom, and "
    "who chose it may have chosen the groups"
)
SEEDED_ROWS = (
    "the rows were drawn from a seed, so anyone who has or guesses it can repeat every random "
    "choice, also of the people they were made from"
)
_OF_A_SEED = {ReleaseKind.GROUPS: SEEDED_GROUPS, ReleaseKind.ROWS: SEEDED_ROWS}
DATA_BOUNDS = (
    "the bounds were read off the private data, so the noise itself shows the most extreme person"
)
LISTED_BOUNDS = (
    "the bounds were read off the private data, so the certificate, which lists them, shows the "
    "values of the most extreme person"
)


@dataclass(frozen=True, eq=False)
class TableDesign:
    """Features that could be released.

    Attributes:
        mechanism: with its parameters.
        table: with the bounds it will be clipped to.
        defined_features: with the bounds of their own definitions.
        facts: its public facts.
    """

    mechanism: FeatureMechanism
    table: FeatureTable
    defined_features: tuple[Feature, ...]
    facts: PublicFacts


def released_alike(mechanism: Mechanism, guarantee: Guarantee, table: FeatureTable) -> bool:
    """Whether nothing that a mechanism releases as it is tells people apart, but for their names.

    Of individual records the recordings show. An aggregate shows nobody's: random groups of k-same
    may differ in length and in the recordings that their members have, but all members of a group
    in the same way, and only which of them a person is was to be hidden.
    """
    if mechanism.release.of_means or mechanism.release is ReleaseKind.SYNTHETIC:
        # Who has which recordings is hidden, who is in which public group is not.
        return not mechanism.parameters().get("by")
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


def check_others(table: FeatureTable, facts: PublicFacts) -> None:
    """Fail where there is only one person.

    Args:
        table: or its outline.
        facts: the public facts of its release.
    """
    if facts.people < 2:
        name = table.recordings["person"][0]
        raise InputError(
            f"the study has only one person ({name}), who has nobody to hide among: a release "
            "needs at least 2 people"
        )


def people_alike(table: FeatureTable) -> bool:
    """Whether everybody has the same recordings, by name, of the same tasks and stimuli."""
    keys = [c for c in ("recording", "task", "stimulus") if c in table.data.columns]
    each = table.recordings.group_by("person", maintain_order=True).agg(pl.len(), *keys)
    return each.drop("person").n_unique() == 1


def promised(mechanism: Mechanism, facts: PublicFacts, unit: Unit, *reasons: str) -> Guarantee:
    """What a mechanism promises, unless it says itself that it does not hold, or for a reason."""
    if not mechanism.claims_to_hold:
        paper = f"{mechanism.name} does not give the guarantee that its paper prints"
        reasons = (paper, *reasons)
    return mechanism.cost(facts, unit).broken(*reasons)


def feature_table(
    source: Study | FeatureTable | Path | str,
    map: Map = None,
    mechanism: FeatureMechanism | None = None,
) -> FeatureTable:
    """The feature table that the user means by a study, a table, or a path.

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
            f"this is a value of type {type(source).__name__}: give a Study, a FeatureTable or a "
            "path (of a frame: eyelid.FeatureTable.from_frame(frame, person='…', bounds={…}))"
        )


def build_mechanism(name: str | Mechanism, **parameters: Any) -> FeatureMechanism:
    """A mechanism from a name and what was asked for; what was not asked for takes its default."""
    asked = {key: value for key, value in parameters.items() if value is not None}
    if not isinstance(name, str):
        check_set_alone(name, asked)
        return feature_mechanism(name)
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
) -> Plan[TableDesign]:
    """Check everything that can be checked before anything is spent or written."""
    table = feature_table(source, mechanism=mechanism)
    check_numbers(table.data, table.names)
    ranges = ranges_of(table)
    if not any(each.seen for each in ranges.values()):
        raise InputError(NOTHING)
    return plan_for(table, ranges, mechanism, noise)


def plan_for(
    table: FeatureTable,
    ranges: Ranges,
    mechanism: FeatureMechanism,
    noise: Randomness,
    bounds: str | Path | Bounds = "public",
    keep: Sequence[str] = (),
) -> Plan[TableDesign]:
    """Check everything that can be checked, of a table whose features were looked at.

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
    facts = mechanism.facts(table)
    check_others(table, facts)
    # Whatever could fail fails now, before anything is paid.
    mechanism.check(table)
    reasons = []
    if not noise.private:
        reasons.append(_OF_A_SEED.get(mechanism.release, SEEDED))
    if chosen.source is BoundsSource.DATA:
        reasons.append(DATA_BOUNDS if mechanism.predictable else LISTED_BOUNDS)
    guarantee = promised(mechanism, facts, mechanism.unit, *reasons)
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
        design=TableDesign(mechanism, table, defined, facts),
        what=released_as(mechanism),
        mechanism=mechanism,
        people=table.recordings["person"].unique(maintain_order=True).to_list(),
        guarantee=guarantee,
        person_level=promised(mechanism, facts, PERSON, *reasons),
        how=mechanism.person_total(facts),
        bounds=chosen,
        noise=(mechanism.sampler(facts), mechanism.numerics, noise.name),
        unprotected=mechanism.unprotected(table),
        alike=not keep and released_alike(mechanism, guarantee, table),
        released_as=described(mechanism, table),
        chosen=table.chosen,
        keep=tuple(keep),
    )


def _instead_of_keeping(mechanism: FeatureMechanism, attribute: str) -> str:
    """What a mechanism can do with an attribute that it cannot keep."""
    ways = {
        "by": f"make groups with `by={attribute}`",
        "balance": f"give every group nearly its share with `balance={attribute}`",
        "diverse": f"several values to every group with `diverse={attribute}`",
    }
    offered = {item.name for item in fields(mechanism)}
    return "".join(f", or {way}" for name, way in ways.items() if name in offered)


def check_numbers(data: pl.DataFrame, names: Sequence[str]) -> None:
    """Refuse features that are text or the like."""
    for name in names:
        if not data.schema[name].is_numeric():
            raise InputError(f"feature {name} is not a number: a mechanism cannot take it")
