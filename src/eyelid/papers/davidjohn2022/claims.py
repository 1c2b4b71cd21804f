"""The claims of the paper and its poster as exhibits: 1/k, the ordering, run times, datasets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial

from eyelid.engine.engines import Shared, shared, spread
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.literature import POSTER
from eyelid.papers.davidjohn2022 import printed, protocols
from eyelid.papers.davidjohn2022.datasets import NUMBERS
from eyelid.papers.davidjohn2022.figures import MODEL_WORDS, agreement, nothing, spoken
from eyelid.papers.davidjohn2022.ksame import found_by_intersection
from eyelid.papers.davidjohn2022.results import Chosen, Order, Results, surely_more, told_by
from eyelid.papers.davidjohn2022.trials import (
    FOREST,
    PUBLISHED,
    READINGS,
    SAMPLED_MACHINE,
    SOUND,
    Setting,
    Shares,
    found_by_nearest,
    of_decisions,
    place,
)
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.unit import PERSON

ANEW_ROW = "groups drawn anew for each document (pseudocode, poster)"
ONCE_ROW = "one partition for all documents (text)"
OURS_ROW = "one partition, ours (ksame)"
_APPROXIMATION = " (2,000 windows, approximation)"
_IMPACT = ("least", "middle", "most")
_FEWEST_RUNS = 2
_MINUTE_MS = 60_000.0
_NO_PROTECTION = 1000.0
# Machines differ: times within this factor are the same.
_SAME_TIME = 3.0


def intersections(results: Results, partitions: int, seed: int) -> Exhibit:
    """The intersection attack on both readings of the grouping, and on ours.

    Args:
        results: for its people and its k.
        partitions: how often groups are drawn.
        seed: of the first ones.
    """
    name, title = "Claim of 1/k", "Re-identification by intersecting the groups of all documents"
    paper = PUBLISHED[0]
    ks = [setting.value for setting in results.settings(paper)]
    if results.tasks < 2 or not ks:
        why = results.why_left_out(paper) or "there is one task only: no groups intersect"
        return nothing(name, title, why)
    rows = {
        ANEW_ROW: paper.name,
        ONCE_ROW: READINGS[paper.name][0].name,
        OURS_ROW: SOUND[paper.name][0].name,
    }
    jobs = [Setting(kind, k) for kind in rows.values() for k in ks]
    seeds = range(seed, seed + partitions)
    with shared(results.table) as table:
        runs = spread(partial(_found, table, seeds), jobs, "intersecting groups")
        found = {setting: of_decisions(run) for setting, run in zip(jobs, runs, strict=True)}
    cells = [
        Cell(
            row,
            place("k", k),
            None if row == OURS_ROW else 1 / k,
            leak_free=found[Setting(kind, k)],
        )
        for row, kind in rows.items()
        for k in ks
    ]
    cells += [
        Cell(
            "drawn anew, attacker knows the group in each document (computed)",
            place("k", k),
            1 / k,
            leak_free=Value(found_by_intersection(results.people, int(k), results.tasks)),
        )
        for k in ks
    ]
    # What becomes of a rest is not printed: no verdict hangs on it where that can be helped.
    whole = [k for k in ks if results.people % k == 0]
    shown = 4.0 if 4.0 in whole else max(whole, default=ks[-1])
    anew, once, ours = (found[Setting(kind, shown)].mean for kind in rows.values())
    bound = 1 / shown
    once_kind = rows[ONCE_ROW]
    above = [k for k in ks if found[Setting(once_kind, k)].mean > 1 / k and results.people % k]
    small = ", ".join(f"{found[Setting(once_kind, k)].mean:.2f} at k = {k:g}" for k in above)
    rest = (
        " With a last group of fewer than k, which the paper leaves open, one partition passes "
        f"1/k: {small}."
    )
    return Exhibit(
        name=name,
        title=title,
        says=(
            'The paper: "the theoretical risk of re-identification attacks [is] bounded above '
            'by 1/k". '
            f"At k = {shown:g} (1/k = {bound:.3g}) an attacker who has people's raw recordings "
            f"re-identifies {anew:.2f} of {results.people} where groups are drawn anew for each "
            f"document, {once:.2f} where one partition serves all, and {ours:.2f} with ksame "
            "(means "
            f"over {partitions} partitions). Drawn anew, names link the {results.tasks} "
            "documents, and "
            "few people are together in all of them." + rest * bool(above)
        ),
        protocol=protocols.GROUPS.name,
        quantity="share of people whose own name is found",
        cells=tuple(cells),
        chance=results.chance_named,
        verdict=Verdict(claim=_bound_outcome(anew <= bound, once <= bound)),
        headline=(ANEW_ROW, place("k", shown)),
    )


def _bound_outcome(anew: bool, once: bool) -> Outcome:
    """Whether the bound is kept in both readings, in one, or in none."""
    return {2: Outcome.YES, 1: Outcome.PARTLY, 0: Outcome.NO}[anew + once]


def _found(table: Shared[FeatureTable], seeds: Sequence[int], setting: Setting) -> list[Shares]:
    return found_by_nearest(table.get(), setting, seeds)


def ordering(results: Results) -> Exhibit:
    """The paper's order of mechanisms at the parameters where it has nobody re-identified."""
    name, title = "Claim of the ordering", "Document type at the paper's parameters"
    settings = [Setting(kind.name, printed.AT_CHANCE[kind.name]) for kind in PUBLISHED]
    if results.why_no_document or any(one not in results.outcomes for one in settings):
        why = results.why_no_document or "not all three mechanisms can be run on so few people"
        return nothing(name, title, why)
    model = results.machine
    cells = []
    for kind, setting in zip(PUBLISHED, settings, strict=True):
        found = printed.told(setting)
        shown, by_protocol_value = told_by(results.told_by_protocol(setting), model)
        approximately = _APPROXIMATION if shown == SAMPLED_MACHINE else ""
        cells.append(
            Cell(
                f"{kind.title}, {place(kind.axis, setting.value)}{approximately}",
                "document type by the paper's SVM",
                found.number,
                by_protocol_value,
                results.told(setting)[shown],
                found.inferred,
            )
        )
    by_protocol, leak_free = (
        [value.mean for value in values]
        for values in (
            [cell.by_protocol for cell in cells if cell.by_protocol],
            [cell.leak_free for cell in cells if cell.leak_free],
        )
    )
    forest = [results.told(setting)[FOREST].mean for setting in settings]
    exact = model != SAMPLED_MACHINE
    learned = "" if exact else _APPROXIMATION
    orders = {
        f"by the paper's protocol{learned}": by_protocol,
        "leak-free by the same SVM": leak_free,
        "leak-free by an oblique forest": forest,
    }
    said = "; ".join(
        f"{how} it {'comes out' if _falls(values) else 'does not come out'} "
        f"({', '.join(f'{value:.2f}' for value in values)})"
        for how, values in orders.items()
    )
    outcomes = {2: Outcome.YES, 1: Outcome.PARTLY, 0: Outcome.NO}
    return Exhibit(
        name=name,
        title=title,
        says=(
            f"The paper's order is {', '.join(kind.title for kind in PUBLISHED)}: {said}. "
            f"{_first_step(results, settings)}"
        ),
        protocol=protocols.ORDER.name,
        quantity="share of windows whose document type is told",
        cells=tuple(cells),
        chance=results.chance_told,
        verdict=Verdict(
            agreement(cells) if exact else Outcome.OPEN,
            outcomes[_falls(leak_free) + _falls(forest)] if exact else Outcome.OPEN,
        ),
    )


