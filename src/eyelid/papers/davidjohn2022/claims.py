"""The claims of the paper and its poster as exhibits: 1/k, the order at equal identification."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from eyelid.engine.engines import Shared, shared, spread
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.literature import POSTER
from eyelid.papers.davidjohn2022.figures import nothing, spoken
from eyelid.papers.davidjohn2022.ksame import found_by_intersection
from eyelid.papers.davidjohn2022.results import Chosen, Order, Results, surely_more
from eyelid.papers.davidjohn2022.trials import (
    MACHINE,
    MODELS,
    PUBLISHED,
    SOUND,
    Setting,
    Shares,
    found_by_nearest,
    of_decisions,
    place,
)
from eyelid.papers.reproduction import Cell, Exhibit, Value
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.unit import PERSON

_PRINTED_TOLD_AT_CHANCE = {"ksame-paper": 0.72, "marginals-paper": 0.53, "exponential-paper": 0.33}
_PRINTED_SECONDS = {"ksame-paper": 60.0, "marginals-paper": 1800.0, "exponential-paper": 60.0}
_IMPACT = ("least", "middle", "most")
_FEWEST_RUNS = 2


def intersections(results: Results, partitions: int, seed: int) -> Exhibit:
    """Groups of one task with those of the others.

    Args:
        results: for its people and its k.
        partitions: how often groups are drawn.
        seed: of the first ones.
    """
    name, title = "Claim of 1/k", "People found by intersecting the groups of all documents"
    paper, ours = PUBLISHED[0], SOUND["ksame-paper"][0]
    ks = [setting.value for setting in results.settings(paper)]
    if results.tasks < 2 or not ks:
        why = results.why_left_out(paper) or "there is one task only: no groups intersect"
        return nothing(name, title, why)
    rows = {
        "groups drawn anew for each document, as printed": paper,
        "the same groups for all documents (ksame)": ours,
    }
    jobs = [Setting(kind.name, k) for kind in rows.values() for k in ks]
    seeds = range(seed, seed + partitions)
    with shared(results.table) as table:
        runs = spread(partial(_found, table, seeds), jobs, "intersecting groups")
        found = {setting: of_decisions(run) for setting, run in zip(jobs, runs, strict=True)}
    cells = [
        Cell(row, place("k", k), 1 / k, leak_free=found[Setting(kind.name, k)])
        for row, kind in rows.items()
        for k in ks
    ]
    cells += [
        Cell(
            "as printed, to whoever knows the groups of each document (computed)",
            place("k", k),
            1 / k,
            leak_free=Value(found_by_intersection(results.people, int(k), results.tasks)),
        )
        for k in ks
    ]
    shown = 4.0 if 4.0 in ks else ks[-1]
    anew, same = (found[Setting(kind.name, shown)].mean for kind in rows.values())
    return Exhibit(
        name=name,
        title=title,
        says=(
            f"At k = {shown:g} whoever has people's raw recordings finds {anew:.2f} of "
            f"{results.people} people behind the printed releases, where 1/k = {1 / shown:.3g} is "
            f"printed, and {same:.2f} where all documents have the same groups (means over "
            f"{partitions} partitions): names link the {results.tasks} documents, and few people "
            "are together in all of them."
        ),
        protocol="none: the paper states 1/k, and does not try it",
        leak_free_protocol=(
            "for each person the released records nearest to their own raw recordings, over all "
            "documents together; ties by lot"
        ),
        cells=tuple(cells),
        chance=results.chance_named,
    )


def _found(table: Shared[FeatureTable], seeds: Sequence[int], setting: Setting) -> list[Shares]:
    return found_by_nearest(table.get(), setting, seeds)


def at_equal_identification(
    results: Results, by_protocol: Order | None, leak_free: Order | None
) -> Exhibit:
    """The paper's ordering, and what each of the mechanisms promises."""
    name, title = "Claim of the ordering", "Utility at equal identification"
    if by_protocol is None or leak_free is None:
        why = results.why_no_document or "not all three mechanisms can be run on so few people"
        return nothing(name, title, why)
    cells = []
    for one in leak_free.chosen:
        row, printed = one.kind.title, by_protocol.of(one.kind.name)
        cells += [
            Cell(row, "k or ε", None, Value(printed.setting.value), Value(one.setting.value)),
            Cell(row, "people named", None, printed.named, one.named),
            Cell(
                row,
                f"document told, {MACHINE}",
                _PRINTED_TOLD_AT_CHANCE.get(one.kind.name),
                printed.told[MACHINE],
                one.told[MACHINE],
            ),
            Cell(row, f"document told, {MODELS[1]}", leak_free=one.told[MODELS[1]]),
        ]
    promises = "; ".join(_promised(results, one) for one in leak_free.chosen)
    return Exhibit(
        name=name,
        title=title,
        says=spoken(
            order_said(results, by_protocol, leak_free),
            f"What a person is promised, and gets, is not equal: {promises}.",
        ),
        protocol=(
            f"at most {by_protocol.level:.2f} of people named as the paper measures, the lowest "
            "rate that all three reach; the paper's own numbers are those at chance (k = 8, ε = 2)"
        ),
        leak_free_protocol=(
            f"at most {leak_free.level:.2f} of people named across documents by the strongest "
            "attacker, the lowest rate that all three reach; documents told with a gap"
        ),
        cells=tuple(cells),
    )


