"""What a release of gaze itself would take, for whoever asks what to do with a study."""

from __future__ import annotations

import shlex

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io.remarks import rates_of
from eyelid.mechanisms.streams.scene import Scene
from eyelid.mechanisms.streams.study_scene import (
    coordinates_of,
    scene_of,
    usual_radius,
    usual_window,
)
from eyelid.privacy.unit import PERSON
from eyelid.releases.streams.facts import recordings_touched, shape_of, shortest_of
from eyelid.releases.streams.plan import eyes_of, taken_of, with_lost_eye, without_eye
from eyelid.releases.streams.scene import build_filter
from eyelid.releases.streams.words import guessed, over_recordings

_EPSILON = 4.0


def stream_way(study: Study) -> str:
    """One sentence with the options of a filter; empty where none takes such gaze.

    What stands in it follows from facts that such a release shows: the rate, or that of the fastest
    recording where they differ, the screen, the longest recording.
    """
    if study.kind != "samples":
        return ""
    eyes = eyes_of(study.data)
    whole = [
        eye for eye in eyes if eye and without_eye(with_lost_eye(study, eye).data, eye) is None
    ]
    if len(eyes) > 1 and not whole:
        return (
            "Gaze itself, sample by sample, is released of one eye, and none is in every recording:"
            " leave out the recordings that lack it."
        )
    eye = whole[0] if len(eyes) > 1 else None
    chosen = f" --set eye={shlex.quote(eye)}" if eye else ""
    try:
        taken = taken_of(study, eye)
        units, scene = coordinates_of(taken), scene_of(taken)
        rate_hz = taken.rate_hz or max((rate for rate in rates_of(taken) if rate), default=None)
        if rate_hz is None:
            raise InputError("no recording has two samples")
        window = usual_window(rate_hz)
        radius = usual_radius(Scene.of(units, scene))
        law = build_filter("sample", taken, epsilon=_EPSILON, window=window, radius=radius)
    except InputError:
        # No scene or rate is known, or gaze in no known unit: release says what to give.
        return (
            "Gaze itself, sample by sample, takes a filter and its scene, which is not known: give "
            f"--set scene=x0,y0,x1,y1 to the mechanism sample, with its window and radius{chosen}."
        )
    shape = shape_of(taken)
    total, promised = law.cost(shape, PERSON).numbers(), law.cost(shape, law.unit)
    touched = recordings_touched(window, shape.recordings, shortest_of(taken))
    several = (
        f" (over {touched} recordings, in which half a second may lie here, in "
        f"{guessed(over_recordings(promised, touched))}: each starts the filter anew)"
    )
    return (
        "Gaze itself, sample by sample: 'eyelid release IN OUT --mechanism sample --epsilon "
        f"{_EPSILON:g} --set window={window} --set radius={radius:g}"
        f"{chosen}'. Which of two ways a person looked for half a "
        f"second of one recording, up to {radius:g} {law.place.spoken_units} apart, is then "
        f"guessed right in at most {guessed(promised)} of cases, in place of 50 %"
        f"{several if touched > 1 else ''}; no person as a whole is hidden ({total})."
    )
