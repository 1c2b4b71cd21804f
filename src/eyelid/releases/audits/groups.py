"""Means over groups of at least k people, without noise: attacked under all members' names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.anonymity import (
    RecoveredGroups,
    known_partition,
    mean_off_of_span,
    recover_partition,
)
from eyelid.attacks.attackers import default_attackers
from eyelid.attacks.error import error_of
from eyelid.attacks.groups import PROTOCOLS, Grouped, audit_groups, one_a_group
from eyelid.attacks.identification import identify, with_bounds
from eyelid.attacks.outcome import (
    Outcome,
    Trial,
    attacked_records,
    by_intersection,
    fresh_noise,
    named_by_rows,
)
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.attacks.records import empty_cells, values_of
from eyelid.attacks.target import GroupsTarget, TableTarget, folded
from eyelid.engine.progress import one_bar
from eyelid.errors import InputError
from eyelid.gaze.study import ROW_KEY
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.averages import rows_that_end
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.groups.partition import group_sizes
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.privacy.noise import randomness
from eyelid.releases.audits.attack import AuditPlan, TableAttack, noted
from eyelid.releases.audits.records import (
    PARTS,
    controls_apart,
    inferred,
    possible,
    progress,
    recognised,
)
from eyelid.reporting.audits.results import GroupsAudit

# In ranges of features: what rounding does to a mean; less than a step of the grid of sums.
_ROUNDING = 1e-12
# What it does to a mean over draws.
_DRAWN = 1e-9
# And to one of values that were not put on that grid.
_GRID = 2.0**-36


class GroupsAttack(TableAttack):
    """One record a group, or copies of it, under no person's name."""

    targets: ClassVar[type[TableTarget]] = GroupsTarget

    def besides(self, target: TableTarget) -> tuple[list[str], list[str]]:
        """What lies in the folder: that nothing else is released is what 1/k rests on."""
        _, more = super().besides(target)
        return (more, []) if target.claims_to_hold else ([], more)

    def completed(self, target: TableTarget) -> TableTarget:
        """The pair with who is in which group, as far as that can be found out."""
        released = target.released
        assert released is not None, "there is no release"
        mechanism = cast(KSame | None, target.mechanism)
        if mechanism is not None:
            # Attackers have the very rows that went into the means.
            target = replace(target, original=mechanism.taken(target.original))
        groups, wrong = found_groups(mechanism, target.original, released)
        if target.certificate is None and (groups is None or wrong):
            raise InputError(
                "the release has groups of people, without a certificate, and they are not plain "
                "means over people of the original: are these the right two? (means with noise "
                "need their certificate)"
            )
        fresh = []
        if groups is not None and groups.fresh:
            drawn = groups.mechanism.spread is not None
            fresh = [_drawn_anew() if drawn else _fresh_run(target.original)]
        return super().completed(
            noted(replace(target, groups=groups), *fresh, inconsistencies=wrong)
        )

    def audit(self, target: GroupsTarget, plan: AuditPlan) -> GroupsAudit:
        """Who of a group is it, and what do its members learn?"""
        if target.groups is None:
            # Refuted already: what is there to attack is not known.
            return GroupsAudit(**plan.about(target))
        with one_bar(sum(PARTS.values())) as advance:
            material, seed = target.material(plan.seed), plan.seed
            attackers = plan.attackers or default_attackers(target.people)
            not_named = _cannot_be_parted(material)
            asked = [one for one in plan.protocols if one.name in PROTOCOLS]
            protocols = [] if not_named else possible(material, asked)
            together = target.groups.groups_of(material.people)
            # Attackers get the means, which is more than draws around them.
            shared = Material(material.original, target.groups.shared(seed))
            used = recognised(shared, plan, advance, together)
            findings = []
            if not not_named:
                with progress(advance, "attacking"):
                    asked = [POSITIVE, *protocols]
                    findings = identify(material, attackers, asked, seed, over_all=PROTOCOLS)
            positive, findings = controls_apart(findings)
            common = inferred(target, material, () if not_named else attackers, plan, advance)
            assert shared.released is not None, "groups are released"
            return GroupsAudit(
                **common,
                positive=tuple(positive),
                identification=tuple(with_bounds(findings, target.bounds())),
                # Members of a group share their records: no part of it is another person's.
                utility=tuple(use for use in used if not use.protocol.startswith("paper")),
                not_named=not_named,
                error=error_of(shared.original, shared.released),
                groups=audit_groups(
                    target.groups, attackers, [p.name for p in protocols], seed=seed
                ),
            )

    def measure(self, trial: Trial) -> Outcome:
        """Means of random groups, attacked under the names of all members."""
        mechanism, seed = trial.mechanism, trial.seed
        table = mechanism.taken(trial.table)
        member = mechanism.partition(table, fresh_noise(seed, b"who is with whom"))
        grouped = Grouped(mechanism, table, one_a_group(mechanism, table, member), member)
        material, shared = Material(table, grouped.named()), Material(table, grouped.shared(seed))
        together = grouped.groups_of(material.people)
        found = attacked_records(shared, trial.questions, seed, together)
        return found.with_named(named_by_rows(material) | by_intersection(material))


