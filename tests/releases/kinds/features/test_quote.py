import math
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.reporting.sentences import in_unit

FACTS = {"people": 20, "recordings": 3, "features": 28, "length": 600}


def test_a_quote_needs_no_data():
    found = eyelid.cost("laplace", **FACTS, epsilon=1.0, unit="recording").to_dict()
    assert found["guarantee"]["epsilon"] == 1.0
    assert found["person_level"]["epsilon"] == 3.0
    expected = math.sqrt(2) * 28 * 600
    assert found["expected_error"]["rmse_of_span"] == pytest.approx(expected, rel=1e-6)


def test_a_quote_says_when_a_release_would_carry_nothing():
    strong = eyelid.cost("gaussian", **FACTS, epsilon=1.0).to_dict()
    weak = eyelid.cost("gaussian", **FACTS, epsilon=500.0, unit="record").to_dict()
    assert not strong["informative"]
    assert "almost no information" in strong["says"]
    assert weak["informative"]
    assert "almost no information" not in weak["says"]


def test_a_quote_from_a_study_is_that_of_its_release(make_table):
    table = make_table()
    quote = eyelid.cost("laplace", table, epsilon=1.0, unit="recording")
    done = eyelid.release(table, mechanism="laplace", epsilon=1.0, unit="recording")
    assert quote.guarantee == done.certificate.guarantee
    assert quote.person_level == done.certificate.person_level


def test_one_person_has_no_price_as_a_release_would_be_refused(make_table):
    for mechanism in ("laplace", "groupmean"):
        with pytest.raises(InputError, match=r"only one person .*needs at least 2 people"):
            eyelid.cost(mechanism, make_table(people=1), epsilon=1.0)


def test_a_quote_without_facts_asks_for_them():
    with pytest.raises(InputError, match="missing: recordings, length"):
        eyelid.cost("laplace", people=3, features=2, epsilon=1.0)


def test_people_are_averaged_in_the_error_of_their_mean():
    own = eyelid.cost("dcfpa", **FACTS, epsilon=1.0).to_dict()["expected_error"]
    assert own["group_mean_rmse_of_span"] == pytest.approx(own["rmse_of_span"] / math.sqrt(20))
    mean = eyelid.cost("groupmean", **FACTS, epsilon=1.0).to_dict()["expected_error"]
    assert mean["group_mean_rmse_of_span"] == mean["rmse_of_span"]
    assert mean["constant_rmse_of_span"] == pytest.approx(0.288675, rel=1e-5)


def test_a_mean_over_the_people_needed_carries_information_and_over_one_less_does_not():
    quoted = eyelid.cost("laplace", **FACTS, epsilon=1.0).to_dict()
    needed = quoted["people_needed"]
    assert f"the mean over {needed:,} people or more (groupmean with dct inside)" in quoted["says"]

    def informative(people):
        facts = FACTS | {"people": people}
        mean = eyelid.cost("groupmean", **facts, epsilon=1.0, inner="dct").to_dict()
        assert mean["informative"] == mean["informative_about"]["recording_means"]
        return mean["informative"]

    assert informative(needed)
    assert not informative(needed - 1)


@pytest.mark.parametrize("inner", ["dct", "envelope", "laplace", "prewindow:only=linear"])
@pytest.mark.parametrize("unit", ["person", "recording"])
def test_the_people_needed_are_those_of_the_very_mean(inner, unit):
    asked = FACTS | {"epsilon": 1.0, "inner": inner, "unit": unit}
    quoted = eyelid.cost("groupmean", **asked).to_dict()
    for key, error in (
        ("people_needed", "recording_mean"),
        ("people_needed_for_values", "value"),
    ):
        needed = quoted[key]
        enough = [
            getattr(eyelid.cost("groupmean", **asked | {"people": people}).expected, error) < 0.1
            for people in (needed - 1, needed)
        ]
        assert enough == [False, True]


def test_the_people_needed_grow_with_a_generous_default_length():
    def needed(length):
        asked = FACTS | {"length": length, "epsilon": 1.0}
        return eyelid.cost("groupmean", **asked).to_dict()["people_needed"]

    assert needed(600) == pytest.approx(needed(60), rel=0.02)