def order_said(results: Results, by_protocol: Order, leak_free: Order) -> str:
    """Whether the published order comes out, under either protocol."""
    titles = ", ".join(kind.title for kind in PUBLISHED)
    said = [
        f"The paper's order of what is left at equal identification is {titles}. As the paper "
        f"measures, at most {by_protocol.level:.2f} of people being named where guessing gives "
        f"{results.chance_named:.2f}, it {_comes_out(by_protocol)}: {_listed(by_protocol)}."
    ]
    for model in MODELS:
        ranked = leak_free.ranked(model)
        steps = [
            surely_more(results, more.setting, less.setting, model)
            for more, less in itertools.pairwise(ranked)
        ]
        if len(results.told_by_person(ranked[0].setting, model)) < _FEWEST_RUNS:
            sure = "of a single run no step can be told from luck"
        else:
            sure = (
                f"{'' if all(steps) else 'not '}each step is more than chance over people and runs"
            )
        said.append(
            f"Honestly, at most {leak_free.level:.2f} being named, it "
            f"{_comes_out(leak_free, model)} by {model}: {_listed(leak_free, model)}; {sure}."
        )
    beyond = [one.kind.title for one in leak_free.chosen if not one.reaches]
    if beyond:
        said.append(f"Above the common rate all the same: {', '.join(beyond)}.")
    return " ".join(said)


def _promised(results: Results, one: Chosen) -> str:
    """What a person is promised at the setting that was chosen."""
    mechanism = one.setting.built(results.table)
    promise = mechanism.cost(mechanism.facts(results.table), PERSON)
    if promise.holds and promise.k is not None:
        what = f"1/{promise.k} at most for naming somebody among the members of a group, no ε"
    elif promise.holds and promise.epsilon is not None:
        what = f"ε = {rounded_up(promise.epsilon)}"
    elif promise.epsilon is not None and math.isfinite(promise.epsilon):
        what = f"nothing (ε = {rounded_up(promise.epsilon)} if the scale of its noise were public)"
    else:
        what = "nothing"
    return f"{one.kind.title} at {place(one.kind.axis, one.setting.value)}: {what}"


def run_times(results: Results) -> Exhibit:
    """Seconds that a release takes."""
    found = {kind: results.seconds(kind) for kind in PUBLISHED}
    done = {kind: seconds for kind, seconds in found.items() if seconds is not None}
    slowest = max(done, key=lambda kind: done[kind].mean)
    return Exhibit(
        name="Run times",
        title="Seconds to release everybody's recordings",
        says=(
            f"The paper prints under a minute for k-same-select and Exponential-DP and about 30 "
            f"minutes for Marginals; here the slowest, {slowest.title}, takes "
            f"{done[slowest].mean:.1f} s for {len(results.table.data):,} rows of "
            f"{len(results.table.features)} features. Ours counts for all rows at once how many "
            "could be the seed of a made-up one."
        ),
        protocol="wall clock of one release, machine not named",
        cells=tuple(
            Cell(kind.title, "seconds", _PRINTED_SECONDS[kind.name], seconds)
            for kind, seconds in done.items()
        ),
        digits=1,
    )


def poster(by_protocol: Order | None, leak_free: Order | None) -> Exhibit:
    """The poster's last row: impact on utility."""
    name, title = "Poster, table", "Impact on utility: 1 least, 2 middle, 3 most"
    if by_protocol is None or leak_free is None:
        return nothing(name, title, "not all three mechanisms could be compared")
    cells = []
    for number, (family, kind) in enumerate(zip(POSTER, PUBLISHED, strict=True), start=1):
        ranks = [
            Value(1.0 + [one.kind for one in order.ranked()].index(kind))
            for order in (by_protocol, leak_free)
        ]
        column = f"impact on utility ({kind.title})"
        cells.append(Cell(family.name, column, number, ranks[0], ranks[1]))
    same = by_protocol.as_published(), leak_free.as_published()
    words = {
        (True, True): "comes out under both protocols",
        (True, False): "comes out as the paper measures, and not honestly",
        (False, True): "does not come out as the paper measures, and does honestly",
        (False, False): "comes out under neither protocol",
    }[same]
    # One column, so that a row is a kind of guarantee.
    cells = [replace(cell, column="impact on utility") for cell in cells]
    return Exhibit(
        name=name,
        title=title,
        says=(
            f"The poster's order ({', '.join(_IMPACT)} for k-anonymity, deniability, differential "
            f"privacy) {words}, by the paper's SVM. It is of one mechanism of each kind as "
            "printed, none of which keeps its promise, and says nothing of the kinds themselves."
        ),
        protocol="accuracy of document type at equal identification, as the paper measures",
        leak_free_protocol="the same across documents, with a gap",
        cells=tuple(cells),
        digits=0,
    )


def _comes_out(order: Order, model: str = MACHINE) -> str:
    return "comes out" if order.as_published(model) else "does not come out"


def _listed(order: Order, model: str = MACHINE) -> str:
    return ", ".join(f"{one.kind.title} {one.told[model].mean:.2f}" for one in order.ranked(model))
