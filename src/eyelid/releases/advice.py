"""Which commands fit a study as it is, for every place that says what to do next.

Advice is written as sentences with commands on ``IN`` and ``OUT`` in quotes. What is printed behind
``Next:`` is taken from them (`commands_in`), as far as the study's budget allows (`affordable`),
with the names that this study has (`on`): each of them works as it stands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from eyelid.errors import EyelidError, InputError
from eyelid.gaze.maps.placement import on_screen
from eyelid.gaze.study import RECORDING_KEY, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.pieces import in_pieces
from eyelid.io.remarks import rates_of
from eyelid.mechanisms.streams.scene import Scene
from eyelid.mechanisms.streams.study_scene import (
    coordinates_of,
    scene_of,
    usual_radius,
    usual_window,
)
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.releases.budget import spent_on
from eyelid.releases.kinds.statistics.plan import Terms, make_statistics_plan
from eyelid.releases.kinds.statistics.questions import Questions
from eyelid.releases.kinds.streams.plan import build_filter
from eyelid.releases.kinds.streams.preparation import (
    eyes_of,
    facts_of,
    recordings_touched,
    shortest_of,
    taken_of,
    with_lost_eye,
    without_eye,
)
from eyelid.reporting.gaze_sentences import guessed, over_recordings

ONE_PERSON = "One person has nobody to hide among: a release needs at least 2 people."
_QUOTED = re.compile(
    r"'(eyelid (?:inspect|lint|features|cost|summary|release|heatmap|budget) [^'`]+)'"
    r"|`(eyelid [^`]+)`"
)
_SPENDING = ("summary", "release", "heatmap")
_TAKING_PEOPLE = ("features", *_SPENDING)
_OUT = {
    "features": "features",
    "heatmap": "heatmap",
    "summary": "results",
    "release": "released",
    "convert": "study",
}
_RESULTS_EPSILON = 1.0
RESULTS_BELOW = 300
"""Below so many people, results say more than individual records under noise."""
# Lengths of windows in s, the usual one first: public numbers, of which one fits.
_WINDOWS_S, _STEP_S = (30, 10, 5, 2, 1), 0.5


def results_first(study: Study) -> str:
    """That results are the first thing to release of so few people; empty where they are not.

    Args:
        study: of which results may be asked for.

    >>> from eyelid.gaze.simulator import simulate
    >>> results_first(simulate(people=20, minutes=0.1))[:42]
    'Of 20 people results say most, each with a'
    """
    people = len(study.people)
    if not 2 <= people < RESULTS_BELOW:
        return ""
    try:
        questions, terms = Questions(), Terms(epsilon=_RESULTS_EPSILON)
        make_statistics_plan(in_pieces(study), randomness(None), questions, terms)
    except InputError:
        return ""
    return (
        f"Of {people} people results say most, each with an interval: means, differences between "
        "tasks, shares of people. How exact they would be: 'eyelid summary IN OUT --epsilon "
        f"{_RESULTS_EPSILON:g} --dry-run'. "
    )


def commands_in(advice: str) -> tuple[str, ...]:
    """The commands that advice names, in its order, each once.

    >>> commands_in("See 'eyelid cost IN --mechanism dct', then 'eyelid release IN OUT'.")
    ('eyelid cost IN --mechanism dct', 'eyelid release IN OUT')
    """
    found = (one or other for one, other in _QUOTED.findall(advice))
    return tuple(dict.fromkeys(found))


def on(
    command: str,
    source: Path | str,
    columns: Sequence[str] | None = None,
    out: str | None = None,
) -> str:
    """A command on ``IN`` and ``OUT`` with the names that are meant.

    Args:
        command: as `commands_in` gives it.
        source: what ``IN`` is; ``OUT`` becomes a name that is free.
        columns: what was said with ``--map``, which the command needs, too.
        out: a name for what it makes, unlike those in other advice; by the command without it.

    >>> on("eyelid cost IN --mechanism dct", "my study")
    "eyelid cost 'my study' --mechanism dct"
    """
    words = shlex.split(command)
    named = {"IN": str(source), "OUT": free_name(out or _OUT.get(words[1], "out"))}
    more = [word for each in columns or () for word in ("--map", each)]
    # Further behind, a word is a name of the study's own.
    places = [named.get(word, word) for word in words[:4]]
    return shlex.join([*places, *words[4:], *more])


def free_name(name: str) -> str:
    """A name in the current folder that nothing has."""
    number, free = 2, name
    while Path(free).exists() or Path(free).is_symlink():
        number, free = number + 1, f"{name}{number}"
    return free


def affordable(
    commands: Iterable[str], study: Study | FeatureTable, path: Path | None = None
) -> tuple[str, ...]:
    """The commands without releases that the study's budget may refuse.

    Args:
        commands: as `commands_in` gives them.
        study: whose ledger, if it has one, may be lost or have a limit.
        path: where it was read, as the ledger of recordings lies beside them.
    """
    commands = tuple(commands)
    try:
        limited = spent_on(study, path).limit is not None
    except EyelidError:
        limited = True
    if not limited:
        return commands
    free = tuple(command for command in commands if not _spends(command))
    known = study.origin is not None or path is not None
    return tuple(dict.fromkeys((*free, "eyelid budget IN"))) if known else free


def _spends(command: str) -> bool:
    return command.split()[1] in _SPENDING and "--dry-run" not in command.split()


def of_people(commands: Iterable[str], people: str | None) -> tuple[str, ...]:
    """The commands for the people who were chosen; without prices, which would be everybody's.

    Args:
        commands: as `commands_in` gives them.
        people: as ``--people`` takes them; None for everybody.

    >>> of_people(["eyelid cost IN", "eyelid features IN OUT"], "1,2")
    ('eyelid features IN OUT --people 1,2',)
    """
    if people is None:
        return tuple(commands)
    chosen = f" --people {shlex.quote(people)}"
    return tuple(
        each + chosen * (each.split()[1] in _TAKING_PEOPLE)
        for each in commands
        if each.split()[1] != "cost"
    )


def heatmap_lacks(study: Study, stimulus: str | None) -> str:
    """What a heatmap of a study still has to be told; nobody's gaze is looked at.

    Args:
        study: of samples or fixations.
        stimulus: of which a map would be; None where there is at most one.
    """
    # Deferred: maps take long to import, and most advice needs none.
    from eyelid.releases.kinds.maps.quote import heatmap_draft

    try:
        heatmap_draft(study, stimulus=stimulus, level="good")
        on_screen([], [], study.screen, study.units, study.xy_origin)
    except EyelidError as error:
        return str(error)
    return ""


def window_options(study: Study) -> str | None:
    """Options of ``features`` for windows that the middle recording has; None without any.

    >>> data = pl.DataFrame({"person": "1", "recording": "1", "time_ms": [0.0, 12_000.0]})
    >>> window_options(Study("samples", data, data.select("person").unique()))
    ' --window 10 --step 1'
    """
    fitting = fitting_windows(study)
    if fitting is None:
        return None
    window_s, step_s = fitting
    return "" if window_s == _WINDOWS_S[0] else f" --window {window_s:g} --step {step_s:g}"


def fitting_windows(study: Study) -> tuple[float, float] | None:
    """Length of windows that the middle recording has, and their step, in s; None without any.

    Those of the usual length where one recording has such a window.
    """
    each = study.data.group_by(RECORDING_KEY).agg(
        (pl.col("time_ms").max() - pl.col("time_ms").min()).alias("length_ms")
    )["length_ms"]
    lengths = each.drop_nulls()
    if lengths.is_empty() or (lengths >= _WINDOWS_S[0] * 1000).any():
        return _WINDOWS_S[0], _STEP_S
    middle_ms = float(lengths.sort()[(len(lengths) - 1) // 2])
    fitting = [length for length in _WINDOWS_S if length * 1000 <= middle_ms]
    if not fitting:
        return None
    return fitting[0], max(fitting[0] / 10, _STEP_S)


def fewer_features(table: FeatureTable) -> str:
    """A command that keeps two features of a table; empty where there are no more.

    Args:
        table: whose features have names; its rows are left alone.
    """
    if len(table.features) <= 2:
        return ""
    names = [name for name in table.names if "," not in name][:2]
    return f"eyelid features IN OUT --only {shlex.quote(','.join(names))}" if names else ""


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
        mechanism = build_filter("sample", taken, epsilon=_EPSILON, window=window, radius=radius)
    except InputError:
        # No scene or rate is known, or gaze in no known unit: release says what to give.
        return (
            "Gaze itself, sample by sample, takes a filter and its scene, which is not known: give "
            f"--set scene=x0,y0,x1,y1 to the mechanism sample, with its window and radius{chosen}."
        )
    facts = facts_of(taken)
    total, promised = mechanism.cost(facts, PERSON).numbers(), mechanism.cost(facts, mechanism.unit)
    touched = recordings_touched(window, facts.recordings, shortest_of(taken))
    several = (
        f" (over {touched} recordings, in which half a second may lie here, in "
        f"{guessed(over_recordings(promised, touched))}: each starts the filter anew)"
    )
    # No command: a release that protects no person is nothing to begin with.
    return (
        "Gaze itself, sample by sample, is hidden for moments, and by no filter for a person. With "
        f"--mechanism sample --epsilon {_EPSILON:g} --set window={window} --set "
        f"radius={radius:g}{chosen}, which of two ways a person looked for half a "
        f"second of one recording, up to {radius:g} {mechanism.place.spoken_units} apart, is then "
        f"guessed right in at most {guessed(promised)} of cases, in place of 50%"
        f"{several if touched > 1 else ''}; no person as a whole is hidden ({total})."
    )
