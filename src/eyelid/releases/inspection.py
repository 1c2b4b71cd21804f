"""What is in a study, how good it is, who stands out, and what a release would take."""

from __future__ import annotations

import itertools
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from eyelid.display import Framed, facts
from eyelid.engine.atomic import new_folder
from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.events.blinks import MIN_CONFIDENCE
from eyelid.gaze.features.omission import Blanks, without_blanks
from eyelid.gaze.features.quantities import usual_kind
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import RECORDING_KEY, Study, track_key
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.quasi_identifiers import SMALL_GROUP
from eyelid.io.reading import read
from eyelid.io.release_folder import is_certified
from eyelid.io.remarks import rates_in_words
from eyelid.mechanisms.expectation import MOST_ERROR, people_needed
from eyelid.mechanisms.groups.partition import groups_in_words
from eyelid.mechanisms.means.groupmean import GroupMean
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.mechanisms.synthetic.recordings import MADE_UP
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.releases.advice import (
    ONE_PERSON,
    affordable,
    commands_in,
    fewer_features,
    heatmap_lacks,
    results_first,
    stream_way,
    window_options,
)
from eyelid.releases.kinds.features.plan import check_numbers
from eyelid.reporting.sentences import errors_in_words
from eyelid.spelling import Table, in_quotes

# The k of k-same that is named as an example, where there are people enough for two groups.
_FEW = 4
# The ε of synthetic participants that is named as an example.
_MADE_UP_EPSILON = 4.0
# A step this many times the usual one is an interruption.
_GAP = 3
_MOST_PICTURES = 500


class Inspection(Framed, dict[str, Any]):
    """Facts about a study by their names, as ``eyelid inspect --json`` prints them."""

    @property
    def frame(self) -> pl.DataFrame:
        """One row a fact that is a number or a word."""
        plain = [(name, value) for name, value in self.items() if isinstance(value, str | int)]
        rows = [(name, str(value)) for name, value in plain]
        return pl.DataFrame(rows, schema=["fact", "value"], orient="row")

    def in_short(self) -> Table:
        """How much there is, who stands out, and what to do next."""
        alone = [each for each in self["quasi_identifiers"] if each["people_alone"]]
        worst = max(alone, key=lambda each: each["people_alone"], default=None)
        return facts(
            {
                "people": self["people"],
                "recordings": self["recordings"],
                "tasks": self["tasks"],
                "rows": f"{self['rows']:,}",
                "attributes": ", ".join(self["attributes"]),
                "single out": worst
                and f"{worst['people_alone']} people by {' + '.join(worst['columns'])}",
                "next": self["release"],
            },
            f"Inspection of a study of {self['kind']}",
        )