def _cannot_be_parted(material: Material) -> tuple[str, ...]:
    """Why nothing can be known beforehand and something else be shown; nothing where it can."""
    try:
        # Looked at once, and kept.
        _ = material.honest_splits
    except InputError as error:
        return (f"re-identification from other recordings was not tried: {error}",)
    return ()


def _fresh_run(original: FeatureTable) -> str:
    """What was and was not checked where nobody can find out who is in which group."""
    people = original.recordings["person"].n_unique()
    return (
        "the release has too few values, or people are too much alike, to find out who of "
        f"{people} is in which group, so that it was not checked whether its records are means "
        "over the people of one partition, nor attacked with these groups. Checked was what is "
        "true for all groupings: the sizes of groups, their recordings and rows, and that the "
        "mean over all groups, wherever nobody lacks a value, is the mean over everybody. Attacks "
        "and errors are of another run of the same mechanism with groups of its own"
    )


def found_groups(
    mechanism: KSame | None, original: FeatureTable, released: FeatureTable
) -> tuple[Grouped | None, list[str]]:
    """Who is in which of the released groups, and what of them is not as it should be, in words.

    Where there are too few values to find that out, another run with groups of its own stands in
    for those who attack, and of the release is checked what can be without.

    Args:
        mechanism: as it was run; None where nobody says.
        original: what was released from, with the bounds that values were clipped to.
        released: one released person a group, or copies of each.
    """
    drawn = mechanism is not None and mechanism.spread is not None
    means, wrong = folded(released, drawn)
    if means is None:
        return None, [wrong]
    if mechanism is not None and drawn:
        return _fresh(mechanism, original), list(
            _wrong_in_all(mechanism, original, means, released)
        )
    try:
        found = recover_partition(original, means)
    except InputError:
        if mechanism is None:
            raise InputError(
                "the release has too few values to find out who of "
                f"{original.recordings['person'].n_unique()} people is in which group, and no "
                "certificate says how it was made: give the folder with its certificate.json"
            ) from None
        return _fresh(mechanism, original), list(
            _wrong_in_all(mechanism, original, means, released)
        )
    wrong = _no_partition(found)
    if wrong and mechanism is not None and found.exact and not found.determined:
        # People who are alike can stand for each other: that refutes nothing.
        return _fresh(mechanism, original), list(
            _wrong_in_all(mechanism, original, means, released)
        )
    if wrong:
        return None, [wrong]
    member = found.behind_all.argmax(axis=0)
    if mechanism is None:
        # Whatever length was asked for, no group has more rows than the longest.
        longest = int(means.recordings["rows"].to_numpy().max())
        mechanism = KSame(k=max(2, int(np.bincount(member).min())), length=longest)
    grouped = Grouped(mechanism, original, means, member, found)
    return grouped, list(_not_as_promised(grouped, released))


def _no_partition(found: RecoveredGroups) -> str:
    """Why records are not those of one partition of people; nothing if they are."""
    if not found.exact:
        return "what is released are not the means over groups of these people"
    if not found.one_partition:
        return "the groups are not the same in all recordings, so that they intersect"
    if (found.behind_all.sum(axis=0) != 1).any():
        return "a person is in several groups, or in none"
    return ""


def _fresh(mechanism: KSame, original: FeatureTable) -> Grouped:
    """Another run of the same mechanism, of which it is known who is in which group."""
    member = mechanism.partition(
        original, randomness(np.random.default_rng([*b"a run of our own"]))
    )
    means = one_a_group(mechanism, original, member)
    return Grouped(
        mechanism, original, means, member, known_partition(original, means, member), True
    )


def _wrong_in_all(
    mechanism: KSame, original: FeatureTable, means: FeatureTable, released: FeatureTable
) -> Iterator[str]:
    """What would be false for any groups."""
    everybody = original.recordings["person"].n_unique()
    stated = dict(means.people.select("person", "people").iter_rows())
    names = means.recordings["person"].unique(maintain_order=True)
    sizes = np.array([stated.get(name, 0) for name in names], dtype=np.int64)
    if sorted(sizes.tolist()) != sorted(group_sizes(everybody, mechanism.k)):
        yield "the groups of the release have not the sizes that the mechanism gives them"
        return
    yield from _surplus(released)
    if _impossible(mechanism, original, means, sizes):
        yield "the groups have other recordings or rows than so many people can have in common"
    if mechanism.spread is not None:
        # Of draws the mean is the group's only where no bound cuts one off.
        means = _cut_nowhere(released, means)
    off = mean_off_of_span(original, means, sizes)
    if off is not None and off > (_GRID if mechanism.spread is None else _DRAWN):
        yield "the mean over all groups is not the mean over everybody"


