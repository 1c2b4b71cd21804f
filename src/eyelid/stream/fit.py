"""Whether gaze fits the scene that it is said to be in; for whoever runs the gatekeeper alone."""

from __future__ import annotations

import numpy as np

from eyelid.mechanisms.streams.scene import Scene
from eyelid.stream.samples import RawGaze

# Fewer samples, or a smaller share outside, say nothing: people look past a screen's edge.
_ENOUGH, _MUCH = 500, 0.2
# Gaze as fractions of a screen is at most about one; scenes in other units are larger than this.
_FRACTION, _LARGE_SCENE = 1.5, 20.0


class Fit:
    """Counts gaze that lies outside of the scene, and tells of much of it, in round numbers.

    Args:
        scene: the public one.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._seen = self._outside = self._small = 0

    def add(self, raw: RawGaze) -> None:
        """Some more of it; directions are not looked at, since all of them are somewhere."""
        if self._scene.directions or self._seen >= _ENOUGH:
            return
        x, y = np.array(raw.parts)
        seen = ~(np.isnan(x) | np.isnan(y))
        x, y = x[seen], y[seen]
        scene = self._scene
        inside = (scene.x0 <= x) & (x <= scene.x1) & (scene.y0 <= y) & (y <= scene.y1)
        self._seen += len(x)
        self._outside += int((~inside).sum())
        self._small += int(((abs(x) <= _FRACTION) & (abs(y) <= _FRACTION)).sum())

    @property
    def trouble(self) -> str:
        """What should be looked into, if anything."""
        scene = self._scene
        if self._seen < _ENOUGH:
            return ""
        if self._outside > _MUCH * self._seen:
            tenths = max(1, round(10 * self._outside / self._seen))
            return (
                f"about {10 * tenths} % of the first samples lie outside of the "
                f"scene {scene} {scene.units}, and were taken for its edge: check --units and "
                "--scene"
            )
        if self._small == self._seen and scene.diameter > _LARGE_SCENE:
            return (
                f"gaze looks like fractions of a screen, and the scene {scene} is in "
                f"{scene.units}: check --units and --scene"
            )
        return ""