def inspect(study: Study | FeatureTable | Path | str, map: Map = None) -> Inspection:
    """What is in a study, how good it is, who stands out, and what a release would take.

    The result is for the owner's eyes: it describes private data.

    Args:
        study: a study, a feature table, or a path of recordings.
        map: what you say about the columns of recordings, as for `eyelid.read`.
    """
    refuse_frame(study, "inspect")
    if isinstance(study, str | Path):
        study = read(study, map)
    if isinstance(study, FeatureTable):
        study = study.study()
    data = study.data
    # A row that stands for a recording without any value is none that was measured.
    seen, unseen = _measured(study)
    eyes = pl.col("eye").n_unique() if "eye" in data.columns else pl.lit(1)
    recordings = data.group_by(RECORDING_KEY, maintain_order=True).agg(
        (pl.len() // eyes.clip(1)).alias("rows"),
        ((pl.col("time_ms").max() - pl.col("time_ms").min()) / 1000).alias("duration_s"),
    )
    found = Inspection()
    found |= {
        "kind": study.kind,
        "people": data["person"].n_unique(),
        "recordings": len(recordings),
        "tasks": len(_names(data, "task")),
        "stimuli": len(_names(data, "stimulus")),
        "rows": len(seen.data),
        "units": study.units,
        "xy_origin": study.xy_origin,
        "pupil_unit": study.pupil_unit,
        "screen": asdict(study.screen) if study.screen else None,
        "eyes": _names(data, "eye"),
        "rate_hz": _rates(study),
        "duration_s": _spread(
            recordings.join(seen.data, on=RECORDING_KEY, how="semi")["duration_s"].to_numpy()
        ),
        "simulated": study.simulated,
        "attributes": [c for c in study.people.columns if c != "person"],
        "labels": study.labels,
        "events": None
        if study.events is None
        else dict(study.events["name"].value_counts().sort("name").rows()),
        "quality": _quality(seen),
        "quasi_identifiers": [] if _are_made_up(study) else _quasi_identifiers(study, recordings),
        "read_as": list(study.read_as),
        "notes": [*study.notes, *filter(None, [unseen])],
    }
    found["release"] = _next_step(study, found)
    found["next"] = list(affordable(commands_in(found["release"]), study))
    rates = rates_in_words(study)
    if rates and rates not in found["notes"]:
        found["notes"].append(rates)
    if study.derived is not None:
        found["derived"] = asdict(study.derived)
    if study.chosen:
        found["people_chosen"] = list(study.chosen)
    return found


def _measured(study: Study) -> tuple[Study, str]:
    """The study without the rows of recordings that have no value, and how many those are.

    All of it where no recording has any.
    """
    if study.kind != "features":
        return _looked(study), ""
    if not study.features:
        return study, ""
    table = FeatureTable.outline(study)
    blanks = Blanks.of(table)
    if blanks.blank == blanks.recordings:
        return study, blanks.in_words()
    return replace(study, data=without_blanks(table).data), blanks.in_words()


def _looked(study: Study) -> Study:
    """The study without the single rows that stand for recordings without any gaze."""
    gaze = [name for name in ("x", "gaze_x") if name in study.data.columns]
    if not gaze:
        return study
    stands_in = pl.all_horizontal(pl.col(gaze).is_null()) & (pl.len().over(RECORDING_KEY) == 1)
    data = study.data.filter(~stands_in)
    return study if data.is_empty() else replace(study, data=data)


def draw_recordings(study: Study, folder: Path) -> None:
    """Draw the recordings, at most 500, into a new folder of pictures; for the owner's eyes."""
    from eyelid.gaze.pictures import draw_overview
    from eyelid.plotting import Figure, styled

    if study.kind == "features":
        raise InputError("pictures are of gaze, and this is a study of features")
    with new_folder(folder, mode=0o700) as place, styled({"text.parse_math": False}):
        recordings = list(itertools.islice(study.recordings(), _MOST_PICTURES))
        for number, recording in enumerate(track(recordings, "drawing"), 1):
            figure = Figure(figsize=(7.2, 2.4), layout="constrained")
            draw_overview(recording, study, figure.subplots(1, 2, width_ratios=[1, 2]))
            figure.savefig(place / f"{number:04d}.png", dpi=100)


def _names(data: pl.DataFrame, column: str) -> list[str]:
    """The names in a column, but for the empty one."""
    if column not in data.columns:
        return []
    return [name for name in data[column].drop_nulls().unique().sort() if name]


def _spread(values: np.ndarray) -> dict[str, float]:
    return {
        "shortest": float(values.min()),
        "median": float(np.median(values)),
        "longest": float(values.max()),
    }


def _rates(study: Study) -> dict[str, float | None]:
    """The nominal rate, the measured one, and how unevenly samples follow each other."""
    step = pl.col("time_ms").diff().over(track_key(study.data))
    steps = study.data.select(step.alias("step_ms"))["step_ms"].drop_nulls()
    # Rows without a step are trials or events, which come at no rate.
    if steps.is_empty() or (study.kind == "features" and study.step_ms is None):
        return {"nominal": study.rate_hz, "measured": None, "jitter_ms": None}
    array = steps.to_numpy()
    middle = float(np.median(array))
    usual = usual_step_ms(array)
    return {
        "nominal": study.rate_hz,
        "measured": 1000 / usual if usual else None,
        # Rounding of time stamps is no jitter.
        "jitter_ms": round(float(np.median(np.abs(array - middle))), 6),
    }


def _quality(study: Study) -> dict[str, float]:
    """Shares of missing values; of samples also how steady and how whole they are."""
    if study.kind == "features":
        names = [f.name for f in study.features if f.name in study.data.columns]
        check_numbers(study.data, names)
    else:
        names = [c for c in ("x", "y", "gaze_x", "pupil") if c in study.data.columns]
    if not names:
        return {}

    def lost(name: str) -> pl.Expr:
        return pl.col(name).is_null() | pl.col(name).cast(pl.Float64).is_nan()

    missing = study.data.select(lost(name).mean() for name in names)
    found = {
        f"missing_{name}": float(share) for name, share in zip(names, missing.row(0), strict=True)
    }
    if study.kind == "samples":
        gone = lost(names[0])
        if "confidence" in study.data.columns:
            gone |= (pl.col("confidence") < MIN_CONFIDENCE).fill_null(False)
            found["missing_or_unsure"] = float(study.data.select(gone.mean()).item())
        of_recordings = study.data.group_by(track_key(study.data)).agg(gone.mean().alias("gone"))
        found["missing_worst_recording"] = float(of_recordings["gone"].to_numpy().max())
        found |= _steadiness(study)
    return found


def _steadiness(study: Study) -> dict[str, float]:
    """Precision, interruptions, and how much gaze is off the screen."""
    data, key = study.data, track_key(study.data)
    step = pl.col("time_ms").diff().over(key)
    usual = data.select(step.median()).item()
    found: dict[str, float] = {}
    if usual:
        found["gaps"] = int(data.select((step > _GAP * usual).sum()).item())
    if {"x", "y"} <= set(data.columns):
        moved = pl.sum_horizontal(pl.col(axis).diff().over(key) ** 2 for axis in "xy")
        together = pl.all_horizontal(pl.col(axis).diff().over(key).is_not_nan() for axis in "xy")
        # The median: of samples in fixations, which are most.
        typical = data.select(moved.filter(together).median().sqrt()).item()
        if typical is not None:
            found["sample_to_sample"] = float(typical)
        size = _screen_size(study)
        if size is not None and study.xy_origin in ("top-left", "bottom-left"):
            outside = ~(pl.col("x").is_between(0, size[0]) & pl.col("y").is_between(0, size[1]))
            share = data.select(outside.mean()).item()
            found["off_screen"] = float(share or 0.0)
    return found


def _screen_size(study: Study) -> tuple[float, float] | None:
    """How far x and y go on the screen."""
    if study.units == "fraction":
        return 1.0, 1.0
    screen = study.screen
    if study.units != "px" or screen is None or not screen.width_px or not screen.height_px:
        return None
    return float(screen.width_px), float(screen.height_px)


def _are_made_up(study: Study) -> bool:
    """Whether this is a release, by its certificate, whose participants have synthetic names."""
    named = study.people["person"].str.contains(rf"^{MADE_UP}\d*$")
    return is_certified(study) and bool(named.all())


def _quasi_identifiers(study: Study, recordings: pl.DataFrame) -> list[dict[str, Any]]:
    """Columns and combinations that single people out, the most telling first."""
    attributes = [c for c in study.people.columns if c != "person"]
    candidates = [[a] for a in attributes] + ([attributes] if len(attributes) > 1 else [])
    found: list[dict[str, Any]] = []
    for columns in candidates:
        sizes = study.people.group_by(columns).len()["len"]
        found.append(
            {
                "columns": columns,
                "people_alone": int((sizes == 1).sum()),
                "smallest_group": int(sizes.min()),  # type: ignore[arg-type]
            }
        )
    lengths = recordings.group_by("person").agg(pl.col("rows").sort())
    sizes = lengths.group_by("rows").len()["len"]
    found.append(
        {
            "columns": ["recording lengths"],
            "people_alone": int((sizes == 1).sum()),
            "smallest_group": int(sizes.min()),  # type: ignore[arg-type]
        }
    )
    return sorted(
        (f for f in found if f["smallest_group"] < SMALL_GROUP),
        key=lambda f: f["people_alone"],
        reverse=True,
    )


def _next_step(study: Study, found: dict[str, Any]) -> str:
    if _are_made_up(study):
        # Rows of all tasks are called one person.
        what = "synthetic participants"
        if study.people["person"].to_list() == [MADE_UP]:
            what = "rows, of which some may keep parts of real ones"
        return (
            "Its certificate, which is of these data, says that this is a released dataset; by its "
            f"names, of {what}. What is promised stands there and in DATACARD.md. Release from the "
            "original study, never from this."
        )
    if is_certified(study):
        return (
            "Its certificate, which is of these data, says that this is a released dataset; "
            "DATACARD.md says whether its participants are real ones under noise, groups or "
            "synthetic. Release from the original study, never from this."
        )
    if study.released:
        return (
            "It says of itself that it is a released dataset or made of one, and has no "
            "certificate to check that by: treat it as raw data until you know. Release from the "
            "original study, never from this."
        )
    if found["people"] < 2:
        return ONE_PERSON
    first = results_first(study)
    if study.kind != "features":
        return f"{first}{_next_step_of_gaze(study)}"
    unbounded = [f.name for f in study.features if not np.isfinite([f.lower, f.upper]).all()]
    if unbounded:
        return f"Give public bounds for {', '.join(unbounded)} with 'release … --bounds FILE'."
    recordings = recordings_of(study)
    fitting = fitting_release(recordings, FeatureTable.outline(study))
    price, *release = map(in_quotes, fitting.commands)
    then = f", then {release[0]}" if release else ""
    return (
        f"{first}{fitting.why} See what it promises ({price}){then}."
        f"{table_to_train_on(recordings, FeatureTable.outline(study))}"
    )


def recordings_of(study: Study) -> pl.DataFrame:
    """One row a recording: person, recording, task where there is one, and its ``rows``."""
    task = [pl.col("task").first()] * ("task" in study.data.columns)
    each = study.data.group_by(RECORDING_KEY, maintain_order=True)
    return each.agg(*task, pl.len().alias("rows"))


def table_to_train_on(recordings: pl.DataFrame, table: FeatureTable, where: str = "IN") -> str:
    """That there are people enough for synthetic ones, if there are.

    Args:
        recordings: one row each, as of `recordings_of`.
        table: what they are recordings of; its rows are left alone.
        where: the study is, for the command that is named.
    """
    mechanism = Synthetic(epsilon=_MADE_UP_EPSILON)
    people, tasks = recordings["person"].n_unique(), len(_names(recordings, "task"))
    features = len(table.features)
    facts = PublicFacts(
        people, max(1, tasks), mechanism.records, features, window=window_rows(table)
    )
    if not mechanism.useful(facts):
        return ""
    carried = mechanism.carried(facts)
    return (
        f" For a table to train on, people are enough for synthetic ones with {carried} of "
        f"{features} features: 'eyelid cost {where} --mechanism synthetic --epsilon "
        f"{mechanism.epsilon:g}'."
    )


class FittingRelease(NamedTuple):
    """A release that suits a study.

    Attributes:
        options: of the command.
        why: in a sentence.
        useful: whether so few people can be told anything by it.
    """

    options: str
    why: str
    useful: bool = True

    @property
    def commands(self) -> tuple[str, ...]:
        """Its price, and the release itself where it is of use."""
        price, release = f"eyelid cost IN {self.options}", f"eyelid release IN OUT {self.options}"
        return (price, release) if self.useful else (price,)


def fitting_release(recordings: pl.DataFrame, table: FeatureTable) -> FittingRelease:
    """The release that suits so many people with such features, and why.

    Args:
        recordings: one row each, as of `recordings_of`.
        table: what they are recordings of; its rows are left alone.
    """
    people = recordings["person"].n_unique()
    facts = PublicFacts(
        people=people,
        recordings=max(1, len(_names(recordings, "task"))),
        length=table.public_rows,
        features=len(table.features),
        window=window_rows(table),
    )
    means, k = "--mechanism groupmean --epsilon 1", min(_FEW, people // 2)
    mechanism = GroupMean(epsilon=1.0)
    needed = people_needed(mechanism, facts)
    if needed is not None and needed <= people:
        off = errors_in_words(table.features, mechanism.expected_mean_rmse_of_span(facts))
        return FittingRelease(
            means,
            f"The mean over {people:,} people can be relied on at ε = 1 for a person: expected "
            f"error of a recording's mean: {off}.",
        )
    many = "no number of people is enough" if needed is None else f"it takes {needed:,} people"
    why = (
        "For means to rely on (a recording's mean off by less than "
        f"{errors_in_words(table.features, MOST_ERROR)}), at ε = 1 for a person, {many} with these "
        "features"
    )
    if k < 3:
        fewer = fewer_features(table)
        less = f"fewer ({in_quotes(fewer)}, say) or " if fewer else ""
        return FittingRelease(means, f"{why}: {less}a larger ε would show more.", useful=False)
    return FittingRelease(
        f"--mechanism ksame --set k={k}",
        f"{why}. Means of {groups_in_words(people, k)} (ksame) have no noise. That is k-anonymity, "
        "not differential privacy: it has no ε, an attacker who has the recordings of all members "
        "of a group but one has the last one's, and a second release of these people can undo it.",
    )


def _next_step_of_gaze(study: Study) -> str:
    on_surface = "x" in study.data.columns
    if not on_surface and study.kind == "fixations":
        return (
            "No mechanism takes directions of fixations: release features or heatmaps of gaze on a "
            "surface (x and y)."
        )
    if on_surface and study.units is None:
        return "Say the units of x and y (--map units=px, or deg, fraction, normalised) first."
    ways = []
    kind = usual_kind(study)
    options = window_options(study) if kind == "windows" else ""
    if options is not None:
        ways.append(
            f"Make features ('eyelid features IN OUT --kind {kind}{options}'): it tells which "
            "release fits them."
        )
    ways += [way for way in (stream_way(study),) if way]
    # Places of the pupil in an eye camera are on no picture.
    if on_surface and study.units != "normalised":
        stimuli = _names(study.data, "stimulus")
        one = stimuli[0] if len(stimuli) > 1 else None
        which = f" --stimulus {shlex.quote(one)}" if one else ""
        way = in_quotes(f"eyelid heatmap IN OUT{which} --level good --dry-run")
        lacking = heatmap_lacks(study, one)
        ways.append(
            f"Where people looked, in a heatmap: {lacking}."
            if lacking
            else f"Where people looked, in a heatmap: {way} tells what you would get, and spends "
            "nothing."
        )
    return " ".join(ways) or "These recordings are too short for windows of features."
