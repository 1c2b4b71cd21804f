"""A picture with a few things to see, and simulated participants looking at it, to try maps."""

from __future__ import annotations

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_points import GazePoints


def simulated_scene(
    people: int,
    *,
    width_px: int = 1680,
    height_px: int = 1050,
    hotspots: int = 4,
    hotspot_sd_px: float = 60.0,
    uniform: float = 0.2,
    fixations: int = 30,
    seed: int | None = None,
) -> GazePoints:
    """Fixations of people who do not exist, most of them on the same few places.

    Everybody looks alike: each fixation falls on one of the hotspots, or anywhere. Hotspots lie
    three standard deviations or more from the border, where the picture is large enough.

    Args:
        people: how many.
        width_px: of the picture.
        height_px: of the picture.
        hotspots: places that draw the eye, all of them equally.
        hotspot_sd_px: how far fixations scatter around one, in each direction.
        uniform: share of fixations that fall anywhere.
        fixations: of each person; those that miss the picture are left out.
        seed: makes the scene reproducible; with the same seed other people see the same hotspots.

    >>> looks = simulated_scene(3, seed=1)
    >>> len(looks.people), looks.person.size + looks.outside
    (3, 90)
    """
    for name, count in (("people", people), ("hotspots", hotspots), ("fixations", fixations)):
        if count < 1:
            raise InputError(f"{name} must be at least 1, got {count}")
    if not 0 <= uniform <= 1:
        raise InputError(f"uniform must be a share between 0 and 1, got {uniform:g}")
    if not 0 < hotspot_sd_px < np.inf:
        raise InputError(f"hotspot_sd_px must be above 0, got {hotspot_sd_px:g}")
    of_scene, of_people = (
        np.random.default_rng(part) for part in np.random.SeedSequence(seed).spawn(2)
    )
    size = np.array([width_px, height_px], dtype=np.float64)
    margin = np.minimum(3 * hotspot_sd_px, size / 2)
    centres = of_scene.uniform(margin, size - margin, (hotspots, 2))
    count = people * fixations
    places = centres[of_people.integers(hotspots, size=count)]
    places += of_people.normal(0.0, hotspot_sd_px, (count, 2))
    anywhere = of_people.random(count) < uniform
    places[anywhere] = of_people.uniform(0.0, size, (int(anywhere.sum()), 2))
    inside = ((places >= 0) & (places < size)).all(axis=1)
    person = np.repeat(np.arange(people), fixations)[inside]
    digits = len(str(people))
    return GazePoints(
        people=tuple(f"P{number:0{digits}d}" for number in range(1, people + 1)),
        layers=("scene",),
        width_px=width_px,
        height_px=height_px,
        person=person,
        layer=np.zeros(person.size, dtype=np.int64),
        x_px=places[inside, 0],
        y_px=places[inside, 1],
        weight=np.ones(person.size),
        outside=int((~inside).sum()),
    )
