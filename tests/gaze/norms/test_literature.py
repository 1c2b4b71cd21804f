"""Every published figure stands in the words of its source, or is computed of them."""

import math
import re
import statistics
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from eyelid.errors import InputError
from eyelid.gaze.features import event_feature_set, window_feature_set
from eyelid.gaze.norms import TASKS, Norm, definitions, measure_of, norm_for, norms
from eyelid.gaze.study import Feature

PUBLISHED = norms()
MEASURED = [norm for norm in PUBLISHED if norm.grade == "measured"]
ASSUMED = [norm for norm in PUBLISHED if norm.grade == "assumed"]
BY_NAME = {f.name: f for f in window_feature_set()}


def title(norm):
    return f"{norm.measure}-{norm.task}"


def numbers(text):
    return [float(found) for found in re.findall(r"\d*\.?\d+", text)]


def logarithms(printed):
    logs = [math.log(value) for value in numbers(printed)]
    return math.exp(statistics.mean(logs)), statistics.stdev(logs)


def quartiles(printed):
    median, first, third = numbers(printed)[-3:]
    # The quartiles of a Gaussian are 1.349 standard deviations apart.
    return median, (third - first) / 1.349


def halves(printed):
    young, sd_young, old, sd_old = numbers(printed)[-4:]
    spread = math.sqrt((sd_young**2 + sd_old**2) / 2 + ((young - old) / 2) ** 2)
    return (young + old) / 2, spread


ARITHMETIC = {
    "logarithms of the figures": logarithms,
    "median and quartiles": quartiles,
    "young and old in equal parts": halves,
}


def test_there_are_norms_of_both_grades_and_of_nothing_else():
    assert len(MEASURED) >= 10
    assert len(MEASURED) + len(ASSUMED) == len(PUBLISHED)


@pytest.mark.parametrize("norm", MEASURED, ids=title)
def test_what_is_measured_says_where_of_whom_and_with_what(norm):
    source = norm.source
    assert re.match(r"10\.\d{4,}/\S+$|https://\S+$", source.reference)
    assert all((source.text, source.place, source.printed, source.population, source.instrument))
    assert re.search(r"\d", source.population)


@pytest.mark.parametrize("norm", MEASURED, ids=title)
def test_what_is_measured_is_printed_or_follows_from_what_is(norm):
    printed, arithmetic = norm.source.printed, norm.source.arithmetic
    assert norm.within is None or norm.within in numbers(printed)
    if not arithmetic:
        assert {norm.mean, norm.between} <= set(numbers(printed))
        return
    mean, between = ARITHMETIC[arithmetic](printed)
    assert norm.mean == pytest.approx(mean, rel=2e-3)
    assert norm.between == pytest.approx(between, rel=4e-3)


@pytest.mark.parametrize("norm", ASSUMED, ids=title)
def test_what_is_assumed_has_a_typical_value_from_a_source_and_a_spread_of_its_own(norm):
    assert norm.source.text
    assert norm.source.place
    assert norm.source.printed
    assert norm.source.arithmetic == ""
    # Generous: in all that is measured people differ by a seventh of their mean or more.
    assert min(m.between / m.mean for m in MEASURED if m.scale == "linear") >= 1 / 7
    assert norm.between >= norm.mean / 7
    assert norm.note


IN_DIGITS = {"one in every three": "0.3333", "two or three": "2 3"}


@pytest.mark.parametrize("norm", ASSUMED, ids=title)
def test_what_is_assumed_is_what_is_printed_or_halfway_between_two_such(norm):
    printed = norm.source.printed
    for words, digits in IN_DIGITS.items():
        printed = printed.replace(words, digits)
    middles = [(one + other) / 2 for one in numbers(printed) for other in numbers(printed)]
    # As it is, in per cent or of a hundred words, or a second over what is printed in ms.
    told = [value for m in middles for value in (m, m / 100, 1000 / m)]
    assert any(norm.mean == pytest.approx(value, rel=3e-3) for value in told)


def test_no_norm_is_there_twice():
    keys = [(norm.measure, norm.task) for norm in PUBLISHED]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("norm", PUBLISHED, ids=title)
def test_norms_are_of_measures_that_are_known_and_lie_within_their_definitions(norm):
    definition = definitions()[norm.measure]
    lower, upper = norm.range(1)
    assert definition.name == norm.measure
    assert lower < norm.mean < upper
    in_its_unit = norm.converted(definition.unit)
    assert definition.lower <= in_its_unit.mean <= definition.upper


def test_nothing_comes_from_recordings_that_eyelid_is_tested_on():
    text = resources.files("eyelid.gaze.norms").joinpath("published.toml").read_text("utf-8")
    figures = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for name in ("MECO", "MPIIDPEye", "OSIE", "Lund2013"):
        assert name not in figures


def test_golden_values():
    (reading,) = norms("reading_rate", "silent-reading")
    assert (reading.mean, reading.between, reading.scale) == (266.6, 0.225, "log")
    (aloud,) = norms("reading_rate", "reading-aloud")
    assert (aloud.mean, aloud.between, aloud.within) == (167, 30.3, 5.2)
    (still,) = norms("blink_rate", "fixation")
    assert (still.mean, still.between, still.unit) == (10.3, 3.1, "1/min")
    (scenes,) = norms("fixation_duration_mean", "scene-viewing")
    assert (scenes.mean, scenes.grade) == (298, "assumed")


