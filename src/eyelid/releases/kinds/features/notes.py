"""What owners should know of their data before a release and after it: for their eyes alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import polars as pl

from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.io.quasi_identifiers import SMALL_GROUP, QuasiIdentifier
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.expectation import as_synthetic
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.ksame import KSame, with_every_task
from eyelid.mechanisms.groups.partition import groups_in_words
from eyelid.mechanisms.groups.public_groups import GroupedFacts
from eyelid.mechanisms.groups.slots import slot_names, slots_of
from eyelid.mechanisms.means.mean_mechanism import MeanMechanism
from eyelid.mechanisms.release_kind import Gaps, ReleaseKind
from eyelid.privacy.guarantee import Kind
from eyelid.releases.accounting import Plan
from eyelid.releases.kinds.features.outside import outside_in_words
from eyelid.releases.kinds.features.plan import Range, Ranges, TableDesign
from eyelid.spelling import plural

RAW = "from the raw data, for you alone"
"""How a note for the owner alone begins."""
_FEATURES_LISTED = 4
# A smaller share of empty cells is told as none.
_LEAST_TOLD = 0.005
# A smaller share of rows that are lost is told after the release alone.
_LEAST_LOST = 0.1
# Above this share of padding, its owner hears what it does to means.
_MUCH_PADDING = 0.05
# What becomes of a task that fewer people have than should.
_TASK_OF_FEW = {
    ReleaseKind.ROWS: "k = {}: its name is released, with rows that come from the model or nearly "
    "all do",
    ReleaseKind.SYNTHETIC: "the {} that the noise on a count is: its name is released, with "
    "recordings that are hardly more than noise",
    ReleaseKind.MEANS: "{}: that it is part of the study shows that they took part in it",
    ReleaseKind.RANDOM_MEANS: "{}: that it is part of the study shows that they took part in it",
}
_ONLY = "leave it out with 'eyelid features IN OUT --only A,B'"


def missing_values(
    mechanism: FeatureMechanism, table: FeatureTable, ranges: Ranges
) -> Iterator[str]:
    """How many values are missing, and what that does to a release, before it is paid for.

    Args:
        mechanism: with its parameters set.
        table: or its outline, with the bounds that values are clipped to.
        ranges: of its features, over everybody.
    """
    known = [
        (feature, _counting(mechanism, table, ranges[feature.name])) for feature in table.features
    ]
    nobody = [feature for feature, found in known if not found.values]
    some = [(feature, found) for feature, found in known if found.values and found.missing]
    if mechanism.gaps is Gaps.EMPTY_GROUPS:
        yield from _of_groups(cast(KSame, mechanism), table, some, nobody)
    elif mechanism.gaps is Gaps.UNCOUNTED:
        synthetic = as_synthetic(mechanism)
        drawn = synthetic is not None and synthetic.of_people(synthetic.facts(table))
        yield from _of_synthetic(some, nobody, drawn)
        if told := outside_in_words(table):
            yield f"{RAW}: {told}"
    elif mechanism.gaps is Gaps.MIDPOINT:
        yield from _imputed(some, nobody, int(table.blank.sum()))
        yield from _recordings_imputed(mechanism, table)


def _counting(mechanism: FeatureMechanism, table: FeatureTable, found: Range) -> Range:
    """The range with as many missing values as count: a recording without any has all its rows.

    What stands in its place is no row that was measured. Where records are padded it counts as
    long as any other; of groups and synthetic participants it is told apart.
    """
    rows = int(table.recordings["rows"].to_numpy()[table.blank].sum())
    padded = int(table.blank.sum()) * mechanism.common_rows(table)
    return replace(found, missing=found.missing - rows + padded)


def _imputed(
    some: Sequence[tuple[Feature, Range]], nobody: Sequence[Feature], blank: int = 0
) -> Iterator[str]:
    """What the middle of the bounds in the place of missing values does to means."""
    if some:
        whole = " (all rows of recordings without a value among them)" if blank else ""
        ordered = sorted(some, key=lambda one: -abs(_shift(*one)) / one[0].span)
        moved = [
            f"{feature.name} by {_with_unit(_shift(feature, found), feature, '+.3g')} "
            f"({found.missing:,} of {found.values + found.missing:,})"
            for feature, found in ordered[:_FEATURES_LISTED]
        ]
        more = len(some) - len(moved)
        rest = f", and {plural(more, 'other feature')} by less of their range" if more else ""
        yield (
            f"{RAW}: {_many(some)} missing{whole} and count as the middle of their bounds, which "
            f"moves the mean over all rows of {', of '.join(moved)}{rest}; no expected error "
            "includes that"
        )
    for feature in nobody:
        middle = _with_unit((feature.lower + feature.upper) / 2, feature, ".3g")
        yield (
            f"{RAW}: nobody has a value of {feature.name}. What is released of it is the middle of "
            f"its bounds ({middle}) under noise, and it takes its part of the budget: {_ONLY}"
        )


def _recordings_imputed(mechanism: FeatureMechanism, table: FeatureTable) -> Iterator[str]:
    """How many recordings people lack that count in a mean all the same."""
    if not mechanism.release.of_means:
        return
    slots = cast(MeanMechanism, mechanism).slots(table)
    people = int(slots.owner[-1]) + 1
    placed = set(zip(slots.owner[slots.slot >= 0], slots.slot[slots.slot >= 0], strict=True))
    lacking = people * len(slots.names) - len(placed)
    if lacking:
        yield (
            f"{RAW}: {plural(lacking, 'recording')} of {people * len(slots.names):,} that people "
            "lack count as the middle of the bounds too, which pulls means of their task there"
        )


def _of_groups(
    mechanism: KSame,
    table: FeatureTable,
    some: Sequence[tuple[Feature, Range]],
    nobody: Sequence[Feature],
) -> Iterator[str]:
    """How many cells of groups will be empty, if values are missing here and there."""
    if some or table.blank.any():
        gone = {feature.name for feature in nobody}
        shares = {n: share for n, share in mechanism.expected_empty(table).items() if n not in gone}
        notes = [name for name in shares if shares[name] >= _LEAST_TOLD]
        most = sorted(notes, key=lambda name: -shares[name])[:_FEATURES_LISTED]
        each = ", ".join(f"{name} {shares[name]:.0%}" for name in most)
        least = min(shares.values(), default=0.0)
        others = (
            f", and of every other feature at least {least:.0%}" if least >= _LEAST_TOLD else ""
        )
        count = f"{_many(some)} missing. " if some else ""
        whole = ", and a whole recording where one has none of it" if table.blank.any() else ""
        yield (
            f"{RAW}: {count}A cell of a group is empty where one of its members has no value"
            f"{whole}, so that about so many cells are expected to be empty: {each or 'hardly any'}"
            f"{others if len(shares) > len(most) else ''}"
        )
    left_out = mechanism.expected_left_out(table)
    if left_out >= _LEAST_LOST:
        yield (
            f"{RAW}: about {left_out:.0%} of people's rows are expected to be in no mean, as a "
            "group has the rows that all its members have"
            f"{'; '.join(['', *_losing_less(mechanism, table, left_out)])}"
        )
    for feature in nobody:
        yield f"{RAW}: nobody has a value of {feature.name}, and all its cells will be empty"


def _losing_less(mechanism: KSame, table: FeatureTable, left_out: float) -> Iterator[str]:
    """What leaves fewer rows out of groups, by how much, where there is something."""
    complete = with_every_task(table)
    people = complete.recordings["person"].n_unique()
    if mechanism.k <= people < table.recordings["person"].n_unique():
        share = mechanism.expected_left_out(complete)
        if (1 - share) * _rows(complete) > (1 - left_out) * _rows(table):
            yield (
                f"of the {people} people who have every task about {share:.0%} would be "
                "(`people='every-task'`; who they are is then not protected)"
            )
    fewer = mechanism.k // 2
    if fewer >= 2 and fewer >= mechanism.values_of_diverse:
        share = replace(mechanism, k=fewer).expected_left_out(table)
        if share < left_out * 0.8:
            yield f"with k = {fewer} about {share:.0%}, and less protection"


def _rows(table: FeatureTable) -> int:
    """How many rows recordings with values have."""
    return int(table.recordings["rows"].to_numpy()[~table.blank].sum())


def _of_synthetic(
    some: Sequence[tuple[Feature, Range]], nobody: Sequence[Feature], drawn: bool
) -> Iterator[str]:
    """What synthetic participants lack, and what a feature costs that nobody has.

    Args:
        some: features that have values, and lack others.
        nobody: features without any.
        drawn: whether values of synthetic participants go missing, too.
    """
    if some:
        yield (
            f"{RAW}: {_many(some)} missing. "
            + (
                "As many will be of synthetic participants where noisy counts clearly show it, "
                "whichever rows these are"
                if drawn
                else "Synthetic participants have a value everywhere: how much is missing is lost"
            )
        )
    for feature in nobody:
        yield (
            f"{RAW}: nobody has a value of {feature.name}. If it is carried, it makes the noise on "
            "all others larger, and stays empty only where noisy counts show that hardly anyone "
            f"has it: {_ONLY}"
        )


def _many(some: Sequence[tuple[Feature, Range]]) -> str:
    missing = sum(found.missing for _, found in some)
    whole = sum(found.values + found.missing for _, found in some)
    share = missing / whole
    part = "less than 0.1%" if share < 0.001 else f"{share:.1%}"
    verb = "is" if missing == 1 else "are"
    return f"{missing:,} of {whole:,} values ({part}) of {plural(len(some), 'feature')} {verb}"


def _shift(feature: Feature, found: Range) -> float:
    """How far the mean over all rows moves when missing values become the middle of the bounds."""
    mean = min(max(found.total / found.values, feature.lower), feature.upper)
    middle = (feature.lower + feature.upper) / 2
    return (middle - mean) * found.missing / (found.values + found.missing)


def _with_unit(value: float, feature: Feature, form: str) -> str:
    unit = "" if feature.unit in ("", "1") else f" {feature.unit}"
    return f"{float(f'{value:{form}}'):{'+' if form[0] == '+' else ''},.15g}{unit}"


# Above this share of rows that a plan cuts off, the plan may be a slip.
_MUCH_CUT = 0.5


def tasks_of_few(mechanism: FeatureMechanism, table: FeatureTable) -> list[str]:
    """Tasks whose names a release shows though too few people have them to tell of them."""
    if "task" not in table.recordings.columns:
        return []
    enough = mechanism.fewest_of_task(mechanism.facts(table))
    fate = _TASK_OF_FEW.get(mechanism.release, "").format(enough)
    having = table.recordings.group_by("task").agg(pl.col("person").n_unique()).sort("task")
    return [
        f"only {many} of the people {'has' if many == 1 else 'have'} task '{task}', fewer than "
        f"{fate}; leave it out unless everybody knows that it is part of your study"
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
    found = QuasiIdentifier(tuple(keep), len(people), alone)
    who = str(found) if alone else f"as few as {fewest} people share: {found.named}"
    yield (
        f"{RAW}: what you keep singles people out, at any noise: {who}. Anyone who knows it "
        "of a participant finds their record by it: leave it out of keep, or make it coarser first"
    )


def stimuli_mixed(mechanism: FeatureMechanism, table: FeatureTable) -> Iterator[str]:
    """That a mean is over different stimuli, for the owner's eyes: it is private.

    Recordings of several people are put side by side by task and order.
    """
    averages = mechanism.release.of_means or mechanism.release is ReleaseKind.GROUPS
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
    if not mechanism.measures:
        return
    lengths = table.recordings["rows"]
    if mechanism.length == "shortest" and lengths.min() == 1 and lengths.n_unique() > 1:
        yield (
            "length=shortest cuts every recording to 1 row, because one has no more, or was left "
            "out as too short: set a number instead, `length=…`"
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
                "recording has: `length=…`, or planned_rows of the study"
            )
        return
    yield (
        f"every recording counts with {kept} rows, the default, so that nobody's length shows; "
        f"yours have {rows.min()} to {rows.max()}. Longer ones are cut, shorter ones padded with "
        f"the midpoint.{pulled} If a length was planned, set it: `length=…`"
    )


def recordings_left_out(mechanism: FeatureMechanism, table: FeatureTable) -> Iterator[str]:
    """How many recordings a mean leaves out, for the owner's eyes: it is private."""
    if not mechanism.release.of_means:
        return
    averaging = cast(MeanMechanism, mechanism)
    left = int((averaging.slots(table).slot < 0).sum())
    if left:
        count = plural(averaging.per_task, "recording")
        yield (
            f"of each task the first {count} of everybody counts, so that nobody's number of "
            f"recordings shows; {left} of yours are left out. If more were planned, set their "
            "number: `per_task=…`"
        )


