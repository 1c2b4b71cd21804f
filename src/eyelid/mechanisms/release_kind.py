"""What a mechanism declares of itself: what it releases, how it executes, what it does to gaps.

What is said and done by kind is a table with these keys.
"""

from __future__ import annotations

from enum import Enum, StrEnum


class ReleaseKind(StrEnum):
    """What a mechanism gives to those who get a release.

    A mechanism declares its kind, and nobody asks for its class: what differs by kind, such as the
    text of a consent form, is a table from these to it.
    """

    RECORDS = "records"
    """Every participant's own features, under noise."""
    MEANS = "means"
    """Means over everybody or over public groups, under noise."""
    RANDOM_MEANS = "random-means"
    """Means over groups that chance has put together, under noise."""
    GROUPS = "groups"
    """Means over groups that chance has put together, without noise."""
    ROWS = "rows"
    """Rows that keep parts of participants' rows."""
    SYNTHETIC = "synthetic"
    """Synthetic participants, drawn from what was measured under noise."""
    MAPS = "maps"
    """Maps of where everybody, or public groups, looked; perhaps with tables of areas."""
    TABLES = "tables"
    """Tables of how everybody looked at areas of interest."""
    STATISTICS = "statistics"
    """Statistics of people's numbers, one for each measure and task: the results of a study."""
    SAMPLES = "samples"
    """Every participant's own gaze, sample by sample."""
    SYNTHETIC_GAZE = "synthetic-gaze"
    """Recordings of synthetic participants, sample by sample, with their events."""

    @property
    def of_features(self) -> bool:
        """Whether features of people's recordings are taken, and features given back."""
        return self not in _OF_OTHERS

    @property
    def of_means(self) -> bool:
        """Whether what is released are means over people, under noise."""
        return self in (ReleaseKind.MEANS, ReleaseKind.RANDOM_MEANS)


_OF_OTHERS = (
    ReleaseKind.MAPS,
    ReleaseKind.TABLES,
    ReleaseKind.STATISTICS,
    ReleaseKind.SAMPLES,
    ReleaseKind.SYNTHETIC_GAZE,
)


class Execution(Enum):
    """What of a study a mechanism needs at once, given the public facts of everybody."""

    PER_PERSON = "per person"
    """One person: everybody's record is made private on its own."""
    BY_SUMS = "by sums"
    """Exact sums over people, which add up over parts of a study."""
    ON_EVERYBODY = "on everybody"
    """The whole study."""


class Gaps(Enum):
    """What becomes of values that are missing."""

    KEPT = "kept"
    """They stay missing, or are filled in as a paper prints it."""
    MIDPOINT = "midpoint"
    """They become the middle of the feature's public bounds."""
    EMPTY_GROUPS = "empty groups"
    """What is released of a whole group is empty where a member has no value."""
    UNCOUNTED = "uncounted"
    """They count nowhere."""
