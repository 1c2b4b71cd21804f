"""Learned from released first halves, shown raw second ones."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.groups import under_names
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.papers.davidjohn2022.document_type import first_halves, second_halves
from eyelid.papers.davidjohn2022.half_identification import named_by_halves
from eyelid.privacy.noise import randomness


def different_people(people: int = 12) -> FeatureTable:
    """People who lie apart in every feature, whatever they do."""
    rng = np.random.default_rng(2)
    values = rng.uniform(2.0, 8.0, (people, 1, 1, 6)) + rng.normal(0.0, 0.1, (people, 3, 20, 6))
    return table_from_arrays(values, [Feature(f"feature_{j}", "", "", 0.0, 10.0) for j in range(6)])


@pytest.mark.parametrize("name", ["rbf-network", "means"])
def test_everybody_is_named_from_raw_halves(name):
    table = different_people()
    found = named_by_halves(first_halves(table), second_halves(table), find_attackers([name]))
    assert found[name].tolist() == [1.0] * 12


def test_means_of_groups_name_at_most_one_of_k():
    table = different_people()
    law, attackers = KSame(k=4), find_attackers(["means"])
    first, second = first_halves(table), second_halves(table)
    rates = []
    for seed in range(5):
        member = law.partition(first, randomness(seed))
        released = under_names(first, law.averaged(first, member), member)
        rates.append(named_by_halves(released, second, attackers)["means"].mean())
    # Groups of exactly 4 whose members tie: the bound cannot be passed but for rounding.
    assert np.mean(rates) <= 0.25 + 1e-9
    assert np.mean(rates) > 1 / 12