def of_recordings(
    mechanism: FeatureMechanism, table: FeatureTable, asked: FeatureMechanism | None = None
) -> Iterator[str]:
    """What becomes of people's tasks, stimuli, lengths and numbers of recordings.

    Args:
        mechanism: as it would be applied.
        table: or its outline.
        asked: the mechanism as it was asked for, with words in the place of public numbers.
    """
    yield from tasks_of_few(mechanism, table)
    yield from stimuli_mixed(mechanism, table)
    yield from lengths_cut(asked or mechanism, table)
    yield from recordings_left_out(mechanism, table)


def rows_in_words(plan: Plan[TableDesign], table: FeatureTable) -> str:
    """How many rows were released, and what became of those of the people."""
    rows = int(table.recordings["rows"].sum())
    text = f"{rows:,} {'row' if rows == 1 else 'rows'}"
    design, mechanism = plan.design, plan.design.mechanism
    if mechanism.gaps is Gaps.EMPTY_GROUPS:
        return _rows_of_groups(design, table)
    if mechanism.release is ReleaseKind.GROUPS:
        repeated = rows - len(design.table.data)
        return f"{text} ({repeated:,} of them repeat a last row)" if repeated > 0 else text
    # What stands for a recording that was left out is no person's row.
    lengths = np.where(design.table.blank, 0, design.table.recordings["rows"].to_numpy())
    if mechanism.lengths:
        every = mechanism.kept_one_in
        if every > 1:
            text += f" (of {lengths.sum():,}, one in {every} was kept)"
        repeated = rows - int(np.ceil(lengths / every).sum())
        return f"{text} ({repeated:,} of them repeat a last row)" if repeated else text
    if mechanism.release is ReleaseKind.SYNTHETIC:
        people = plural(len(table.people), "synthetic one")
        features = f"{len(table.features)} of {plural(design.facts.features, 'feature')}"
        return f"in their place {people} with {features}, {text}"
    if not mechanism.measures:
        # Synthetic rows are no person's, cut or padded.
        return text
    # What is measured may have other rows than what is released; as many are cut or drawn.
    cut = int(np.maximum(lengths - design.facts.length, 0).sum())
    padded = int(np.maximum(design.facts.length - lengths, 0).sum())
    if cut:
        text += f" ({cut:,} rows were cut to give every recording {table.recordings['rows'][0]})"
    if padded:
        text += f" ({padded:,} {'rows of people' if plan.central else 'of them'} are padding)"
    if isinstance(design.facts, GroupedFacts):
        fewest = plural(design.facts.smallest, "person", "people")
        text = f"{plural(len(table.people), 'group')} (the smallest has {fewest}), {text}"
    return text


