"""What a study is asked of: frames, lists and paths are refused with the call that makes one."""

from __future__ import annotations

from os import PathLike

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable

FRAMES = ("polars", "pandas", "pyarrow", "modin", "cudf", "narwhals", "dask", "duckdb")
GAZE = ("pymovements",)


def is_frame(source: object) -> bool:
    """Whether something is a frame, or gaze of another library, whose columns nobody explained."""
    return not isinstance(source, str) and library_of(source) in (*FRAMES, *GAZE)


def library_of(source: object) -> str:
    """The library that something's type is of."""
    return type(source).__module__.partition(".")[0]


_OF_FILES = ("lint", "convert")
# What works in memory, and what needs no study where public facts are given.
_OF_STUDIES = ("window_features", "event_features", "gaze_map", "detect_events", "write")
_WITHOUT = ("cost", "audit")


def refuse_frame(source: object, call: str = "release", *, gaze: bool = False) -> None:
    """Refuse a frame where a study is expected, with the call that makes one of it.

    Args:
        source: what was given.
        call: the function that it was given to.
        gaze: whether that takes gaze alone.
    """
    if not is_frame(source):
        # A heatmap names the function that it was once.
        if call != "heatmap":
            _refuse_other(source, call)
        return
    if library_of(source) in GAZE:
        raise InputError(
            f"this is a {type(source).__name__} of pymovements: "
            f"{call}(eyelid.Study.from_pymovements(gaze, person='…'), …)"
        )
    study = "eyelid.Study.from_frame(frame, person='…', time='…', x='…', y='…', units='…')"
    table = "eyelid.FeatureTable.from_frame(frame, person='…', bounds={'…': (lower, upper)})"
    how = f"{call}({study}, …)" if gaze else f"{call}({table}, …), or {study} for samples of gaze"
    raise InputError(
        f"this is a {type(source).__name__} of {library_of(source)}, which does not say what its "
        f"columns are: {how}"
    )


def _refuse_other(source: object, call: str) -> None:
    """Refuse what is neither a study, nor a path where one is read."""
    kind = "nothing" if source is None else f"a value of type {type(source).__name__}"
    if isinstance(source, str | PathLike):
        if call in _OF_STUDIES:
            raise InputError(
                f"{call} takes a study, and got a path: "
                f"eyelid.{call}(eyelid.read({str(source)!r}), …)"
            )
        return
    if call == "read":
        raise InputError(f"read takes the path of recordings or of a study folder, and got {kind}")
    if call in _OF_FILES:
        raise InputError(
            f"{call} takes files, and got {kind}: write it first, with "
            f"eyelid.write(study, 'study'), then {call}('study', …)"
        )
    if source is None and call in _WITHOUT:
        return
    if library_of(source) != "eyelid" and not isinstance(source, Study | FeatureTable):
        paths = "" if call in _OF_STUDIES else ", or the path of one"
        raise InputError(
            f"{call} takes a study{paths}, and got {kind}: read recordings with eyelid.read('…'), "
            "or make a study of a frame with eyelid.Study.from_frame"
        )
