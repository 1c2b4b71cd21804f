"""``eyelid audit``: how identifiable is this, and does a release keep its promise?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import (
    ColumnMap,
    EngineName,
    Json,
    LedgerFile,
    MinSeconds,
    People,
    Quiet,
    Workers,
    column_map,
    note,
    print_json,
    print_table,
    say,
    working,
)
from eyelid.errors import InputError

if TYPE_CHECKING:
    from eyelid.attacks.groups import GroupFindings
    from eyelid.attacks.likeness import Likeness
    from eyelid.attacks.means import MeanFindings
    from eyelid.attacks.streams import StreamMeasures
    from eyelid.attacks.synthetic import ShownHistograms, SyntheticFindings
    from eyelid.releases.audits.maps import MapsAudit
    from eyelid.releases.audits.results import TableAudit

EXAMPLES = """\b
Examples:
  eyelid audit study
  eyelid audit features private
  eyelid audit export.tsv heatmap
  eyelid audit study gaze
  eyelid audit features private --attackers means,forest --report audit.html --json
  eyelid audit recordings --map 'file={person}_{task}' --report risk.html
  eyelid audit study private --engine dask --workers 8"""

_MOST_ROWS = 10
_SHOWN_OF_STREAMS = (
    "fixation_kappa",
    "fixation_event_f1",
    "aoi_agreement",
    "aoi_kappa",
    "gaze_rmse",
    "impossible_saccades_released",
)


def run(
    original: Annotated[
        Path,
        typer.Argument(
            metavar="ORIGINAL",
            help="The study folder, recordings or features that were or may be released.",
            show_default=False,
        ),
    ],
    released: Annotated[
        Path | None,
        typer.Argument(metavar="RELEASED", help="What was released of it.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A page to read [RELEASED-audit/report.html]."),
    ] = None,
    attackers: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Who attacks (docs/audit.md) [all].")
    ] = None,
    protocols: Annotated[
        str | None, typer.Option(metavar="P,Q,…", help="How, e.g. 'raw->release' [all].")
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(metavar="T,…", help="Use to measure: task, attribute, label [task, labels]."),
    ] = None,
    people: People = None,
    min_seconds: MinSeconds = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    seed: Annotated[int, typer.Option(help="Of the attackers' choices.")] = 0,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Attack data before they are released, or a release: who is named, what is it still good for?

    What is found of RELEASED is written into RELEASED-audit beside it, for you alone: it is made of
    raw data. Exit code 1 when a certificate is refuted.
    """
    from eyelid.io.release_folder import states_heatmap
    from eyelid.releases.audits.audit import audit
    from eyelid.releases.audits.audit_json import UNCOVERED

    if released is not None and states_heatmap(released):
        if attackers or protocols or targets:
            raise InputError(
                "a heatmap names nobody and is good for looking at: leave out --attackers, "
                "--protocols and --targets"
            )
        with working(engine, workers, quiet):
            _run_heatmap(original, released, report, columns, ledger, people, seed, as_json)
        return
    with working(engine, workers, quiet):
        done = audit(
            original,
            released,
            report=report,
            attackers=_listed(attackers),
            protocols=_listed(protocols),
            targets=_listed(targets),
            map=column_map(columns),
            ledger=ledger,
            seed=seed,
            people=people,
            min_seconds=min_seconds,
        )
        for remark in filter(None, (*done.target.remarks, *done.not_tried, done.unwritten)):
            note(f"eyelid: {remark}")
        if as_json:
            print_json(done.to_dict())
        else:
            _tell(done)
            say(done.verdict)
            _point_to(done.written, UNCOVERED)
            if done.people is not None:
                say("This names people: it is for the owner's eyes.")
        if done.refuted:
            raise typer.Exit(1)


def _run_heatmap(
    original: Path,
    released: Path,
    report: Path | None,
    columns: list[str] | None,
    ledger: Path | None,
    people: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """The same for a heatmap."""
    from eyelid.releases.audits.audit import audit_heatmap
    from eyelid.releases.audits.audit_json import UNCOVERED

    done = audit_heatmap(
        original,
        released,
        report=report,
        map=column_map(columns),
        ledger=ledger,
        seed=seed,
        people=people,
    )
    for remark in filter(None, (*done.target.remarks, *done.not_tried, done.unwritten)):
        note(f"eyelid: {remark}")
    if as_json:
        print_json(done.to_dict())
    else:
        _tell_heatmap(done)
        say(done.verdict)
        _point_to(done.written, UNCOVERED)
    if done.refuted:
        raise typer.Exit(1)


def _point_to(written: Sequence[Path], uncovered: str) -> None:
    """Where the page is, and what not to share."""
    pages = [path for path in written if path.suffix != ".json"]
    say(f"Read {pages[0]}. {uncovered}" if pages else "A page to read: --report FILE.")
    beside = [path.parent for path in written if path.name == "audit.json"]
    if beside:
        say(f"Share the release alone: {beside[0]} is made of raw data, for you alone.")


def _listed(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",") if part.strip()] if text else None