def _rows_of_groups(design: TableDesign, table: FeatureTable) -> str:
    """How many groups and rows there are, and what of the people went into none of them."""
    rows = table.recordings.select("person", "rows")
    groups = groups_in_words(design.facts.people, design.mechanism.group_size or 1)
    text = f"{groups}, {rows['rows'].sum():,} rows"
    had = int(design.table.recordings["rows"].filter(pl.Series(~design.table.blank)).sum())
    rows = rows.filter(pl.Series(~table.blank))
    if "people" in table.people.columns:
        weights = table.people.select("person", "people")
        rows = rows.join(weights, on="person").select(pl.col("rows") * pl.col("people"))
    went_in = int(rows["rows"].sum())
    left_out = had - went_in
    if not left_out:
        return text
    lost = _lost(design.table, table)
    resampled = design.mechanism.parameters().get("resample")
    cut = (
        "cut to the shortest or to the length set"
        if resampled is None
        else f"of each {plural(resampled, 'row')} spread evenly over it"
    )
    return (
        f"{text} ({left_out:,} of the people's {had:,} rows are in no mean: a group has the "
        f"recordings that all its members have, {cut}, and empty where one of them has no value"
        f"{'; ' if lost else ''}{', '.join(lost)})"
    )


def _lost(original: FeatureTable, table: FeatureTable) -> list[str]:
    """Which recordings how many groups have not, because a member lacks them."""
    slots = slots_of(original).names
    # Copies of one group are one.
    group = pl.col("person").str.replace(r"-\d+$", "")
    having = table.recordings.select(group, "recording").unique()
    groups = having["person"].n_unique()
    often = dict(having.group_by("recording").len().rows())
    return [
        f"{groups - often.get(slot, 0)} of {plural(groups, 'group')} lost {name}"
        for slot, name in zip(slots["recording"], slot_names(slots), strict=True)
        if often.get(slot, 0) < groups
    ]


