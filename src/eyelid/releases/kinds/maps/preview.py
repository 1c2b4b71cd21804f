"""What a heatmap of a study would promise and show: nothing is spent, drawn or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eyelid.engine.progress import Advance, one_bar
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.io.pieces import StudyInPieces
from eyelid.privacy.noise import Randomness, randomness
from eyelid.releases.certificate import shown_by_choice, told_of_choice
from eyelid.releases.kinds.features.preparation import opened
from eyelid.releases.kinds.maps.outlook import Outlook, outlook
from eyelid.releases.kinds.maps.plan import MapPlan, make_map_plan
from eyelid.releases.kinds.maps.reliability import Reliability, reliability, tables_sentence, worst
from eyelid.releases.kinds.maps.survey import Survey, surveyed
from eyelid.releases.kinds.maps.view import Size, view_of
from eyelid.releases.maps.pictures import guarantee_legend
from eyelid.spelling import plural


@dataclass(frozen=True, eq=False)
class HeatmapPreview:
    """A heatmap before it is paid for.

    Attributes:
        study: whose gaze it would be of, without it.
        plan: everything that is settled.
        survey: what a look at everybody's gaze told.
    """

    study: Study
    plan: MapPlan
    survey: Survey

    @property
    def protects(self) -> str:
        """Whom it would protect, as its pictures would say."""
        return guarantee_legend(self.plan.guarantee, len(self.plan.people))

    @property
    def reliability(self) -> Reliability | None:
        """What could be trusted, from public facts alone; None where nothing can be said."""
        plan = self.plan
        if plan.mechanism is None:
            return None
        found = [
            reliability(plan.mechanism, each.shape, plan.view.sigma_px) for each in plan.observers
        ]
        return worst(found)

    @property
    def outlook(self) -> Outlook | None:
        """Whether a blob in the middle is as good, from public facts; None where not known."""
        plan = self.plan
        if plan.mechanism is None:
            return None
        fewest = min(plan.observers, key=lambda each: each.shape.people)
        return outlook(
            plan.mechanism,
            fewest.shape,
            plan.view.sigma_px,
            groups=len(plan.observers),
            epsilon=plan.guarantee.epsilon,
        )

    @property
    def says(self) -> tuple[str, ...]:
        """What could be trusted and expected in sentences, of maps and of tables."""
        said = [each.sentence for each in (self.reliability, self.outlook) if each is not None]
        tables = self.plan.tables
        if tables is not None:
            beside_map = self.plan.mechanism is not None
            said.append(tables_sentence(tables.mechanism, tables.shape, beside_map=beside_map))
        return tuple(said)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was taken for granted."""
        chosen = told_of_choice(self.study.chosen, len(self.plan.people))
        return *self.study.notes, *self.plan.notes, *chosen

    @property
    def for_owner(self) -> tuple[str, ...]:
        """About the raw data, so for their owner alone, and in no file."""
        survey = self.survey
        if not survey.looks:
            return (
                "no look lies on the picture: check --at, --scale and the units; the map is noise",
            )
        told = []
        if survey.outside:
            share = survey.outside / (survey.looks + survey.outside)
            about = f"{share:.0%}" if share >= 0.01 else "less than 1%"
            was = "was" if survey.outside == 1 else "were"
            told.append(f"{plural(survey.outside, 'look')} ({about}) {was} outside the picture")
        if survey.without:
            told.append(f"{plural(survey.without, 'person', 'people')} had no look on the picture")
        seen = survey.layers
        last = int(seen.nonzero()[0].max())
        if self.plan.stretches_ms is not None:
            if last + 1 < len(seen):
                begin = f"{self.plan.stretches_ms[last + 1] / 1000:.10g} s"
                rest = plural(len(seen) - last - 1, "map")
                told.append(f"nobody looked from {begin} on: the last {rest} would be noise alone")
        elif not seen.all():
            names = ", ".join(np.array(self.plan.layers)[~seen])
            told.append(f"nobody looked at {names}: a map of it is noise alone")
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid heatmap --dry-run --json`` prints it."""
        trusted, expected = self.reliability, self.outlook
        return {
            "dry_run": True,
            "people": len(self.plan.people),
            "mechanism": None if self.plan.mechanism is None else self.plan.mechanism.name,
            "guarantee": self.plan.guarantee.to_dict(),
            "noise": {"sampler": self.plan.sampler(), "numerics": self.plan.numerics},
            "unprotected": [*self.plan.unprotected, *shown_by_choice(self.study.chosen)],
            "map": self.plan.facts
            | {
                "reliability": None if trusted is None else trusted.to_dict(),
                "outlook": None if expected is None else expected.to_dict(),
            },
            "says": " ".join(self.says),
        }


@dataclass(frozen=True, eq=False)
class Planned:
    """A heatmap of which no gaze was read yet.

    Attributes:
        cut: whose gaze it would be of.
        plan: everything that is settled by public facts.
        noise: where noise would come from.
    """

    cut: StudyInPieces
    plan: MapPlan
    noise: Randomness

    def previewed(self, advance: Advance) -> HeatmapPreview:
        """With a look at everybody's gaze, which may turn out to be too much."""
        survey = surveyed(self.cut, self.plan, advance)
        self.plan.check_looks(survey.most)
        return HeatmapPreview(self.cut.head, self.plan, survey)


def heatmap_preview(source: Study | Path | str, **asked: Any) -> HeatmapPreview:
    """Check everything that a heatmap needs; the arguments are those of `private_heatmap`.

    Args:
        source: a study of samples or fixations, or recordings.
        asked: all the others.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=4, minutes=0.1, seed=1)
    >>> found = heatmap_preview(study, stimulus="comic", level="good")
    >>> found.plan.told, found.plan.guarantee.numbers()
    ('4 people, 1 map of 1920 × 1080 px, measured in 5 × 3 cells by map-grid', 'ε = 1, δ = 1e-06')
    """
    made = planned(source, **asked)
    with one_bar(made.cut.recordings.height, "recordings") as advance:
        return made.previewed(advance)


def planned(
    source: Study | Path | str,
    *,
    stimulus: str | Path | Sequence[str | Path] | None = None,
    image: str | Path | Sequence[str | Path] | None = None,
    size: Size | None = None,
    at: tuple[float, float] | None = None,
    scale: float | None = None,
    blur: float | str | None = None,
    seed: int | None = None,
    map: Map = None,
    people: Whom = None,
    **asked: Any,
) -> Planned:
    """Check everything that can be checked without anybody's gaze.

    Args:
        source: a study of samples or fixations, or recordings.
        stimulus: names or picture files.
        image: picture files.
        size: of the picture in px.
        at: where its top left lay.
        scale: px of the screen that one of its px took.
        blur: the point spread.
        seed: of the noise.
        map: what you say about the columns of recordings.
        people: whom it is about, as for `eyelid.release`.
        asked: what else `make_map_plan` takes.
    """
    if seed is not None and seed < 0:
        raise InputError(f"seed must not be negative, got {seed}")
    noise = randomness(seed)
    cut = opened(source, map, people)
    view = view_of(
        cut, _several(stimulus), images=_several(image), size=size, at=at, scale=scale, blur=blur
    )
    return Planned(cut, make_map_plan(cut.head, view, noise, **asked), noise)


def _several(given: str | Path | Sequence[str | Path] | None) -> list[str | Path]:
    """One or several of something as a list."""
    if given is None:
        return []
    return [given] if isinstance(given, str | Path) else list(given)