def _tell(done: TableAudit) -> None:
    """The figures as tables, the strongest attacker for every protocol."""
    from eyelid.attacks.identification import strongest
    from eyelid.privacy.guarantee import rounded_up
    from eyelid.releases.audits.verdict import best_learned
    from eyelid.releases.report import telling_attributes
    from eyelid.releases.words import measured_told

    if done.means is not None:
        _tell_means(done.means)
        return
    rows = []
    for name in dict.fromkeys(f.protocol for f in done.identification):
        worst = strongest([f for f in done.identification if f.protocol == name])
        rows.append(
            (
                name if worst.honest else f"{name} (the paper's, not honest)",
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
    for name, findings in controls.items():
        if findings:
            worst = strongest(findings)
            rows.append((f"control: {name}", worst.attacker, str(worst.rate), "–", ""))
    if rows:
        chance = f"guessing: {done.identification[0].rate.chance:.0%}"
        most = done.worst
        alone = most is not None and most.bound is not None and most.bound_in_all is None
        allowed = "this release alone allows" if alone else "allowed"
        columns = ["protocol", "strongest attacker", "people named (95 % limits)", allowed, ""]
        print_table(f"Who is named ({chance})", columns, rows)
    if done.groups is not None:
        fresh = done.target.groups is not None and done.target.groups.fresh
        _tell_groups(done.groups, " (of another run of the mechanism)" if fresh else "")
    if done.histograms is not None:
        _tell_histograms(done.histograms)
    if done.synthetic is not None:
        _tell_made_up(done.synthetic)
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
        print_table(title, [*columns, "from the release"], uses)
    attributes = [
        (a.attribute, a.asks, a.protocol, f"{a.auc.rate:.2f}", f"{a.p_value:.2g}", a.attacker)
        for a in telling_attributes(done)
    ]
    if attributes:
        columns = ["attribute", "which", "protocol", "AUC (a coin: 0.5)", "p", "surest attacker"]
        print_table("What of people's attributes can be told", columns, attributes)
    if done.error is not None:
        what = "group's mean is off a member's" if done.target.grouped else "released value is off"
        say(f"A {what} by {measured_told(done.error, done.error.rmse_of_span)}.")
    if done.streams is not None:
        _tell_streams(done.streams)
    if done.people is not None:
        people = [(p, named, place, risk) for p, named, place, risk, _ in done.people.rows()]
        columns = ["person", "share of times named", "mean place in the list", "risk"]
        _first("People at risk", columns, people)
    if done.features is not None:
        features = done.features.select("name", "between_people", "p_adjusted", "rank1").rows()
        told_apart = [
            (name, *("–" if v is None else f"{v:.2g}" for v in values))
            for name, *values in features
        ]
        columns = ["feature", "variance between people", "p (Holm)", "named by it alone"]
        _first("Features at risk", columns, told_apart)


def _tell_streams(streams: StreamMeasures) -> None:
    """Whether released gaze still looks like an eye."""
    from eyelid.attacks.streams.measures import MEASURES
    from eyelid.releases.words import coarse

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
    columns = ["released gaze beside the original's", "over people", "95 % limits", "unit"]
    print_table("Whether it still looks like an eye", columns, rows)


def _tell_groups(groups: GroupFindings, of: str) -> None:
    """What was asked of groups, besides who is named."""
    from eyelid.releases.words import coarse

    asked = {
        "whose records are nearest over all tasks (intersection)": groups.intersection,
        "who is in the same group in every task (all recordings known)": groups.exact_intersection,
        "which group is somebody in (not protected)": groups.linkage,
    }
    for one in groups.redrawn:
        asked[f"who is it, over {groups.partitions} other partitions ({one.protocol})"] = one.rate
    rows = [
        (name, str(rate), f"{rate.chance:.0%}") for name, rate in asked.items() if rate is not None
    ]
    columns = ["question", "found (95 % limits)", "chance"]
    print_table(f"What groups hide, and what not{of}", columns, rows)
    if groups.padding.values:
        say(
            f"Padding gives away increments of {groups.padding.people} people exactly, "
            f"{groups.padding.share:.2%} of all."
        )
    exactly = " exactly" if groups.collusion.exact else ""
    say(
        f"Whoever has the recordings of all but one of a group of {groups.collusion.people} has "
        f"the last one's values{exactly}: an error of {coarse(groups.collusion.rmse_of_span)} "
        f"spans, where the others' mean is off by {coarse(groups.collusion.blind_rmse_of_span)}."
    )
    if groups.released_again:
        say(
            "Released again with other groups, whoever computes them names "
            + ", ".join(f"{rate:.0%} after {n}" for n, rate in enumerate(groups.released_again, 1))
            + "."
        )
    for told in groups.homogeneity:
        if told.alike > 0:
            say(f"{told.attribute}: {told.alike:.0%} of people are in a group that is all alike.")


def _tell_histograms(shown: ShownHistograms) -> None:
    """What rows drawn from histograms without noise show of single people."""
    rows = [
        ("bins that one person alone fills", f"{shown.alone} of {shown.filled}", shown.shown),
        ("people who are alone in a bin", "", shown.people),
        ("ends of ranges that one person alone reaches", shown.ends, shown.ends_shown),
    ]
    columns = ["histograms without noise", "there are", "the release shows"]
    print_table("What is seen of single people", columns, rows)


def _tell_made_up(made_up: SyntheticFindings) -> None:
    """What was asked of made-up rows or people: they name nobody."""
    from eyelid.privacy.guarantee import rounded_up
    from eyelid.releases.words import coarse
    from eyelid.spelling import plural

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
        columns = ["made up", "attacker goes by", "advantage (95 % limits)", "allowed"]
        print_table("Which of two people was in it (guessing: 0%)", columns, rows)
        say(f"The attacker {made_up.attack}.")
    if made_up.likeness is not None:
        _tell_likeness(made_up, made_up.likeness)
    say(
        f"Values are {coarse(made_up.wasserstein)} spans from being distributed as people's are; "
        f"evenly spread ones would be {coarse(made_up.uniform)}."
    )
    say(
        f"{made_up.copies or 'No'} made-up rows are rows of the original; they are "
        f"{coarse(made_up.nearest_of_span)} spans from the nearest, and people's "
        f"{coarse(made_up.people_apart_of_span)} from other people's. That is no guarantee."
    )


def _tell_likeness(made_up: SyntheticFindings, like: Likeness) -> None:
    """How like people made-up ones are, beside what would be off without them."""
    from eyelid.releases.words import coarse
    from eyelid.spelling import plural

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
    print_table("How like people they are", columns, shown)


def _tell_means(means: MeanFindings) -> None:
    """What was asked of means over people: they name nobody."""
    from eyelid.privacy.guarantee import rounded_up
    from eyelid.releases.words import coarse, measured_told

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
    columns = ["attack", "advantage (95 % limits)", "allowed", ""]
    print_table("Who is in such a mean (guessing: 0%)", columns, rows)
    groups = ", ".join(f"{name} ({people})" for name, people in means.sizes)
    say(f"Groups: {groups}.")
    whose = "mean of a fresh run" if means.redrawn else "released mean"
    say(
        f"A {whose} is off by {measured_told(means.error, means.error.rmse_of_span)}, a constant "
        f"in the middle of the bounds by {coarse(means.constant_rmse_of_span)} of the range."
    )


def _tell_heatmap(done: MapsAudit) -> None:
    """What was asked of a heatmap, and how much of the one without noise is left."""
    from eyelid.releases.audits.map_findings import findings, map_words, table_words
    from eyelid.releases.words import coarse

    rows = [(one.of, one.attack, one.found, one.means) for one in findings(done)]
    print_table("Is anybody exposed?", ["of", "attack", "found", "means"], rows)
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
        _first("What is left of the heatmap without noise", columns, maps)
    tables = [
        (table.name, coarse(table.rmse), coarse(table.nothing_rmse), table_words(table))
        for table in done.tables
    ]
    if tables:
        columns = ["table", "error", "error of saying nothing", ""]
        print_table("What is left of the tables of areas without noise", columns, tables)


def _first(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """The first rows of a long table."""
    more = f" (the first {_MOST_ROWS} of {len(rows)})" if len(rows) > _MOST_ROWS else ""
    print_table(title + more, columns, rows[:_MOST_ROWS])