def test_the_people_needed_are_counted_for_each_group(simulated_table):
    says = eyelid.cost("groupmean", simulated_table, epsilon=1.0, by="gender").to_dict()["says"]
    assert "people or more in each group" in says


def test_a_larger_epsilon_is_no_advice_where_the_promise_is_formal_only():
    says = {
        epsilon: eyelid.cost("laplace", **FACTS, epsilon=epsilon).to_dict()["says"]
        for epsilon in (1.0, 2000.0)
    }
    assert "or a larger ε. Over so many people" in says[1.0]
    assert "larger ε" not in says[2000.0]


def test_of_a_mean_it_is_told_who_is_in_it_and_nobody_is_named():
    quote = eyelid.cost("groupmean", **FACTS, epsilon=1.0, inner="laplace")
    assert quote.advantage_bound == pytest.approx(math.tanh(0.5), rel=1e-9)
    assert eyelid.cost("laplace", **FACTS, epsilon=1.0).advantage_bound is None


def test_a_mean_s_error_is_told_before_and_after_clipping():
    says = eyelid.cost("groupmean", **FACTS, epsilon=1.0).to_dict()["says"]
    assert re.search(r"\(before clipping to the bounds, about 0\.5\d+ after\)", says)
    bare = eyelid.cost("groupmean", **FACTS, epsilon=1.0, clipped=False).to_dict()["says"]
    assert "clipping" not in bare


def test_more_is_needed_for_less_epsilon_and_for_more_features():
    def needed(**changed):
        asked = FACTS | {"epsilon": 1.0} | changed
        return eyelid.cost("laplace", **asked).to_dict()["people_needed"]

    assert needed(epsilon=0.1) > needed() > needed(features=1) > needed(features=1, recordings=1)


def test_a_mean_that_carries_nothing_says_so_of_the_mean():
    says = eyelid.cost("groupmean", **FACTS, epsilon=0.01).to_dict()["says"]
    assert "This release carries almost no information." in says
    assert "a person's own" not in says
    assert "may still re-identify people" not in says


def test_only_units_that_the_mechanism_inside_offers_are_named():
    says = eyelid.cost("groupmean", **FACTS, epsilon=0.01, inner="dct").to_dict()["says"]
    assert "an openly weaker unit (recording)," in says


def test_a_quote_for_bins_counts_windows_as_a_person_does():
    quote = eyelid.cost("groupmean", **FACTS, epsilon=1.0, inner="prewindow:only=linear")
    assert (quote.facts.length, quote.facts.features) == (600 + 59, 7)
    assert quote.to_dict()["people_needed"] > 20


@pytest.mark.parametrize("epsilon", [1e-9, 1e5])
def test_an_epsilon_out_of_reach_for_a_mean_does_not_stop_another_release(make_table, epsilon):
    done = eyelid.release(make_table(), mechanism="laplace", epsilon=epsilon)
    assert "(groupmean)" not in done.worth


def test_no_number_of_people_takes_back_what_everybody_is_clipped_by():
    facts = {"people": 100, "recordings": 2, "features": 3, "length": 120, "epsilon": 1.0}
    clipped = eyelid.cost("dct", radius=0.05, **facts).to_dict()
    assert clipped["people_needed"] is None
    assert clipped["expected_error"]["group_mean_rmse_of_span"] > 0.45
    assert eyelid.cost("dct", **facts).to_dict()["people_needed"] > 1


def _of_people(features, people=16, rows=1):
    values = np.random.default_rng(3).uniform(0.2, 0.8, (people, 1, rows, len(features)))
    spans, lowers = ([getattr(f, what) for f in features] for what in ("span", "lower"))
    return table_from_arrays(values * spans + np.array(lowers), features)


RATE = Feature("fixation_rate", "1/s", "", 0.0, 10.0)
DURATION = Feature("fixation_duration_mean", "ms", "", 100.0, 3000.0)
OTHERS = [Feature(f"measure_{number}", "deg", "", 0.0, 5.0) for number in range(5)]