def foreseen(plan: Plan[TableDesign], asked: FeatureMechanism, ranges: Ranges) -> Iterator[str]:
    """What to know before a release is paid for.

    Args:
        plan: of the release.
        asked: the mechanism as it was asked for, with words in the place of public numbers.
        ranges: of the features, over everybody.
    """
    mechanism, table, made_up = plan.design.mechanism, plan.design.table, plan.made_up
    people = table.people
    yield from singled_out(people.filter(pl.col("person").is_in(plan.people)), plan.keep)
    yield from missing_values(mechanism, table, ranges)
    yield from of_recordings(mechanism, table, asked)
    if made_up is None:
        return
    if made_up["why_dropped"]:
        yield f"features of synthetic participants: {', '.join(made_up['carried'])}"
        yield made_up["why_dropped"]
    if not table.step_ms:
        yield (
            "rows follow each other without a regular step: time_ms of synthetic rows is their "
            "number, and no time"
        )


def warnings(certificate: Certificate) -> tuple[str, ...]:
    """What to know before the release is shared, when groups of these people are out already."""
    promised = {each["kind"] for each in certificate.ledger if each["holds"]}
    if Kind.K_ANONYMITY not in promised or len(certificate.ledger) < 2:
        return ()
    others = plural(len(certificate.ledger) - 1, "other release")
    return (
        f"the ledger knows {others} of these people, shared or not: those who combine two may "
        "undo their groups, and one chance in k is true of none of them then; share one only",
    )