def _falls(values: Sequence[float]) -> bool:
    return all(more > less for more, less in itertools.pairwise(values))


def _first_step(results: Results, settings: Sequence[Setting]) -> str:
    """Whether k-same and Marginals can be told apart, which is what the order hangs on."""
    if len(results.outcomes[settings[0]]) < _FEWEST_RUNS:
        return "Of a single run no step can be told from luck."
    sure = []
    for model in (results.machine, FOREST):
        one, other = (results.told(setting)[model].mean for setting in settings[:2])
        more, less = (settings[0], settings[1]) if one > other else (settings[1], settings[0])
        sure.append(surely_more(results, more, less, model))
    if all(sure):
        return "That k-same and Marginals differ is more than luck of people and runs, by both."
    luck = [model for model, kept in zip((results.machine, FOREST), sure, strict=True) if not kept]
    words = " and ".join(MODEL_WORDS[model] for model in luck)
    return f"By {words}, which of k-same and Marginals keeps more may be luck of people and runs."


def equal_identification(
    results: Results, by_protocol: Order | None, order: Order | None
) -> Exhibit:
    """What each mechanism keeps where as many people are re-identified, and what it promises.

    Args:
        results: of the readers.
        by_protocol: mechanisms at the common rate by the paper's protocol.
        order: the same leak-free.
    """
    name, title = "Equal identification", "Document type where as many people are re-identified"
    if by_protocol is None or order is None:
        why = results.why_no_document or "not all three mechanisms can be run on so few people"
        return nothing(name, title, why)
    model = results.machine
    cells = []
    for one in order.chosen:
        row = f"{one.kind.title}, {place(one.kind.axis, one.setting.value)}"
        shown, kept = one.kept(model)
        row += _APPROXIMATION if shown == SAMPLED_MACHINE else ""
        cells += [
            Cell(row, "re-identified", leak_free=one.named),
            Cell(row, "told: the paper's SVM", leak_free=kept),
            Cell(row, f"told: {MODEL_WORDS[FOREST]}", leak_free=one.told[FOREST]),
        ]
    beyond = [one.kind.title for one in order.chosen if not one.reaches]
    by_paper = ", ".join(
        f"{one.kind.title} {one.kept(model)[1].mean:.2f} at "
        + place(one.kind.axis, one.setting.value)
        for one in by_protocol.ranked(model)
    )
    promises = "; ".join(_promised(results, one) for one in order.chosen)
    return Exhibit(
        name=name,
        title=title,
        says=spoken(
            f"By the paper's protocol all three reach {by_protocol.level:.2f}, where they keep "
            f"{by_paper}. Leak-free, by the strongest attacker, all three reach {order.level:.2f}.",
            f"Above that all the same: {', '.join(beyond)}." if beyond else "",
            f"What a person is guaranteed is not equal: {promises}.",
        ),
        protocol=protocols.ORDER.name,
        quantity="shares: of decisions, and of windows",
        cells=tuple(cells),
        verdict=Verdict(),
    )


