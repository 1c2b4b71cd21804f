import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.classifiers import classes_of


def test_words_are_classes_in_order_and_gaps_are_missing():
    found = classes_of(pl.Series("hand", ["right", "left", None, "", "right"]))
    assert found.name == "hand"
    assert found.values == ("left", "right")
    assert found.codes.tolist() == [1, 0, -1, -1, 1]


def test_a_few_numbers_are_classes_and_truth_values_too():
    assert classes_of(pl.Series("glasses", [0, 1, 1])).values == ("0", "1")
    assert classes_of(pl.Series("score", [1.5, 2.0, float("nan")])).codes.tolist() == [0, 1, -1]
    assert classes_of(pl.Series("glasses", [True, False])).values == ("false", "true")


@given(st.lists(st.integers(0, 1000), min_size=7, max_size=40, unique=True))
def test_a_quantity_is_split_at_its_median_and_does_not_say_where(ages):
    found = classes_of(pl.Series("age", ages))
    middle = float(np.median(ages))
    assert found.name == "age above the median"
    assert found.codes.tolist() == [int(age > middle) for age in ages]
    assert abs(int((found.codes == 1).sum()) - len(ages) / 2) <= 0.5