def test_the_measures_of_reading_tables_have_norms():
    for name in (
        *("reading_rate", "skipping_rate", "refixation_rate", "regression_rate"),
        *("first_fixation_duration", "gaze_duration", "total_reading_time", "go_past_time"),
        *("fixation_duration_mean", "saccade_length", "blink_rate"),
    ):
        assert norms(name, "silent-reading"), name


def test_every_feature_has_a_definition():
    features = [*window_feature_set()]
    for kind in ("fixations", "saccades"):
        features += event_feature_set(kind)
    assert {feature.name for feature in features} <= set(definitions())


@pytest.mark.parametrize(
    ("column", "measure"),
    [
        ("firstrun.dur", "gaze_duration"),
        ("IA_FIRST_FIXATION_DURATION", "first_fixation_duration"),
        ("WPM", "reading_rate"),
        ("fixation_duration", "fixation_duration_mean"),
        ("blink_rate", "blink_rate"),
        ("mood", None),
        ("", None),
    ],
)
def test_columns_of_known_tables_are_known(column, measure):
    assert measure_of(column) == measure


def test_no_name_means_two_measures():
    names = [name for name in definitions() if measure_of(name) != name]
    # Of an event and of windows: a person's average is the same.
    assert set(names) == {"fixation_duration", "saccade_amplitude"}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("blnk_rate",), "did you mean 'blink_rate'"),
        (("blink_rate", "silent"), "did you mean 'silent-reading'"),
        ((None, "driving"), "unknown kind of task 'driving'"),
    ],
)
def test_what_is_unknown_is_said_with_what_is_near(asked, words):
    with pytest.raises(InputError, match=words):
        norms(*asked)


def test_a_known_measure_without_a_norm_has_none():
    assert norms("wb2_var") == ()
    assert norm_for(BY_NAME["wb2_var"], "search") is None


def test_the_norm_of_a_feature_is_in_its_unit():
    found = norm_for(BY_NAME["blink_rate"], "silent-reading")
    assert found.unit == "1/s"
    assert found.mean == pytest.approx(11.7 / 60)
    assert found.between == pytest.approx(6.45 / 60)


def test_the_task_comes_before_any_task():
    duration = BY_NAME["fixation_duration_mean"]
    assert norm_for(duration, "search").mean == 249.1
    assert norm_for(duration, "walking").task == "any"
    assert norm_for(BY_NAME["saccade_amplitude_mean"], "silent-reading") is None


@pytest.mark.parametrize("task", ["vr", "webcam"])
def test_norms_for_any_task_are_not_for_instruments_by_themselves(task):
    assert all(norm_for(feature, task) is None for feature in definitions().values())


def test_degrees_say_nothing_of_pixels():
    pixels = {f.name: f for f in window_feature_set("px")}
    assert norm_for(pixels["saccade_amplitude_mean"], "search") is None
    assert norm_for(pixels["fixation_duration_mean"], "search").mean == 249.1


def test_ones_own_norm_comes_first_and_a_wrong_unit_of_it_is_an_error():
    own = Norm("gaze_duration", "silent-reading", "s", 0.25, 0.03)
    feature = Feature("firstrun.dur", "ms", "", 0.0, 5000.0)
    found = norm_for(feature, "silent-reading", [own])
    assert (found.mean, found.between, found.grade) == (250.0, 30.0, "own")
    wrong = replace(own, unit="deg")
    with pytest.raises(InputError, match="are in 'deg' and 'ms', which do not convert"):
        norm_for(feature, "silent-reading", [wrong])


def test_ones_own_norm_for_any_task_comes_before_a_published_one():
    own = Norm("fixation_duration_mean", "any", "ms", 200.0, 20.0)
    assert norm_for(BY_NAME["fixation_duration_mean"], "search", iter([own])).mean == 200.0


def test_a_feature_of_nobodys_but_one_s_own_norm_is_found():
    own = Norm("comprehension", "any", "%", 80.0, 10.0)
    found = norm_for(Feature("comprehension", "1", "", 0.0, 1.0), "silent-reading", [own])
    assert (found.mean, found.between) == (0.8, 0.1)


def test_people_s_medians_are_not_taken_for_their_means():
    amplitude = BY_NAME["saccade_amplitude_mean"]
    assert norm_for(amplitude, "walking") is None
    assert norm_for(amplitude, "walking", statistic="median").mean == 3.7
    assert norm_for(amplitude, "search", statistic="median") is None


def test_an_unknown_task_is_said():
    with pytest.raises(InputError, match="did you mean 'search'"):
        norm_for(BY_NAME["blink_rate"], "serch")


def test_every_task_is_in_words():
    assert {norm.task for norm in PUBLISHED} <= set(TASKS)


def test_norms_load_no_heavy_library():
    heavy = ["matplotlib", "sklearn", "jinja2", "dp_accounting"]
    code = (
        "import sys; from eyelid.gaze.norms import norms; norms()\n"
        f"sys.exit(any(name in sys.modules for name in {heavy}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("norm", PUBLISHED, ids=title)
def test_the_page_has_every_norm_as_it_is(norm):
    page = (Path(__file__).parents[3] / "docs" / "norms.md").read_text("utf-8")
    row = next(
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith(f"| `{norm.measure}` | {norm.task} |")
    )
    spread = f"{norm.between:g}" + (" (ln)" if norm.scale == "log" else "")
    within = "–" if norm.within is None else f"{norm.within:g}"
    facts = [norm.unit, f"{norm.mean:g}", spread, within, norm.grade, norm.source.short]
    assert row[2:] == facts
