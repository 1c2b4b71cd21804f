"""Any readable input, scrubbed, to a study folder, a BIDS dataset, or csv.

What a file or folder holds is read once by the next free worker; everything that concerns all
people together is decided by an excerpt; then the people are written, piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from eyelid.engine.atomic import check_new
from eyelid.engine.engines import Shared, shared
from eyelid.engine.files import content_of
from eyelid.engine.progress import one_bar
from eyelid.engine.runs import Run, running
from eyelid.errors import InputError, unknown
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.io import pieces, study_folder
from eyelid.io.bids.writing import (
    Names,
    check_bids,
    dataset_files,
    names_in_bids,
    plain_study,
    recording_files,
)
from eyelid.io.column_map import Map, understood, with_said_facts
from eyelid.io.csv_folder import (
    join_csv_parts,
    plain_tables,
    write_csv_part,
)
from eyelid.io.feature_tables import with_features
from eyelid.io.intake import WRITING, Intake, Wanted, given_up_if_unfit, take_in
from eyelid.io.layout import Layout
from eyelid.io.leaks import Finding
from eyelid.io.origin import People
from eyelid.io.people_choice import (
    Whom,
    people_choice,
)
from eyelid.io.pieces import Piece, each_piece, in_pieces
from eyelid.io.reading import Place, place_of, read
from eyelid.io.release_folder import (
    CERTIFICATE,
    as_certified,
    is_certified,
    states_synthetic_gaze,
)
from eyelid.io.study_parts import (
    input_key,
    join_events,
    write_manifest,
    write_study_part,
)
from eyelid.privacy.ledger import Ledger
from eyelid.version import __version__


@dataclass(frozen=True, eq=False)
class Converted:
    """What was written, and what was left behind.

    Attributes:
        out: the new folder.
        head: the study without its rows.
        recordings: how many there are.
        rows: how many they have.
        removed: what was taken out.
        people_renamed: how many people got a pseudonym.
    """

    out: Path
    head: Study
    recordings: int
    rows: int
    removed: tuple[Finding, ...]
    people_renamed: int

    @property
    def study(self) -> Study:
        """The study as written, in memory."""
        return replace(read(self.out), origin=self.head.origin, notes=self.head.notes)


def convert(
    source: Path | str,
    out: Path | str,
    to: str = "study",
    map: Map = None,
    *,
    features: Path | str | None = None,
    ledger: Path | str | None = None,
    same_people_as: People | None = None,
    units: str | None = None,
    keep_names: bool = False,
    skip_unreadable: bool = False,
    people: Whom = None,
) -> Converted:
    """Write what is at ``source`` anew, without what gives people away besides their gaze.

    Clocks start at 0, people get pseudonyms, paths, dates and serial numbers stay behind. The gaze
    itself is not protected: that is what `release` is for. Neither the input nor the output need
    fit into memory, a file of the input and a person must; what was stopped goes on where it was
    when it is called again.

    Args:
        source: a study folder, a recording, or a folder of recordings.
        out: a new folder.
        to: ``study``, ``bids`` or ``csv``.
        map: what you say about columns, as for `eyelid.read`.
        features: a csv or TOML file that names the columns of a table that are features, with their
            public bounds: name, unit, lower, upper, definition. The study has these, and no gaze.
        ledger: where these people are counted, and their pseudonyms kept; beside the source by
            default. One that knows some of their ids counts them together with its own people.
        same_people_as: a study of the same people that is counted already, its folder or
            recordings, or its ledger. Refused where no id is the same.
        units: ``deg`` to turn places on a screen into degrees.
        keep_names: leave the names of people as they are.
        skip_unreadable: leave out files that cannot be read.
        people: whom to write, as for `eyelid.read`, by the names that are read; the ledger gets to
            know everybody, and the output remembers how they were chosen.
    """
    refuse_frame(source, "convert")
    out = Path(out)
    if to not in TARGETS:
        raise unknown("target", to, TARGETS)
    check_new(out)
    if features is not None:
        map = with_features(understood(map), features)
    target, place = TARGETS[to], place_of(source, map, units)
    if features is not None and place.is_whole:
        raise InputError(
            f"{source} is known as a whole, with columns of its own: `features` is for a csv, tsv "
            "or Parquet table, or a folder of them"
        )
    same = same_people_as
    same = same if same is None or isinstance(same, str | Path) else repr(same.origin)
    settings = to, ledger and Path(ledger).resolve(), same, units, keep_names, skip_unreadable
    whom = people_choice(people)
    asked = (features, ledger, same_people_as, units, people)
    if to != "study" and not any(each is not None for each in asked):
        synthetic = _synthetic(place)
        if synthetic is not None:
            return _written_as_released(synthetic, place.path, to, out)
    with running(out, _key(place, *settings, whom and whom.key)) as run:
        with given_up_if_unfit(run):
            cut = in_pieces(place.path) if study_folder.recognises(place.path) else None
            if cut is not None:
                said = replace(place.said, each_stimulus=None)
                cut = replace(cut, head=with_said_facts(cut.head, said, str(place.path)))
        count, unit = len(place.files), "files"
        if cut is not None:
            count, unit = cut.recordings.height, "recordings"
        with one_bar(count, unit if count > 1 else "") as bar:

            def advance(by: float, what: str) -> None:
                bar(by * count, what)

            wanted = Wanted(target.check, ledger, same_people_as, keep_names, skip_unreadable, whom)
            taken = take_in(place, cut, run, advance, wanted)
            _write(target, run, taken, advance, out)
    head = replace(taken.excerpt, data=taken.excerpt.data.clear(), events=None)
    return Converted(
        out,
        head,
        taken.excerpt.data.select(RECORDING_KEY).n_unique(),
        taken.cut.rows,
        taken.removed,
        taken.people_renamed,
    )


def _synthetic(place: Place) -> Study | None:
    """Synthetic recordings as they were released, by their certificate; None of all else."""
    if not states_synthetic_gaze(place.path) or not study_folder.recognises(place.path):
        return None
    found = as_certified(study_folder.read_study(place.path), place.path)
    return found if is_certified(found) else None


def _written_as_released(study: Study, source: Path, to: str, out: Path) -> Converted:
    """Write synthetic recordings in another form, as they are: they are nobody's.

    What was promised, and what they are, is written beside them.
    """
    target = TARGETS[to]
    target.check(study)
    with running(out, input_key(source, __version__, to)) as run:
        with one_bar(1, "") as bar:
            taken = Intake(study, in_pieces(study), (), 0)
            _write(target, run, taken, bar, out)
        for name in (CERTIFICATE, "DATACARD.md"):
            content = content_of(source / name)
            run.put(run.output / name, partial(_write_bytes, content))
        if to == "bids":
            ignored = f"{CERTIFICATE}\nDATACARD.md\n".encode()
            run.put(run.output / ".bidsignore", partial(_write_bytes, ignored))
    head = replace(study, data=study.data.clear(), events=None)
    recordings = study.data.select(RECORDING_KEY).n_unique()
    return Converted(out, head, recordings, study.data.height, (), 0)


def _key(place: Place, *settings: Any) -> str:
    """What the output depends on."""
    said = {item.name: getattr(place.said, item.name) for item in fields(Layout)}
    # A function is told by its place in memory, which is another every time.
    said["prepare"] = said["prepare"] and said["prepare"].__qualname__
    beside = [
        input_key(file)
        for file in (place.said.names, place.said.people)
        if file is not None and file.exists()
    ]
    return input_key(place.path, __version__, pieces.PIECE_VALUES, said, beside, settings)


def _write(
    target: Target,
    run: Run,
    taken: Intake,
    advance: Callable[[float, str], None],
    out: Path,
) -> None:
    """Write everybody, and at the end what is about all of them."""
    of = len(taken.cut.pieces)
    about = target.begin(run, taken.excerpt)
    if of > 1:
        run.keep()

    def step(by: float, what: str) -> None:
        advance(WRITING * by / taken.cut.recordings.height, what)

    with shared((taken.without_rows(), about)) as known:
        work = partial(_write_piece, target, run, of, known)
        written = list(each_piece(work, taken.cut, step, "writing"))
    target.end(run, taken.excerpt, written, about, out)


def _write_piece(
    target: Target, run: Run, of: int, known: Shared[tuple[Intake, Any]], piece: Piece
) -> Any:
    taken, about = known.get()
    return target.write(run, piece.number, of, taken.excerpt, partial(taken.read, piece), about)


@dataclass(frozen=True)
class Target:
    """How a study is written piece by piece.

    Attributes:
        check: fails unless such a study can be written; its rows do not matter.
        begin: before any person is written; what it gives, the others are given.
        write: some people, unless they are there: the run, the number of the piece, how many there
            are, an excerpt of the study, how to read the piece, and what ``begin`` gave.
        end: what is about everybody: the run, an excerpt of the study, what ``write`` gave of each
            piece, what ``begin`` gave, and where the output will be.
    """

    check: Callable[[Study], object]
    begin: Callable[[Run, Study], Any]
    write: Callable[[Run, int, int, Study, Callable[[], Study], Any], Any]
    end: Callable[[Run, Study, list[Any], Any, Path], None]


def _nothing(*_: object) -> None:
    """Nothing is to be done."""


def _write_study(
    run: Run, number: int, of: int, excerpt: Study, read_piece: Callable[[], Study], _: None
) -> dict[str, Any]:
    return write_study_part(run, number, of, read_piece)


def _end_study(run: Run, excerpt: Study, parts: list[dict[str, Any]], _: None, out: Path) -> None:
    if excerpt.events is not None:
        join_events(run, len(parts))
    write_manifest(run, excerpt, parts, out)
    if excerpt.origin is not None and excerpt.origin.ledger is not None:
        Ledger.counting(excerpt.origin.ledger, excerpt.origin.id).check_knows(excerpt.origin.id)


def _begin_bids(run: Run, excerpt: Study) -> Names:
    names = names_in_bids(plain_study(excerpt))
    for name in names.recordings.values():
        (run.output / name.stem).parent.mkdir(parents=True, exist_ok=True)
    return names


def _write_bids(
    run: Run, number: int, of: int, excerpt: Study, read_piece: Callable[[], Study], names: Names
) -> None:
    mark = run.scratch / f"written-{number:06d}"
    if mark.exists():
        return
    for files in recording_files(plain_study(read_piece()), names):
        for name, content in files.items():
            run.put(run.output / name, partial(_write_bytes, content))
    run.put(mark, Path.touch)


def _write_bytes(content: bytes, draft: Path) -> None:
    draft.write_bytes(content)


def _end_bids(run: Run, excerpt: Study, written: list[None], names: Names, out: Path) -> None:
    for name, content in dataset_files(plain_study(excerpt), names):
        run.put(run.output / name, partial(_write_bytes, content))


TARGETS = {
    "study": Target(_nothing, _nothing, _write_study, _end_study),
    "bids": Target(check_bids, _begin_bids, _write_bids, _end_bids),
    "csv": Target(plain_tables, _nothing, write_csv_part, join_csv_parts),
}