def _promised(results: Results, one: Chosen) -> str:
    """What a person is guaranteed at the setting that was chosen."""
    mechanism = one.setting.built(results.table)
    promise = mechanism.cost(mechanism.facts(results.table), PERSON)
    if promise.holds and not results.valid(one.kind):
        what = "nothing (its bounds are those of the data)"
    elif promise.holds and promise.k is not None:
        what = f"at most 1/{promise.k} for telling the members of a group apart, no ε"
    elif promise.holds and promise.epsilon is not None:
        what = _epsilon(promise.epsilon)
    elif promise.epsilon is not None and math.isfinite(promise.epsilon):
        what = f"nothing ({_epsilon(promise.epsilon)} if the scale of its noise were public)"
    else:
        what = "nothing"
    return f"{one.kind.title} at {place(one.kind.axis, one.setting.value)}: {what}"


def _epsilon(epsilon: float) -> str:
    """An ε for people; beyond a thousand it protects nobody.

    >>> _epsilon(4.0), _epsilon(15_600.0)
    ('ε = 4', 'ε over 1,000, no practical protection')
    """
    if epsilon > _NO_PROTECTION:
        return "ε over 1,000, no practical protection"
    return f"ε = {rounded_up(epsilon)}"


def run_times(results: Results) -> Exhibit:
    """Seconds that a release takes."""
    found = {kind: results.seconds(kind) for kind in PUBLISHED}
    done = {kind: seconds for kind, seconds in found.items() if seconds is not None}
    means = {kind.name: seconds.mean for kind, seconds in done.items()}
    slowest = max(done, key=lambda kind: done[kind].mean)
    return Exhibit(
        name="Run times",
        title="Seconds to release everybody's recordings",
        says=(
            f"The slowest here, {slowest.title}, takes {done[slowest].mean:.1f} s for "
            f"{len(results.table.data):,} rows of {len(results.table.features)} features. The "
            "paper finds deniability computationally expensive, since candidates are made first "
            "and then tested; for the Marginals ours counts at once, for all rows, how many could "
            "be the seed of a synthetic one."
        ),
        protocol=protocols.TIMES.name,
        quantity="seconds",
        cells=tuple(
            Cell(
                kind.title,
                "seconds",
                printed.SECONDS[kind.name].number,
                seconds,
                inferred=printed.SECONDS[kind.name].inferred,
            )
            for kind, seconds in done.items()
        ),
        digits=1,
        timed=True,
        verdict=Verdict(_as_long_as_printed(means), _costs_much(means)),
    )


