import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from eyelid.gaze.study import ordered, track_key, track_starts

EYES = {"one eye": [], "several eyes": ["eye"]}
names = st.sampled_from(["b", "a"])
rows = st.lists(
    st.tuples(names, names, st.sampled_from(["left", None]), st.integers(0, 2).map(float)),
    max_size=6,
)


def frame(rows, eyes):
    data = pl.DataFrame(rows, ["person", "recording", "eye", "time_ms"], orient="row")
    schema = [pl.String, pl.String, pl.String, pl.Float64]
    data = data.cast(dict(zip(data.columns, schema, strict=True)))
    return data.select("person", "recording", *eyes, "time_ms").with_row_index("came")


def plainly(data):
    """Where each row belongs: behind whoever came first, and then by time."""
    keys = [data.select(track_key(data)[:depth]).rows() for depth in range(1, 4)]
    times = data["time_ms"].to_list()
    return sorted(range(len(data)), key=lambda i: [*(k.index(k[i]) for k in keys), times[i], i])


@pytest.mark.parametrize("eyes", EYES.values(), ids=EYES)
@given(rows=rows)
@example(rows=[("a", "a", "left", 1.0), ("a", "a", "left", 0.0)])
@example(rows=[("a", "a", "left", 0.0), ("a", "b", "left", 0.0), ("a", "a", None, 0.0)])
def test_rows_stand_together_in_order_of_time_and_stay_where_they_do(rows, eyes):
    data = frame(rows, eyes)
    came = ordered(data)["came"].to_list()
    assert came == plainly(data)
    assert (ordered(data) is data) == (came == sorted(came))


@pytest.mark.parametrize("eyes", EYES.values(), ids=EYES)
@given(rows=rows)
def test_a_run_starts_where_its_name_is_another(rows, eyes):
    data = frame(rows, eyes)
    keys = data.select(track_key(data)).rows()
    before = [None, *keys[:-1]][: len(keys)]
    assert track_starts(data).to_list() == [a != b for a, b in zip(keys, before, strict=True)]