def test_an_error_larger_than_people_differ_hides_behind_a_share_of_the_span():
    """A tenth of the range sounds small; 300 ms of a fixation's duration does not."""
    table = _of_people([*OTHERS, DURATION, RATE])
    quote = eyelid.cost("groupmean", table, epsilon=8.0, length=1)
    share = quote.expected.value
    says = quote.to_dict()["says"]
    assert f"fixation_rate {10 * share:.2g}/s, fixation_duration_mean" in says
    assert f"{float(f'{2900 * share:.2g}'):.0f} ms" in says
    assert "measure_0" in says
    assert "measure_1" not in says


def test_errors_in_json_are_in_the_unit_of_each_feature_and_old_keys_stay():
    table = _of_people([DURATION, RATE, *OTHERS])
    told = eyelid.cost("gaussian", table, epsilon=8.0, length=1).to_dict()["expected_error"]
    assert {
        "rmse_of_span", "clipped_rmse_of_span", "recording_mean_rmse_of_span",
        "group_mean_rmse_of_span", "constant_rmse_of_span",
    } < set(told)  # fmt: skip
    of = {each["feature"]: each for each in told["features"]}
    assert list(of) == [feature.name for feature in (DURATION, RATE, *OTHERS)]
    assert (of["fixation_rate"]["unit"], of["fixation_duration_mean"]["unit"]) == ("1/s", "ms")
    assert of["fixation_rate"]["value"] == pytest.approx(10 * told["rmse_of_span"])
    assert of["fixation_duration_mean"]["group_mean"] == pytest.approx(
        2900 * told["group_mean_rmse_of_span"]
    )


def test_a_feature_without_bounds_has_no_expected_error():
    table = _of_people([RATE, DURATION])
    unbounded = replace(DURATION, upper=math.inf)
    quote = eyelid.cost("laplace", replace(table, features=(RATE, unbounded)), epsilon=1.0)
    told = quote.to_dict()["expected_error"]["features"]
    assert [each["feature"] for each in told] == ["fixation_rate"]


def test_a_data_card_lists_the_error_of_every_feature_in_its_unit(tmp_path):
    table = _of_people([DURATION, RATE, *OTHERS])
    done = eyelid.release(table, tmp_path / "out", mechanism="groupmean", epsilon=8.0, length=1)
    card = (tmp_path / "out" / "DATACARD.md").read_text("utf-8")
    assert "fixation_rate" in done.worth
    errors = eyelid.cost("groupmean", table, epsilon=8.0, length=1).to_dict()["expected_error"]
    for each in errors["features"]:
        (line,) = (line for line in card.splitlines() if line.startswith(f"| {each['feature']} |"))
        assert in_unit(each["value"], each["unit"]) in line


@pytest.mark.parametrize(("mechanism", "said"), [("ksame", {"k": 2}), ("groupmean", {})])
def test_means_over_different_stimuli_are_foretold(mechanism, said, make_table):
    table = make_table(4, 2, 3)
    order = {"0": {"0": "A", "1": "B"}, "1": {"0": "B", "1": "A"}}
    keys = table.data.select("person", "recording").rows()
    stimulus = [order[str(int(person) % 2)][recording] for person, recording in keys]
    epsilon = {} if mechanism == "ksame" else {"epsilon": 1.0}

    def told(labels):
        labelled = replace(table, data=table.data.with_columns(pl.Series("stimulus", labels)))
        notes = eyelid.cost(mechanism, labelled, **epsilon, **said).notes
        return any("over different stimuli" in note for note in notes)

    assert told(stimulus)
    shown = table.data["recording"].to_list()
    assert not told(shown)
    # A file that is empty does not say what was shown.
    lost = (pl.col("person") == "0") & (pl.col("recording") == "0")
    empty = [pl.when(~lost).then(pl.col(name)).alias(name) for name in table.names]
    gone = table.data.select(lost.alias("lost"))["lost"]
    table = replace(table, data=table.data.with_columns(empty))
    assert not told(["" if away else label for away, label in zip(gone, shown, strict=True)])
