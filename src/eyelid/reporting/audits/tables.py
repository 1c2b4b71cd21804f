"""The figures of an audit as tables and sentences, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eyelid.attacks.groups import GroupFindings
from eyelid.attacks.identification import strongest
from eyelid.attacks.means import MeanFindings
from eyelid.attacks.similarity import Likeness
from eyelid.attacks.streams import StreamMeasures
from eyelid.attacks.streams.measures import MEASURES
from eyelid.attacks.synthetic import ShownHistograms, SyntheticFindings
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.audits.conclusions import concluded_rows
from eyelid.reporting.audits.maps import MapsAudit, findings, map_words, table_words
from eyelid.reporting.audits.page import telling_attributes
from eyelid.reporting.audits.results import TableAudit
from eyelid.reporting.audits.verdict import best_learned
from eyelid.reporting.sentences import coarse, measured_in_words, percent
from eyelid.spelling import Table, plural

_MOST_ROWS = 10
_SHOWN_OF_STREAMS = (
    "fixation_kappa",
    "fixation_event_f1",
    "aoi_agreement",
    "aoi_kappa",
    "gaze_rmse",
    "impossible_saccades_released",
)


def audit_lines(done: TableAudit) -> Iterator[str | Table]:
    """The figures of an audit as tables, the strongest attacker for every protocol."""
    if done.means is not None:
        yield from _means(done.means)
        yield from _concluded(done)
        return
    yield from _naming(done)
    if done.groups is not None:
        fresh = done.target.groups is not None and done.target.groups.fresh
        yield from _groups(done.groups, " (of another run of the mechanism)" if fresh else "")
    if done.histograms is not None:
        yield from _histograms(done.histograms)
    if done.synthetic is not None:
        yield from _made_up(done.synthetic)
    yield from _uses(done)
    yield from _concluded(done)
    yield from _attributes(done)
    if done.error is not None:
        what = "group's mean is off a member's" if done.target.grouped else "released value is off"
        yield f"A {what} by {measured_in_words(done.error, done.error.rmse_of_span)}."
    if done.streams is not None:
        yield from _streams(done.streams)
    yield from _risks(done)


def _naming(done: TableAudit) -> Iterator[Table]:
    """Re-identification rates, by the strongest attacker of every protocol and of the controls."""
    rows = []
    for name in dict.fromkeys(f.protocol for f in done.identification):
        worst = strongest([f for f in done.identification if f.protocol == name])
        rows.append(
            (
                name if worst.honest else f"{name} (the paper's within-release split)",
                worst.attacker,
                str(worst.rate),
                "–" if worst.bound is None else f"{rounded_up(100 * worst.bound, 3)}%",
                "REFUTES" if worst.refutes else "",
            )
        )
    controls = {"raw→raw": done.positive, "people all alike": done.null}
    if done.people is not None:
        # On an original the positive control is the attack itself.
        del controls["raw→raw"]
    for name in dict.fromkeys(f.protocol for f in done.without_gaze):
        controls[name] = tuple(f for f in done.without_gaze if f.protocol == name)
    for name, tried in controls.items():
        if tried:
            worst = strongest(tried)
            rows.append((f"control: {name}", worst.attacker, str(worst.rate), "–", ""))
    if rows:
        chance = f"guessing: {done.identification[0].rate.chance:.0%}"
        most = done.worst
        alone = most is not None and most.bound is not None and most.bound_in_all is None
        allowed = "this release alone allows" if alone else "allowed"
        columns = ["protocol", "strongest attacker", "re-identified (95% limits)", allowed, ""]
        yield Table(f"Re-identified participants ({chance})", columns, rows)


def _uses(done: TableAudit) -> Iterator[Table]:
    """What it is good for, by the models that are best at raw data and at the release."""
    uses: list[tuple[str, ...]] = []
    fair = [use for use in done.utility if not use.protocol.startswith("paper")]
    for target, protocol in dict.fromkeys((use.target, use.protocol) for use in fair):
        mine = [use for use in fair if (use.target, use.protocol) == (target, protocol)]
        best = [max(mine, key=lambda use: use.raw.rate), best_learned(mine)]
        uses += [
            (
                target,
                protocol,
                use.model,
                f"{use.raw.chance:.0%}",
                str(use.raw),
                "–" if use.rate is None else str(use.rate),
            )
            for use in dict.fromkeys(best)
            if use is not None
        ]
    if uses:
        columns = ["recognised", "protocol", "model", "chance", "learned from raw data"]
        title = "What it is good for (share of rows, the models that are best at either)"
        yield Table(title, [*columns, "from the release"], uses)


def _concluded(done: TableAudit) -> Iterator[Table]:
    """What a study would conclude, from the release and without any data."""
    if done.conclusions is None:
        return
    rows = concluded_rows(done.conclusions)
    yield Table("What a study would conclude", ["question", "from the release", "no data"], rows)


def _attributes(done: TableAudit) -> Iterator[Table]:
    """How well attributes of people are recognised."""
    attributes = [
        (a.attribute, a.asks, a.protocol, f"{a.auc.rate:.2f}", f"{a.p_value:.2g}", a.attacker)
        for a in telling_attributes(done)
    ]
    if attributes:
        columns = ["attribute", "which", "protocol", "AUC (a coin: 0.5)", "p", "surest attacker"]
        yield Table("What of people's attributes can be told", columns, attributes)


def _risks(done: TableAudit) -> Iterator[Table]:
    """The people and features of an original that are at risk."""
    if done.people is not None:
        people = [
            (p, "–" if named is None else percent(named), place and f"{place:.2g}", risk)
            for p, named, place, risk, _ in done.people.rows()
        ]
        columns = ["person", "share of times re-identified", "mean place in the list", "risk"]
        yield _first("People at risk", columns, people)
    if done.features is not None:
        features = done.features.select("name", "between_people", "p_adjusted", "rank1").rows()
        told_apart = [
            (name, *("–" if v is None else f"{v:.2g}" for v in values))
            for name, *values in features
        ]
        columns = ["feature", "variance between people", "p (Holm)", "re-identified by it alone"]
        yield _first("Features at risk", columns, told_apart)


def _streams(streams: StreamMeasures) -> Iterator[str | Table]:
    """Whether released gaze still looks like an eye."""
    rows = [
        (
            MEASURES[name].says,
            coarse(found.value),
            " to ".join([coarse(end) for end in (found.low, found.high) if end is not None]),
            MEASURES[name].unit.format(units=streams.units).replace("1", ""),
        )
        for name, found in streams.measures.items()
        if found is not None and name in _SHOWN_OF_STREAMS
    ]
    columns = ["released gaze beside the original's", "over people", "95% limits", "unit"]
    yield Table("Whether it still resembles gaze", columns, rows)


def _groups(groups: GroupFindings, of: str) -> Iterator[str | Table]:
    """What was asked of groups, besides re-identification."""
    asked = {
        "whose records are nearest over all tasks (intersection)": groups.intersection,
        "who is in the same group in every task (all recordings known)": groups.exact_intersection,
        "which group is a participant in (not protected)": groups.linkage,
    }
    for one in groups.redrawn:
        asked[f"who is it, over {groups.partitions} other partitions ({one.protocol})"] = one.rate
    rows = [
        (name, str(rate), f"{rate.chance:.0%}") for name, rate in asked.items() if rate is not None
    ]
    columns = ["question", "found (95% limits)", "chance"]
    yield Table(f"What groups hide, and what not{of}", columns, rows)
    if groups.padding.values:
        yield (
            f"Padding gives away increments of {groups.padding.people} people exactly, "
            f"{groups.padding.share:.2%} of all."
        )
    exactly = " exactly" if groups.collusion.exact else ""
    yield (
        f"Who has the recordings of all but one of a group of {groups.collusion.people} has the "
        f"last one's values{exactly}: an error of {coarse(groups.collusion.rmse_of_span)} of the "
        f"range, where the others' mean is off by {coarse(groups.collusion.blind_rmse_of_span)}."
    )
    if groups.released_again:
        yield (
            "Released again with other groups, computing them re-identifies "
            + ", ".join(f"{rate:.0%} after {n}" for n, rate in enumerate(groups.released_again, 1))
            + "."
        )
    for same in groups.homogeneity:
        if same.alike > 0:
            yield f"{same.attribute}: {same.alike:.0%} of people are in a group that is all alike."


def _histograms(shown: ShownHistograms) -> Iterator[str | Table]:
    """What rows drawn from histograms without noise show of single people."""
    rows = [
        ("bins that one person alone fills", f"{shown.alone} of {shown.filled}", shown.shown),
        ("people who are alone in a bin", "", shown.people),
        ("ends of ranges that one person alone reaches", shown.ends, shown.ends_shown),
    ]
    columns = ["histograms without noise", "there are", "the release shows"]
    yield Table("What is seen of single people", columns, rows)


def _made_up(made_up: SyntheticFindings) -> Iterator[str | Table]:
    """What was asked of synthetic rows or people."""
    if made_up.membership is not None:
        found = made_up.membership
        allowed = "–" if found.bound is None else f"{rounded_up(100 * found.bound, 3)}%"
        what = plural(made_up.rows, "row")
        if made_up.people is not None:
            what = plural(made_up.people, "person", "people")
        rows = [(what, made_up.attacker, str(found.advantage), allowed)]
        if made_up.positive is not None:
            control = ("control: hardly any noise", "the same", str(made_up.positive.advantage), "")
            rows.append(control)
        columns = ["synthetic", "attacker goes by", "advantage (95% limits)", "allowed"]
        yield Table("Which of two people was in it (guessing: 0%)", columns, rows)
        yield f"The attacker {made_up.attack}."
    if made_up.likeness is not None:
        yield from _likeness(made_up, made_up.likeness)
    yield (
        f"Values lie {coarse(made_up.wasserstein)} of the range from people's distribution; "
        f"evenly spread ones would be {coarse(made_up.uniform)}."
    )
    yield (
        f"{made_up.copies or 'No'} synthetic rows are rows of the original; they are "
        f"{coarse(made_up.nearest_of_span)} of the range from the nearest, and people's "
        f"{coarse(made_up.people_apart_of_span)} from other people's. That is no guarantee."
    )


def _likeness(made_up: SyntheticFindings, like: Likeness) -> Iterator[str | Table]:
    """How like people synthetic ones are, beside what would be off without them."""
    expected = made_up.expected_share_error
    rows = [
        (
            "share of a task in a quarter of a feature",
            coarse(made_up.share_error),
            "–" if expected is None else coarse(expected),
            coarse(made_up.share_size),
        ),
        ("correlation of two features", coarse(like.pair_difference), "", coarse(like.pair_size)),
        ("trend over a recording (sd)", coarse(like.trend_difference), "", coarse(like.trend_size)),
        ("length of recordings", f"{like.length_distance:.0%}", "", ""),
        *(
            (f"correlation with itself {plural(lag, 'row')} later", coarse(off), "", coarse(real))
            for lag, real, _, off in like.memories
        ),
    ]
    shown = [row for row in rows if "nan" not in row]
    columns = ["what", "off by", "expected from public facts", "what there is"]
    yield Table("How like people they are", columns, shown)


def _means(means: MeanFindings) -> Iterator[str | Table]:
    """What was asked of means over people: they name nobody."""
    asked = {
        "who is in it": means.membership,
        "control: without noise": means.positive,
        "control: does not depend on it": means.null,
    }
    rows = [
        (
            name,
            str(found.advantage),
            "–" if found.bound is None else f"{rounded_up(100 * found.bound, 3)}%",
            "REFUTES" if found.refutes else "",
        )
        for name, found in asked.items()
        if found is not None
    ]
    columns = ["attack", "advantage (95% limits)", "allowed", ""]
    yield Table("Who is in such a mean (guessing: 0%)", columns, rows)
    groups = ", ".join(f"{name} ({people})" for name, people in means.sizes)
    yield f"Groups: {groups}."
    whose = "mean of a fresh run" if means.redrawn else "released mean"
    yield (
        f"A {whose} is off by {measured_in_words(means.error, means.error.rmse_of_span)}, the "
        f"data-free guess (range midpoint) by {coarse(means.constant_rmse_of_span)} of the "
        "range."
    )


def heatmap_lines(done: MapsAudit) -> Iterator[str | Table]:
    """What was asked of a heatmap, and how much of the one without noise is left."""
    rows = [(one.of, one.attack, one.found, one.means) for one in findings(done)]
    yield Table("Is any participant exposed?", ["of", "attack", "found", "means"], rows)
    maps = [
        (
            use.name or "all",
            coarse(use.released.correlation or 0.0),
            coarse(use.blob.correlation or 0.0),
            coarse(use.released.nmse),
            map_words(use),
        )
        for use in done.uses
    ]
    if maps:
        columns = ["map", "correlation", "a public blob's", "squared error (blank picture: 1)", ""]
        yield _first("What is left of the heatmap without noise", columns, maps)
    tables = [
        (table.name, coarse(table.rmse), coarse(table.nothing_rmse), table_words(table))
        for table in done.tables
    ]
    if tables:
        columns = ["table", "error", "error of saying nothing", ""]
        yield Table("What is left of the tables of areas without noise", columns, tables)


def _first(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """The first rows of a long table."""
    more = f" (the first {_MOST_ROWS} of {len(rows)})" if len(rows) > _MOST_ROWS else ""
    return Table(title + more, columns, rows[:_MOST_ROWS])
