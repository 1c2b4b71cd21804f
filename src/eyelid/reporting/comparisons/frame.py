"""The frame of a comparison, which was a method in version 0.1."""

from __future__ import annotations

import warnings

import polars as pl


class CallableFrame(pl.DataFrame):
    """A frame that may also be called, as `Comparison.frame` was in version 0.1."""

    def __call__(self) -> pl.DataFrame:
        """The frame, with a warning."""
        warnings.warn(
            "Comparison.frame is no method any more: leave out the brackets",
            DeprecationWarning,
            stacklevel=2,
        )
        return pl.DataFrame(self)