def _cut_nowhere(released: FeatureTable, means: FeatureTable) -> FeatureTable:
    """The means of draws, empty where one of these lies at a bound."""
    keys = ["group", "recording", "time_ms"]
    group = pl.col("person").str.replace(r"-\d+$", "").alias("group")
    at_a_bound = [
        ((pl.col(f.name) <= f.lower) | (pl.col(f.name) >= f.upper)).any().alias(f.name)
        for f in means.features
    ]
    cut = released.data.group_by(group, "recording", "time_ms").agg(at_a_bound)
    both = means.data.with_columns(pl.col("person").alias("group")).join(
        cut, on=keys, how="left", suffix=" cut", maintain_order="left"
    )
    kept = [pl.when(~pl.col(f"{name} cut")).then(pl.col(name)).alias(name) for name in means.names]
    return replace(means, data=both.with_columns(kept).select(means.data.columns))


def _drawn_anew() -> str:
    """What was and was not checked where people are drawn around the means."""
    return (
        "synthetic participants are drawn around the means of groups, so that it was not checked "
        "whether these are means over the people of one partition. Checked was what is true for "
        "all groupings: the sizes of groups, their recordings and rows, and that the mean over "
        "all groups, wherever nobody lacks a value and no draw lies at a bound, is the mean over "
        "everybody. Attacks are on the means of another run of the same mechanism, with groups of "
        "its own: on more than is released. What the data are good for, and their error, was "
        "measured on what that run draws around its means"
    )


def _impossible(
    mechanism: KSame, original: FeatureTable, means: FeatureTable, sizes: NDArray[np.int64]
) -> bool:
    """Whether groups have recordings, or rows of them, that too few people have."""
    slots, shown = slots_of(original), means.recordings
    rows, lengths = rows_that_end(original), means.recordings["rows"].to_numpy()
    most = original.recordings["rows"].to_numpy().max()
    if isinstance(mechanism.length, int):
        most = mechanism.length
    elif mechanism.length == "shortest":
        most = original.shortest
    if (lengths > most).any() or not set(shown["recording"]) <= set(slots.names["recording"]):
        return True
    group = shown["person"].rle_id().to_numpy()
    for slot, name in enumerate(slots.names["recording"]):
        have = np.sort(rows[slots.slot == slot])[::-1]
        here = (shown["recording"] == name).to_numpy()
        people = sizes[group[here]]
        all_of_it = have.size == sizes.sum()
        if people.sum() > have.size or (all_of_it and people.size < sizes.size):
            return True
        # As many people as the group has go on at least so long.
        if (lengths[here] > have[people - 1]).any():
            return True
    return False


def _surplus(released: FeatureTable) -> Iterator[str]:
    """What a release tells of its groups that none tells."""
    extra = [name for name in released.people.columns if name not in ("person", "people")]
    if extra:
        yield f"the release tells more of its groups than their sizes ({extra[0]})"


def _not_as_promised(grouped: Grouped, released: FeatureTable) -> Iterator[str]:
    """What a release of these groups would have otherwise."""
    smallest = int(grouped.sizes.min())
    if smallest < grouped.mechanism.k:
        yield (
            f"a group has {smallest} people, and the certificate promises at least "
            f"{grouped.mechanism.k}"
        )
    made = one_a_group(grouped.mechanism, grouped.original, grouped.member)
    theirs = grouped.means
    if not made.data.select(*ROW_KEY).equals(theirs.data.select(*ROW_KEY)):
        yield "the groups have other recordings or rows than all of their members have"
        return
    values, shown = (values_of(grouped.original, table.data) for table in (made, theirs))
    empty, theirs_empty = (empty_cells(grouped.original, table.data) for table in (made, theirs))
    if not np.array_equal(empty, theirs_empty):
        yield "some released values are there though a member of their group has none, or missing"
    elif not np.allclose(values, shown, rtol=0.0, atol=_ROUNDING):
        yield "some released values are not the means over the people of their group"
    yield from _surplus(released)
    if "people" in released.people.columns:
        stated = dict(released.people.select("person", "people").iter_rows())
        if stated != dict(made.people.select("person", "people").iter_rows()):
            yield "the release states other numbers of people than its groups have"
