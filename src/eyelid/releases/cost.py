"""`cost`: what a release of any kind would promise and how far off it would be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from eyelid.errors import InputError
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom, counted_or_chosen
from eyelid.mechanisms.mechanism import Mechanism, find
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.reporting.quote import Quote

if TYPE_CHECKING:
    from eyelid.mechanisms.statistics.summary import Summary


def cost(
    mechanism: str | Mechanism,
    source: Study | FeatureTable | Path | str | None = None,
    *,
    people: int | Whom = None,
    recordings: int | None = None,
    features: int | None = None,
    length: int | str | None = None,
    map: Map = None,
    min_seconds: float | None = None,
    **parameters: Any,
) -> Quote[Any]:
    """The guarantee and the expected error of a release, before anything runs.

    Args:
        mechanism: its name, or a mechanism with its parameters set.
        source: a study whose public facts to take; or give them:
        people: how many people; or, of a study, whom it is about, as for `eyelid.release`.
        recordings: how many recordings each; of maps, how many pictures share the budget.
        features: how many features.
        length: rows of a recording, of a filter samples; synthetic participants need none.
        map: what you say about the columns of recordings, as for `eyelid.read`.
        min_seconds: what a recording of the study has to last, as for `eyelid.release`.
        parameters: of the mechanism, such as ``epsilon``, ``delta`` and ``unit``; of maps also
            ``stimulus``, ``size`` (width and height of the picture in px), ``level``, ``blur``,
            ``areas``, ``every_s`` and ``for_s``, as for `eyelid.heatmap`.

    >>> quote = cost("laplace", people=20, recordings=3, features=16, length=600, epsilon=1.0)
    >>> quote.person_level.epsilon, quote.to_dict()["informative"]
    (1.0, False)
    >>> cost("map-grid", people=40, size=(1680, 1050), level="good").guarantee.numbers()
    'ε = 1, δ = 1e-06'
    """
    refuse_frame(source, "cost")
    kind = find(mechanism) if isinstance(mechanism, str) else mechanism
    # Deferred: a price is of one kind.
    if kind.release in (ReleaseKind.MAPS, ReleaseKind.TABLES):
        from eyelid.releases.kinds.maps.quote import map_cost

        given = {"features": features, "length": length, "min_seconds": min_seconds}
        if doubled := [name for name, value in given.items() if value is not None]:
            raise InputError(f"a heatmap has no {doubled[0]}: leave it out")
        if isinstance(source, FeatureTable):
            raise InputError("a heatmap is made of gaze, and this is a table of features")
        return map_cost(mechanism, source, people=people, layers=recordings, map=map, **parameters)
    if kind.release is ReleaseKind.STATISTICS:
        from eyelid.releases.kinds.statistics.plan import check_said
        from eyelid.releases.kinds.statistics.quote import statistics_cost, summary_preview

        count, whom = counted_or_chosen(people, study=source is not None)
        if source is not None:
            if count is not None:
                raise InputError("a study says how many people there are: leave out `people`")
            check_said(kind.name, parameters)
            results = cast("Summary | str", mechanism)
            return summary_preview(source, mechanism=results, map=map, people=whom, **parameters)
        return statistics_cost(kind.name, people=count, features=features, **parameters)
    if kind.release is ReleaseKind.SYNTHETIC_GAZE:
        from eyelid.releases.kinds.gaze.quote import gaze_cost

        if min_seconds is not None:
            raise InputError(f"{kind.name} takes recordings of any length: leave min_seconds out")
        return gaze_cost(
            mechanism,
            source,
            people=people,
            recordings=recordings,
            features=features,
            length=length,
            map=map,
            **parameters,
        )
    make_quote: Callable[..., Quote[Any]]
    if kind.release is ReleaseKind.SAMPLES:
        from eyelid.releases.kinds.streams.quote import stream_cost as make_quote
    else:
        from eyelid.releases.kinds.features.quote import feature_cost as make_quote

        parameters["min_seconds"] = min_seconds
    return make_quote(
        mechanism,
        source,
        people=people,
        recordings=recordings,
        features=features,
        length=length,
        map=map,
        **parameters,
    )