def _as_long_as_printed(seconds: Mapping[str, float]) -> Outcome:
    """Whether times are below a printed limit, or near a printed time."""
    right = []
    for name, found in seconds.items():
        number = printed.SECONDS[name].number
        assert number is not None, f"a time of {name} is printed"
        least = 0.0 if name in printed.AT_MOST else number / _SAME_TIME
        most = number if name in printed.AT_MOST else number * _SAME_TIME
        right.append(least <= found <= most)
    return Outcome.YES if all(right) else Outcome.PARTLY if any(right) else Outcome.NO


def _costs_much(seconds: Mapping[str, float]) -> Outcome:
    """Whether deniability takes clearly longest: "deploying PD is computationally expensive"."""
    own = seconds.get("marginals-paper")
    others = [each for name, each in seconds.items() if name != "marginals-paper"]
    if own is None or not others:
        return Outcome.OPEN
    return Outcome.YES if own > _SAME_TIME * max(others) else Outcome.NO


def poster(by_protocol: Order | None, order: Order | None, model: str) -> Exhibit:
    """The poster's last row: impact on utility.

    Args:
        by_protocol: mechanisms at the common rate by the paper's protocol.
        order: the same leak-free.
        model: who tells documents.
    """
    name, title = "Poster, table", "Impact on utility: 1 least, 2 middle, 3 most"
    if by_protocol is None or order is None:
        return nothing(name, title, "not all three mechanisms could be compared")
    cells = []
    for number, (family, kind) in enumerate(zip(POSTER, PUBLISHED, strict=True), start=1):
        paper, ours = (
            Value(1.0 + [one.kind for one in each.ranked(model)].index(kind))
            for each in (by_protocol, order)
        )
        cells.append(Cell(family.name, "impact on utility", number, paper, ours))
    same = by_protocol.as_published(model), order.as_published(model)
    words = {
        (True, True): "comes out by both protocols",
        (True, False): "comes out by the paper's protocol, and not leak-free",
        (False, True): "does not come out by the paper's protocol, and does leak-free",
        (False, False): "comes out by neither protocol",
    }[same]
    outcomes = {True: Outcome.YES, False: Outcome.NO}
    exact = model != SAMPLED_MACHINE
    return Exhibit(
        name=name,
        title=title,
        says=(
            f"The poster's order ({', '.join(_IMPACT)} for k-anonymity, deniability, differential "
            f"privacy) {words}, by the SVM at equal identification. It is of one mechanism of "
            "each kind "
            "as printed, and says nothing of the kinds themselves."
        ),
        protocol=protocols.ORDER.name,
        quantity="place in the order",
        cells=tuple(cells),
        digits=0,
        verdict=Verdict(*(outcomes[one] if exact else Outcome.OPEN for one in same)),
    )


def table_2(table: FeatureTable) -> Exhibit:
    """The paper's datasets in numbers, and ours of the one that is at hand.

    Args:
        table: windows of MPIIDPEye, or of simulated participants.
    """
    rows = table.recordings["rows"].to_numpy()
    minutes = ((rows - 1) * (table.step_ms or 0.0) + (table.window_ms or 0.0)) / _MINUTE_MS
    people = table.recordings["person"].n_unique()
    ours = (people, table.recordings["task"].n_unique(), float(minutes.sum()) / people)
    heads = ("participants", "stimuli", "minutes per participant")
    whose = "Simulated" if table.simulated else "MPIIDPEye"
    cells = [
        Cell(
            dataset,
            head,
            number,
            Value(float(ours[place_])) if dataset == "MPIIDPEye" else None,
        )
        for dataset, numbers in NUMBERS.items()
        for place_, (head, number) in enumerate(zip(heads, numbers, strict=True))
    ]
    return Exhibit(
        name="Table 2",
        title="Datasets",
        says=(
            f"{whose} here: {people} participants, {ours[1]} documents, {ours[2]:.0f} minutes of "
            "windows each. The printed chance rate is 1 / participants. "
            "'eyelid reproduce davidjohn2022 --datasets' prints the whole table."
        ),
        protocol=protocols.TABLE_2.name,
        cells=tuple(cells),
        digits=0,
        verdict=Verdict(agreement_of_counts(cells)),
    )


def agreement_of_counts(cells: Sequence[Cell]) -> Outcome:
    """Whether people and stimuli are as many as printed, and minutes to a tenth."""
    near = [
        abs(cell.by_protocol.mean - cell.printed) <= (0.1 * cell.printed if timed else 0)
        for cell in cells
        for timed in (cell.column.startswith("minutes"),)
        if cell.by_protocol is not None and cell.printed is not None
    ]
    return Outcome.YES if all(near) else Outcome.PARTLY if any(near) else Outcome.NO
