"""The public order of features, and what hangs on what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.features import event_feature_set, window_feature_set
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.synthetic.public_pairs import (
    COMMON,
    FIXATIONS,
    SACCADES,
    WINDOWS,
    chosen_on,
    public_tree,
)

LISTS = {"windows": WINDOWS, "fixations": FIXATIONS, "saccades": SACCADES}
EVERY = [name for listed in LISTS.values() for name, _ in listed]


@pytest.mark.parametrize("listed", LISTS.values(), ids=LISTS)
def test_each_hangs_on_one_before_it(listed):
    for place, (_, parent) in enumerate(listed):
        assert parent in [name for name, _ in listed[:place]] if place else parent == ""


def test_the_lists_have_every_feature_once():
    assert len(set(EVERY)) == len(EVERY)
    sets = (window_feature_set(), event_feature_set("fixations"), event_feature_set("saccades"))
    for listed, features in zip(LISTS.values(), sets, strict=True):
        assert {name for name, _ in listed} == {feature.name for feature in features}


@given(st.lists(st.sampled_from([*EVERY, "mine", "yours", "theirs"]), min_size=1, unique=True))
def test_the_tree_is_one_over_whatever_features_there_are(names):
    order, parents = public_tree(names)
    assert sorted(order) == list(range(len(names)))
    assert parents[0] == -1
    # However many are carried, they are a tree among themselves.
    assert all(0 <= parent < place for place, parent in enumerate(parents) if place)
    known = [names[place] for place in order if names[place] in EVERY]
    assert known == [name for name in EVERY if name in names]


@given(st.lists(st.sampled_from([*EVERY, "mine", "yours"]), min_size=1, unique=True))
def test_with_common_measures_first_it_is_a_tree_too(names):
    order, parents = public_tree(names, common=True)
    assert sorted(order) == list(range(len(names)))
    assert parents[0] == -1
    assert all(0 <= parent < place for place, parent in enumerate(parents) if place)
    first = [name for name, _ in COMMON if name in names]
    assert [names[place] for place in order[: len(first)]] == first


def test_what_hangs_on_a_feature_that_is_not_there_hangs_on_the_one_above_it():
    chain = dict(WINDOWS)
    child = "wb2_range"
    above = chain[child]
    names = [child, WINDOWS[0][0], chain[above]]
    assert above not in names
    assert public_tree(names) == ([1, 2, 0], (-1, 0, 1))


def test_the_order_does_not_depend_on_that_of_the_table():
    names = [name for name, _ in WINDOWS]
    shuffled = np.random.default_rng(0).permutation(names).tolist()
    order, parents = public_tree(shuffled)
    assert [shuffled[place] for place in order] == names
    assert parents == public_tree(names)[1]


def test_the_list_begins_with_what_tells_tasks_apart_and_ends_with_its_copies():
    rng = np.random.default_rng(5)
    task = np.arange(3)[:, None]
    first = task + rng.normal(0, 0.3, (20, 3, 30))
    second = (task == 1) + rng.normal(0, 0.3, (20, 3, 30))
    noise = rng.normal(0, 1, (20, 3, 30))
    copy = first + rng.normal(0, 0.01, first.shape)
    values = np.stack([noise, copy, second, first, np.ones_like(noise)], axis=-1)
    values[0, 0, 0] = np.nan
    features = [Feature(name, "1", "", -9.0, 9.0) for name in ("n", "copy", "b", "a", "same")]
    table = table_from_arrays(values, features)
    listed = chosen_on(table)
    names = [name for name, _ in listed]
    assert sorted(names) == sorted(feature.name for feature in features)
    assert names[0] in ("a", "copy")
    assert names[1] == "b"
    assert listed[0][1] == ""
    after_copy = dict(listed)
    assert after_copy[{"a": "copy", "copy": "a"}[names[0]]] == names[0]
