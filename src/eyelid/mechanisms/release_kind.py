"""What kinds of things are released: what is said and done by kind is a table with these keys."""

from __future__ import annotations

from enum import StrEnum


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
    SAMPLES = "samples"
    """Every participant's own gaze, sample by sample."""
