from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from eyelid.errors import InputError
from eyelid.mechanisms import catalogue, mechanism_named, register
from eyelid.mechanisms.means.groupmean import GroupMean
from eyelid.mechanisms.mechanism import _registry
from eyelid.mechanisms.records.dct import DCT
from eyelid.mechanisms.records.laplace import Laplace
from eyelid.mechanisms.release_kind import Execution
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.papers.baselines.baseline import Baseline
from eyelid.papers.davidjohn2022.marginals import MarginalsPaper
from eyelid.privacy import randomness
from eyelid.privacy.noise import DiscreteLaplace
from eyelid.verification.families import FAMILIES, mutants_of
from eyelid.verification.verify import _claims, verify


@pytest.fixture(scope="module")
def everything():
    with pytest.MonkeyPatch.context() as patch:
        # As many as show the planted faults below.
        patch.setattr("eyelid.verification.verify._SAMPLER_DRAWS", 200_000)
        # The rest of the catalogue is tried by each mechanism's own tests, and by `make proof`.
        return verify(["laplace"], runs=50_000, noise=randomness(12))


def test_every_mechanism_of_the_catalogue_is_tried_at_every_unit():
    for kind in catalogue().values():
        if issubclass(kind, Baseline):
            # It promises nothing that could be tried.
            assert not kind.claims_to_hold
            assert _claims(kind) == []
            continue
        tried = {(mechanism.unit.name, unit.name) for mechanism, unit, _ in _claims(kind)}
        # Means over people offer what the mechanism inside offers.
        units = DCT.units if kind is GroupMean else kind.units
        assert tried >= {(unit, unit) for unit in units}
        # As printed it says nothing about people.
        assert tried >= {(unit, "person") for unit in units} or kind is MarginalsPaper


def test_games_about_made_up_people_say_how_small_they_are():
    for *_, settings in _claims(Synthetic):
        assert all(size in settings for size in ("carry=", "bins=8", "records=2"))


def test_every_mechanism_that_claims_to_hold_has_planted_faults():
    for kind in catalogue().values():
        planted = {fault.name for fault in mutants_of(kind)}
        assert len(planted) >= 3 or not kind.claims_to_hold


def test_every_mechanism_declares_a_family_that_is_tried():
    for kind in catalogue().values():
        assert kind.family in FAMILIES or (kind.family == "" and not kind.claims_to_hold)


def test_a_mechanism_of_somebody_else_s_has_the_games_and_mutants_of_its_base():
    @dataclass(frozen=True)
    class Theirs(Laplace):
        """Registered or found through an entry point, and not a line of it is about `verify`."""

        name: ClassVar[str] = "theirs"

    assert [claim[1:] for claim in _claims(Theirs)] == [claim[1:] for claim in _claims(Laplace)]
    planted = list(mutants_of(Theirs))
    assert [mutant.name for mutant in planted] == [mutant.name for mutant in mutants_of(Laplace)]
    assert {mutant.mechanism for mutant in planted} == {"theirs"}
    assert planted[0].caught(50_000, randomness(1))


def test_nothing_sound_is_refuted_and_every_planted_fault_is_caught(everything):
    assert everything.refuted == []
    assert everything.missed == []
    assert everything.passed


def test_the_result_has_the_contract_s_keys(everything):
    found = everything.to_dict()
    assert found["schema"] == "eyelid/verify/1"
    wanted = {"name", "unit", "claimed", "lower_bound", "runs", "holds", "refuted"}
    assert all(wanted <= set(game) for game in found["mechanisms"])
    assert all(set(p) == {"name", "mechanism", "caught"} for p in found["planted"])
    assert {(shown["name"], shown["unit"]) for shown in found["outputs"]} == {
        ("laplace", unit) for unit in ("person", "recording", "record")
    }


def test_a_new_mechanism_joins_by_registering_and_a_false_one_is_refuted(no_samplers, no_faults):
    @dataclass(frozen=True)
    class Liar(Laplace):
        """Half the noise it needs."""

        note = replace(Laplace.note, summary="Half the noise it needs.")
        name: ClassVar[str] = "liar"
        aliases: ClassVar[tuple[str, ...]] = ()

        def noise(self, facts):
            return DiscreteLaplace(Laplace.noise(self, facts).scale // 2)

    register(Liar)
    try:
        found = verify(["liar"], runs=5_000, noise=randomness(1))
        assert isinstance(mechanism_named("liar", epsilon=1), Liar)
    finally:
        _registry.pop("liar")
    assert not found.passed
    assert any("liar claims epsilon 1 per person" in text for text in found.refuted)


def test_a_mechanism_that_shows_its_input_is_refuted_in_words(no_samplers, no_faults):
    @dataclass(frozen=True)
    class Window(Laplace):
        """Makes a private table, and shows the other one."""

        note = replace(Laplace.note, summary="Makes a private table, and shows the other one.")
        name: ClassVar[str] = "window"
        aliases: ClassVar[tuple[str, ...]] = ()
        execution: ClassVar[Execution] = Execution.ON_EVERYBODY

        def apply(self, table, noise):
            return self.present(table)

    register(Window)
    try:
        found = verify(["window"], runs=1_000, noise=randomness(1))
    finally:
        _registry.pop("window")
    assert not found.passed
    assert any("what window shows per person is not what it made" in text for text in found.refuted)
    assert any("the noise of window per person is not fresh" in text for text in found.refuted)


@pytest.mark.parametrize("untried", [{"family": ""}, {"games": ()}], ids=str)
def test_a_claim_that_nothing_tries_does_not_pass(untried, no_samplers):
    note = replace(Laplace.note, summary="Nobody looks.")
    register(type("Unseen", (Laplace,), {**untried, "note": note, "name": "unseen", "aliases": ()}))
    try:
        found = verify(["unseen"], runs=1_000, noise=randomness(1))
    finally:
        _registry.pop("unseen")
    assert found.untested == ["unseen"] and not found.passed


def test_too_few_runs_and_unknown_names_are_errors():
    with pytest.raises(InputError, match="runs must be at least 1000, got 10"):
        verify(runs=10)
    with pytest.raises(InputError, match="unknown mechanism"):
        verify(["nothing"])


def test_a_person_can_ask_for_one_mechanism(no_samplers, no_faults):
    found = verify(["lpa"], runs=1_000, noise=randomness(4))
    assert {g.mechanism for g in found.games} == {"laplace"}
