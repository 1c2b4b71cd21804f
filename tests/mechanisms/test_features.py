"""What mechanisms for features declare about themselves."""

from dataclasses import replace

import pytest

from eyelid.attacks.override import override
from eyelid.mechanisms import catalogue
from eyelid.mechanisms.features import ON_WHOLE_TABLES, FeatureMechanism
from eyelid.mechanisms.mechanism import PublicFacts, mechanism_named, register
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy.unit import Trust

OF_FEATURES = {n: kind for n, kind in catalogue().items() if kind.release.of_features}
SHAPE = PublicFacts(people=20, recordings=2, length=8, features=2)


def test_a_mechanism_that_cannot_say_what_is_left_to_see_is_not_registered():
    # A data card needs it, which is made after the charge.
    class Mute(Laplace):
        """Has an error, and no words for it."""

        note = replace(Laplace.note, summary="Has an error, and no words for it.")
        name = "mute"
        aliases = ()
        predictable = False

    with pytest.raises(TypeError, match="mute has no worth of its own"):
        register(Mute)
    assert "mute" not in catalogue()


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"trust": Trust.CENTRAL, "execution": Execution.PER_PERSON}, "its trust is local"),
        ({"execution": Execution.BY_SUMS}, "executed by sums and has no partition and slots"),
        (
            {"apply_to_some": FeatureMechanism.apply_to_some},
            "executed per person and has no apply_to_some",
        ),
    ],
)
def test_what_a_release_would_fail_at_or_publish_after_the_charge_is_not_registered(declared, said):
    note = replace(Laplace.note, summary="Not what it declares.")
    false = type("False", (Laplace,), {**declared, "note": note, "name": "false", "aliases": ()})
    with pytest.raises(TypeError, match=said):
        register(false)
    assert "false" not in catalogue()


@pytest.mark.parametrize("name", OF_FEATURES)
def test_every_mechanism_says_how_far_off_it_is_or_what_is_left_to_see(name):
    OF_FEATURES[name].check_declared()


def test_what_a_mechanism_does_not_say_is_an_error():
    with pytest.raises(TypeError, match="ksame depends on how much people are alike"):
        mechanism_named("ksame", k=3).expected_rmse_of_span(SHAPE)
    with pytest.raises(TypeError, match="ksame depends on how much people are alike"):
        mechanism_named("ksame", k=3).expected_mean_rmse_of_span(SHAPE)
    with pytest.raises(TypeError, match="what laplace is worth follows from its expected error"):
        mechanism_named("laplace", epsilon=1.0).worth(SHAPE)


@pytest.mark.parametrize("name", ["trust", "by_person", "by_sums"])
def test_who_says_something_about_everybody_declares_its_execution(name):
    with pytest.raises(TypeError, match=f"Own has its own {name}: declare its execution"):
        type("Own", (Laplace,), {name: Trust.CENTRAL})


@pytest.mark.parametrize("name", sorted(ON_WHOLE_TABLES))
def test_who_takes_whole_tables_in_a_way_of_its_own_declares_its_execution(name):
    def own(self, *words):
        raise NotImplementedError

    refused = f"Own has its own {name}: declare its execution, Execution.ON_EVERYBODY unless"
    with pytest.raises(TypeError, match=refused):
        type("Own", (Laplace,), {name: own})
    mixin = type("Mixin", (), {name: own})
    with pytest.raises(TypeError, match=refused):
        type("Own", (mixin, Laplace), {})
    declared = type("Own", (Laplace,), {name: own, "execution": Execution.PER_PERSON})
    assert declared.execution is Execution.PER_PERSON
    # Whoever changes nothing of it inherits what was declared, and so does one of its own.
    assert type("Heir", (declared,), {}).execution is Execution.PER_PERSON
    with pytest.raises(TypeError, match="Heir has its own"):
        type("Heir", (declared,), {name: own})


def test_a_twin_that_takes_whole_tables_in_another_way_takes_everybody():
    mechanism = mechanism_named("laplace", epsilon=1.0)
    assert override(mechanism, {"perturb": mechanism.perturb}).execution is Execution.PER_PERSON
    assert override(mechanism, {"apply": mechanism.apply}).execution is Execution.ON_EVERYBODY
