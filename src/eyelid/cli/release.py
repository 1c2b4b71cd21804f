"""``eyelid release``: a private dataset with its certificate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eyelid.cli.output import (
    CardFile,
    ColumnMap,
    Delta,
    EngineName,
    Epsilon,
    In,
    Json,
    LedgerFile,
    MechanismName,
    MinSeconds,
    Out,
    People,
    Quiet,
    Settings,
    Verbose,
    Workers,
    column_map,
    print_json,
    remark,
    say,
    settings,
    show,
    working,
)
from eyelid.errors import InputError

if TYPE_CHECKING:
    from eyelid.reporting.release import Release

EXAMPLES = """\b
Examples:
  eyelid release features private --mechanism gaussian --epsilon 1
  eyelid release features private --mechanism laplace --epsilon 2 --unit recording --set length=600
  eyelid release features private --mechanism laplace --epsilon 1 --set keep=gender
  eyelid release features groups --mechanism ksame --set k=4
  eyelid release features private --mechanism gaussian --epsilon 1 --people @consented.txt
  eyelid release features groups --mechanism ksame --set k=4 --set balance=gender --set copies=true
  eyelid release features groups --mechanism ksame-dp --set k=500 --epsilon 4
  eyelid release features drawn --mechanism synthetic --epsilon 4
  eyelid release study drawn --mechanism synthetic-gaze --epsilon 4 --set minutes=5
  eyelid release study drawn --mechanism ksame-gaze --set k=5
  eyelid release study gaze --mechanism kaleido --epsilon 1 --set window=60 --set radius=50
  eyelid release features private --mechanism gaussian --epsilon 1 --engine dask --workers 8"""


def run(
    source: In,
    out: Out,
    mechanism: MechanismName,
    epsilon: Epsilon = None,
    delta: Delta = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT", help="Whose value is hidden: person, recording, chunk, record [person]."
        ),
    ] = None,
    bounds: Annotated[
        str, typer.Option(metavar="public|data|FILE", help="What values are clipped to.")
    ] = "public",
    setting: Settings = None,
    people: People = None,
    min_seconds: MinSeconds = None,
    columns: ColumnMap = None,
    ledger: LedgerFile = None,
    card: CardFile = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Repeatable noise and groups; the certificate then does not hold."
        ),
    ] = None,
    engine: EngineName = None,
    workers: Workers = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Release a private dataset with its certificate.

    The spending is counted before anything is computed, and refused above a limit. A release that
    cannot be written where you say costs nothing. One that was stopped resumes when rerun, and is
    counted once.
    """
    from eyelid.mechanisms import find
    from eyelid.releases.release import release

    kind = find(mechanism)
    if kind.command == "heatmap":
        raise InputError(f"{kind.name} takes {kind.takes}, not features: use 'eyelid heatmap'")
    parameters = settings(setting)
    keep = [name for name in parameters.pop("keep", "").split(",") if name]
    shown: list[str] = []

    def tell(text: str) -> None:
        shown.append(text)
        remark(text)

    with working(engine, workers, quiet):
        done = release(
            source,
            out,
            mechanism=mechanism,
            epsilon=epsilon,
            delta=delta,
            unit=unit,
            bounds=bounds,
            ledger=ledger,
            seed=seed,
            keep=keep,
            map=column_map(columns),
            tell=tell,
            card=card,
            people=people,
            min_seconds=min_seconds,
            **parameters,
        )
        remark(*done.notes[len(shown) :])
        if not done.certificate.guarantee.holds:
            remark("this release carries no guarantee")
        if as_json:
            print_json(done.certificate.to_dict())
        else:
            _say_what_holds(done, out, verbose)


def _say_what_holds(done: Release, out: Path, verbose: bool) -> None:
    from eyelid.privacy.guarantee import large_deltas
    from eyelid.reporting.sentences import FORMAL_ONLY, formal_only, in_all, promise_lines
    from eyelid.spelling import plural

    certificate = done.certificate
    say(f"{out}: {plural(certificate.people, 'person', 'people')}, {done.rows}.")
    promised = certificate.guarantee.unit
    if certificate.guarantee.holds and promised.name != "person":
        what = f"One {promised}"
        if promised.name == "event":
            what = (
                f"Any {promised.length} samples in a row of one recording, each moved by at most "
                f"{promised.radius:g}"
            )
        formal = f" {FORMAL_ONLY}" if formal_only(certificate.guarantee) else ""
        say(f"{what}: {certificate.guarantee.numbers()}.{formal}")
    first, *more = promise_lines(
        certificate.person_level, certificate.others, certificate.how, certificate.form
    )
    person = certificate.person_level
    if person.holds and person.kind.differential and not verbose:
        formal = f" {FORMAL_ONLY}" if formal_only(person) else ""
        first = f"{person.numbers()}.{formal}"
    say(f"One person, in total: {first}" if person.holds else first)
    show(more)
    if together := in_all(certificate):
        say(together)
    show(
        f"Not protected is {line}."
        for line in large_deltas(certificate.people, certificate.person_level, certificate.total)
    )
    if certificate.guarantee.holds:
        say(done.worth)
    if done.standard_errors is not None:
        say(
            f"The standard error of each mean, as far as it is noise, is in "
            f"{out / 'standard_errors.csv'}."
        )
    say(f"Read {out / 'DATACARD.md'}; the certificate is {out / 'certificate.json'}.")
