"""A feature table: one row a window or event, one bounded column a feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.display import Framed, facts
from eyelid.errors import InputError, unknown
from eyelid.gaze.study import (
    INDEX_COLUMNS,
    Bound,
    Feature,
    Origin,
    Study,
    check,
    ordered,
    track_starts,
)
from eyelid.spelling import Table

# Rows of a recording where a study does not say how many were planned: the same for everybody.
_DEFAULT_MS = 300_000.0
_DEFAULT_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class FeatureTable(Framed):
    """Features of people over time: what the feature mechanisms take and give back.

    Attributes:
        data: person, recording, task, stimulus, time_ms, one column a feature, then labels; rows
            of one recording, and recordings of one person, stand together in order of time.
        features: the feature columns with their public bounds.
        people: one row a person: ``person`` and any attributes.
        step_ms: time between two rows of a recording, when it is regular.
        window_ms: what one row summarises.
        planned_rows: rows of a recording by the study's design, which is public; None where nobody
            said. Never read off the data.
        origin: whose budget a release of this table spends.
        simulated: whether these participants are simulated.
        released: whether this is a release already.
        chosen: how its people were chosen out of more, as a study remembers it.
    """

    data: pl.DataFrame
    features: tuple[Feature, ...]
    people: pl.DataFrame
    step_ms: float | None = None
    window_ms: float | None = None
    planned_rows: int | None = None
    origin: Origin | None = None
    simulated: bool = False
    released: bool = False
    chosen: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(isinstance(frame, pl.DataFrame) for frame in (self.data, self.people)):
            from eyelid.gaze.frames import check_polars

            check_polars(data=self.data, people=self.people)
        # Everything below may rely on the order of rows.
        object.__setattr__(self, "data", ordered(self.data))

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        person: str | None = None,
        recording: str | None = None,
        task: str | None = None,
        stimulus: str | None = None,
        time: str | None = None,
        time_unit: str = "ms",
        bounds: Mapping[str, Bound] | None = None,
        labels: Sequence[str] = (),
        people: object = None,
        attributes: Sequence[str] = (),
        drop: Sequence[str] = (),
        missing: str = "refuse",
        step_ms: float | None = None,
        window_ms: float | None = None,
        planned_rows: int | None = None,
        simulated: bool = False,
    ) -> FeatureTable:
        """A table of features from a frame of polars, pandas or Arrow.

        Every column is a key, a feature with public bounds, a label, an attribute of people, or
        dropped: one that is none of these is refused. Names of people are kept as they are, and in
        releases of individual records they are seen: use pseudonyms. To have a ledger count what
        is released, write the table into a folder: ``eyelid.write(table.study(), "features")``.

        Args:
            frame: one row a trial, window, or whatever was measured.
            person: the column, or level of an index of pandas, that says whose it is; those called
                ``person``, ``recording``, ``task``, ``stimulus`` and ``time_ms`` need no word.
            recording: which of the person's; by default there is one for each task.
            task: what the person did.
            stimulus: what they looked at.
            time: of the row within its recording; rows count in their order without it.
            time_unit: of it: ``ms``, ``s``, ``us`` or ``ns``.
            bounds: of each feature by its column, the least and the most that it can be: public
                facts, from what it means. A third entry is its unit, without which no norm of
                the literature applies; a `Feature` has a definition, too. What is true or false
                is 1 or 0.
            labels: columns that say what a row is.
            people: a frame with a row a person, and attributes; by default nothing is known of
                them.
            attributes: columns of the frame that are of a person, instead.
            drop: columns to leave out.
            missing: ``refuse`` missing values of features, or ``keep`` them: a release takes the
                middle of the bounds for them.
            step_ms: time between two rows of a recording, where it is regular.
            window_ms: what a row summarises.
            planned_rows: rows of a recording by the study's design, if that is public.
            simulated: whether nobody was recorded.

        >>> rows = pl.DataFrame({"who": ["a", "b"], "page": ["p", "p"], "rate": [2.5, 3.0]})
        >>> FeatureTable.from_frame(rows, person="who", task="page", bounds={"rate": (0, 10)})
        Table of features
          people      2
          recordings  2
          rows        2
          features    rate
        """
        from eyelid.gaze.frames import Columns, table_of_frame

        return table_of_frame(
            frame,
            Columns(person, recording, task, stimulus, time, time_unit),
            bounds,
            labels=labels,
            people=people,
            attributes=attributes,
            drop=drop,
            missing=missing,
            step_ms=step_ms,
            window_ms=window_ms,
            planned_rows=planned_rows,
            simulated=simulated,
        )

    @property
    def frame(self) -> pl.DataFrame:
        """Its rows."""
        return self.data

    def in_short(self) -> Table:
        """What it holds, in numbers."""
        first = ", ".join(self.names[:4])
        more = f" and {len(self.names) - 4} more" if len(self.names) > 4 else ""
        return facts(
            {
                "people": self.data["person"].n_unique(),
                "recordings": len(self.recordings),
                "rows": f"{len(self.data):,}",
                "features": first + more,
                "every": self.step_ms and f"{self.step_ms / 1000:g} s",
            },
            f"{'Simulated table' if self.simulated else 'Table'} of features"
            + (", released" if self.released else ""),
        )

    @classmethod
    def of(cls, study: Study) -> FeatureTable:
        """The table of a ``features`` study."""
        if not isinstance(study, Study):
            raise InputError(
                f"this is a {type(study).__name__}: read a study with eyelid.read('…'), or make a "
                "table of a frame with eyelid.FeatureTable.from_frame"
            )
        if study.kind != "features":
            raise InputError(
                f"this is a study of {study.kind}, not of features: make features first with "
                "'eyelid features IN OUT'"
            )
        return cls.outline(check(study))

    @classmethod
    def outline(cls, study: Study) -> FeatureTable:
        """The table of a ``features`` study with whatever rows it has, or none."""
        if "eye" in study.data.columns:
            # Rows of two eyes would count as two recordings.
            raise InputError("features have one row a window, not one an eye: drop the column eye")
        if not study.features:
            raise InputError("study.json names no features: list them with their bounds")
        absent = [f.name for f in study.features if f.name not in study.data.columns]
        if absent:
            raise InputError(f"feature {absent[0]} is in study.json but not in the data")
        return cls(
            data=study.data,
            features=study.features,
            people=study.people,
            step_ms=study.step_ms,
            window_ms=study.window_ms,
            planned_rows=study.planned_rows,
            origin=study.origin,
            simulated=study.simulated,
            released=study.released,
            chosen=study.chosen,
        )

    def only(self, *names: str) -> FeatureTable:
        """A table of these features alone, in the order of this one; the origin is inherited.

        Which features are left is public: choose them without looking at the data.

        >>> features = [Feature(name, "1/s", "", 0.0, 1.0) for name in ("rate", "other")]
        >>> table_from_arrays(np.zeros((2, 3, 4, 2)), features).only("rate").names
        ['rate']
        """
        if not names:
            raise InputError("no feature is named: say which ones are to be kept")
        for name in names:
            if name not in self.names:
                raise unknown("feature", name, self.names)
        gone = [name for name in self.names if name not in names]
        kept = tuple(feature for feature in self.features if feature.name in names)
        return replace(self, data=self.data.drop(gone), features=kept)

    def study(self) -> Study:
        """This table as a study, to be written."""
        return Study(
            kind="features",
            data=self.data,
            people=self.people,
            features=self.features,
            step_ms=self.step_ms,
            window_ms=self.window_ms,
            planned_rows=self.planned_rows,
            origin=self.origin,
            simulated=self.simulated,
            released=self.released,
            chosen=self.chosen,
        )

    @property
    def names(self) -> list[str]:
        """The feature columns, in order."""
        return [feature.name for feature in self.features]

    @property
    def public_rows(self) -> int:
        """Rows of a recording that are known without a look at any: as planned, or the default.

        The default is five minutes of rows with a regular step, and twenty of others.
        """
        if self.planned_rows is not None:
            return self.planned_rows
        return max(1, round(_DEFAULT_MS / self.step_ms)) if self.step_ms else _DEFAULT_ROWS

    @property
    def shortest(self) -> int:
        """Rows of the shortest recording that has a value; of all where none has."""
        rows = self.recordings["rows"].to_numpy()
        return int((rows if self.blank.all() else rows[~self.blank]).min())

    @cached_property
    def blank(self) -> NDArray[np.bool_]:
        """Whether a recording has no value of any feature, in the order of `recordings`.

        One that is too short or too slow to be summarised has one such row in its place, which is
        no window, and no event.
        """
        columns = [self.data[name] for name in self.names]
        if not all(column.dtype.is_numeric() for column in columns):
            return np.zeros(len(self.recordings), dtype=bool)
        lost = np.ones(len(self.data), dtype=bool)
        for column in columns:
            # Nearly always the first one has values.
            if lost.any():
                lost &= column.cast(pl.Float64).fill_nan(None).is_null().to_numpy()
        rows = self.recordings["rows"].to_numpy()
        blank = np.logical_and.reduceat(lost, np.cumsum(rows) - rows) if len(rows) else lost
        return np.asarray(blank, dtype=bool)

    @cached_property
    def recordings(self) -> pl.DataFrame:
        """One row a recording, in order of appearance: its keys and its number of ``rows``."""
        starts = track_starts(self.data).arg_true()
        keys = [c for c in INDEX_COLUMNS[:-1] if c in self.data.columns]
        rows = np.diff(starts.to_numpy().astype(np.int64), append=len(self.data))
        return self.data.select(keys)[starts].with_columns(pl.Series("rows", rows))


def table_from_arrays(
    values: np.ndarray, features: Sequence[Feature], step_ms: float = 500.0
) -> FeatureTable:
    """A table of invented keys around an array of shape (people, recordings, rows, features).

    >>> import numpy as np
    >>> table = table_from_arrays(np.zeros((2, 3, 4, 1)), [Feature("rate", "1/s", "", 0.0, 1.0)])
    >>> table.data.shape
    (24, 6)
    """
    people, recordings, rows, width = values.shape
    if width != len(features):
        raise InputError(f"{width} columns but {len(features)} features")
    count = people * recordings * rows
    row = np.arange(count)
    # Written once each: letters take longer than places.
    names = pl.Series("person", np.arange(people)).cast(pl.String)
    record = pl.Series(np.arange(recordings)).cast(pl.String).gather(row // rows % recordings)
    columns = {
        "person": names.gather(row // (rows * recordings)),
        "recording": record,
        "task": record,
        "stimulus": pl.repeat("", count, eager=True),
        "time_ms": row % rows * step_ms,
    }
    flat = values.reshape(count, width)
    return FeatureTable(
        data=pl.DataFrame(columns | {f.name: flat[:, j] for j, f in enumerate(features)}),
        features=tuple(features),
        people=names.to_frame(),
        step_ms=step_ms,
        # An array has as many rows for everybody, whatever is in it.
        planned_rows=rows,
    )
