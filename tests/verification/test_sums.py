"""What leaves a sum over people is its noisy integers, or it is found out."""

import numpy as np
import pytest

from eyelid.attacks.override import override
from eyelid.mechanisms import catalogue, find
from eyelid.mechanisms.maps.noisy_sum import NoisySum
from eyelid.privacy import randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.sums import compare_sum, examine_sum

SUMS = [name for name, kind in catalogue().items() if issubclass(kind, NoisySum)]


def plain(name):
    return list(find(name).set_for_games())


def test_maps_and_tables_are_among_them():
    assert {"map-grid", "map-gaussian", "map-laplace", "aoi-tables"} <= set(SUMS)


@pytest.mark.parametrize("name", SUMS)
def test_sound_ones_pass(name):
    """Each is examined often: a false alarm in ten would be seen here."""
    for mechanism in plain(name):
        assert not any(examine_sum(mechanism, randomness(seed)).refuted for seed in range(25))
        assert not compare_sum(mechanism).refuted


@pytest.mark.parametrize("name", ["map-gaussian", "map-laplace"])
def test_faults_after_a_private_choice_are_caught(name):
    wanted = ["chosen with all of ε again", "no noise after the choice"]
    wanted += ["choice of the cap on top of ε", "choice of the cap at 4 × its share"]
    planted = {fault.name: fault for fault in mutants_of(find(name))}
    assert [n for n in wanted if not planted[n].caught(1_000, randomness(2))] == []


@pytest.mark.parametrize("name", SUMS)
def test_faults_in_noise_and_output_are_caught(name):
    wanted = {
        "noise reused over pictures",
        "noise reused over cells",
        "generator seeded anew",
        "low bits without noise",
        "noise only where a person looked",
        "divided by those who looked",
        "no noise",
        "less stated than is lost",
        "counts taken as they come",
        "limits for the first people only",
    }
    planted = {fault.name: fault for fault in mutants_of(find(name))}
    assert [n for n in sorted(wanted) if not planted[n].caught(1_000, randomness(2))] == []


def test_one_cell_without_noise_in_ten_is_caught():
    mechanism = plain("map-grid")[0]

    def perturb(self, integers, shape, noise):
        noisy = NoisySum.perturb(self, integers, shape, noise)
        every_tenth = np.arange(integers.shape[-1]) % 10 == 0
        return np.where(every_tenth, integers, noisy)

    assert compare_sum(override(mechanism, {"perturb": perturb}), declared=mechanism).refuted
    assert examine_sum(
        override(mechanism, {"perturb": perturb}), randomness(3), declared=mechanism
    ).refuted
