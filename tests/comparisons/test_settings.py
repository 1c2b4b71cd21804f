"""What is compared: every combination that a mechanism can take, and no other."""

import pytest

from eyelid.comparisons.settings import KS, feature_mechanisms, other_meaning, settings_of
from eyelid.errors import InputError
from eyelid.mechanisms import catalogue
from eyelid.reporting.comparisons.setting import Setting


def test_each_mechanism_takes_of_a_sweep_what_it_has():
    found = settings_of(["laplace", "ksame"], [1.0, 4.0], {"k": [2, 3]})
    assert [str(one) for one in found] == [
        "laplace, ε = 1",
        "laplace, ε = 4",
        "ksame, k = 2",
        "ksame, k = 3",
    ]


def test_k_is_the_size_of_groups_unless_a_mechanism_is_named():
    sweep = {"k": [3], "dct.k": [8], "ksame-dp.k": [2]}
    found = settings_of(["dct", "envelope", "ksame", "ksame-dp"], [1.0], sweep)
    assert [str(one) for one in found] == [
        "dct, ε = 1, k = 8",
        "envelope, ε = 1",
        "ksame, k = 3",
        "ksame-dp, ε = 1, k = 2",
    ]
    others = other_meaning(one.mechanism for one in found)
    assert "of dct, envelope it is the number of coefficients" in others


def test_every_mechanism_that_counts_people_by_k_is_swept_by_it():
    swept = {
        str(one.mechanism) for one in settings_of(["all"], [1.0], {"k": [3]}) if "k = 3" in str(one)
    }
    assert swept == {"ksame", "ksame-dp", "ksame-paper", "marginals-paper", "seeded"}


def test_a_mechanism_that_needs_k_gets_some():
    assert [dict(one.parameters)["k"] for one in settings_of(["ksame"])] == list(KS)


def test_all_are_those_that_take_features():
    named = {one.mechanism for one in settings_of(["all"], [1.0])}
    assert named == set(feature_mechanisms())
    assert {"dct", "synthetic", "lpa-paper"} <= named < set(catalogue())


def test_a_unit_is_its_own_or_everybodys_who_offers_it():
    found = settings_of(["gaussian:record", "gaussian", "synthetic"], [1.0], unit="recording")
    units = [dict(one.parameters).get("unit") for one in found]
    assert units == ["record", "recording", None]


def test_what_is_named_twice_is_run_once():
    assert len(settings_of(["laplace", "laplace"], [1.0, 1.0])) == 1


def test_a_setting_says_what_to_type():
    setting = Setting("dct", (("epsilon", 4.0), ("unit", "recording"), ("k", 8)))
    assert setting.command("study", "out") == (
        "eyelid release study out --mechanism dct --epsilon 4 --unit recording --set k=8"
    )


@pytest.mark.parametrize("epsilon", [1.00000001, 1 / 3, 3.9999999, 1e-7, 1234567.0])
def test_what_is_typed_and_shown_is_exactly_what_was_asked_for(epsilon):
    """Rounding up would go beyond a goal, and settings that differ must be told apart."""
    setting = Setting("laplace", (("epsilon", epsilon),))
    assert float(setting.command().rpartition(" ")[2]) == epsilon
    assert float(str(setting).rpartition(" ")[2]) == epsilon


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"mechanisms": []}, "no mechanism is named"),
        ({"mechanisms": ["laplce"]}, "did you mean 'laplace'"),
        ({"mechanisms": ["map-grid"]}, "'eyelid heatmap' runs it"),
        ({"epsilons": [0.0]}, "must be positive and finite, got 0"),
        ({"epsilons": [float("inf")]}, "must be positive and finite, got inf"),
        ({"epsilons": [float("nan")]}, "must be positive and finite, got nan"),
        ({"sweep": {"epsilon": [1]}}, "write --epsilons"),
        ({"sweep": {"unit": ["record"]}}, "write --unit"),
        ({"sweep": {"kk": [2]}}, "unknown parameter to sweep 'kk'"),
        ({"sweep": {"nosuch.k": [2]}}, "unknown parameter to sweep 'nosuch.k'"),
        ({"sweep": {"dct.epsilon": [2]}}, "write --epsilons"),
        ({"mechanisms": ["ksame:row"]}, "it offers person"),
        ({"mechanisms": ["ksame"], "sweep": {"k": []}}, "no value is given for k"),
    ],
)
def test_what_cannot_be_compared_is_said(asked, words):
    with pytest.raises(InputError, match=words):
        settings_of(**asked)
