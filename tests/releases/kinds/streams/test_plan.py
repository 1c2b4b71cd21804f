from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.mechanisms.streams.study_scene import filtered
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.releases.kinds.features.plan import SEEDED
from eyelid.releases.kinds.streams.plan import build_filter, make_stream_plan
from eyelid.releases.kinds.streams.preparation import (
    facts_of,
    gaze_facts_of,
    same_for_all,
    taken_of,
    together,
)

KNOWN = {"epsilon": 2.0, "window": 25, "radius": 40.0}


def test_nothing_but_gaze_and_time_is_taken(make_gaze):
    taken = taken_of(make_gaze())
    assert taken.data.columns == [
        "person", "recording", "task", "stimulus", "time_ms", "x", "y",
    ]  # fmt: skip
    assert taken.events is None
    assert (
        taken.data.group_by("person", "recording").agg(pl.col("time_ms").min())["time_ms"].to_list()
        == [0.0] * 6
    )
    # Lost, and not to be relied on.
    lost = taken.data.filter(pl.col("person") == "P0", pl.col("recording") == "r0")["x"].is_null()
    assert lost.arg_true().to_list() == [5, 30]


def test_one_of_several_eyes_is_chosen_by_name(make_gaze):
    study = make_gaze(people=1)
    both = pl.concat([study.data.with_columns(eye=pl.lit(e)) for e in ("left", "right")])
    study = replace(study, data=both)
    with pytest.raises(InputError, match=r"several eyes \(left, right\).*`eye=left`"):
        taken_of(study)
    with pytest.raises(InputError, match="unknown eye 'cyclopean'"):
        taken_of(study, "cyclopean")
    taken = taken_of(study, "right")
    assert taken.data["eye"].unique().to_list() == ["right"]
    assert len(taken.data) == len(both) // 2
    lacking = both.filter((pl.col("eye") == "left") | (pl.col("recording") == "r0"))
    with pytest.raises(InputError, match="P0, recording r1 has no right eye"):
        taken_of(replace(study, data=lacking), "right")


def test_a_person_pays_for_every_window_and_radius(make_gaze):
    taken = taken_of(make_gaze())
    mechanism = build_filter("kaleido", taken, **KNOWN)
    plan = make_stream_plan(taken, gaze_facts_of(taken), mechanism, randomness(None))
    facts = plan.design.facts
    assert (facts.people, facts.recordings, facts.length) == (3, 2, 200)
    # R·⌈T/w⌉·ε·D/radius by hand.
    assert plan.person_level.epsilon == pytest.approx(2 * 8 * 2.0 * np.hypot(1000, 500) / 40)
    assert str(plan.guarantee.unit) == "event:25:40.0"
    assert plan.guarantee.holds
    assert plan.guarantee.epsilon == 2.0


@given(
    people=st.lists(st.lists(st.integers(1, 70), min_size=1, max_size=4), min_size=1, max_size=4),
    window=st.integers(1, 80),
)
@settings(max_examples=20)
def test_the_total_is_at_least_what_any_person_could_lose(people, window):
    # Everybody's own total, recording by recording, is within the one that is certified.
    rows = [
        pl.DataFrame({"person": f"P{p}", "recording": f"{r}", "time_ms": np.arange(n) * 20.0})
        for p, lengths in enumerate(people)
        for r, n in enumerate(lengths)
    ]
    study = _study(pl.concat(rows).with_columns(x=1.0, y=1.0))
    mechanism = build_filter("kaleido", study, epsilon=1.0, window=window, radius=40.0)
    total = mechanism.cost(facts_of(taken_of(study)), PERSON).epsilon
    own = [sum(-(-n // window) for n in lengths) * mechanism.radii_of_scene for lengths in people]
    assert total >= max(own) - 1e-9


def _study(data):
    from eyelid.gaze.study import Screen, Study

    return Study(
        "samples", data, data.select("person").unique(), units="px", screen=Screen(1000, 500)
    )


def test_recordings_are_streams_of_their_own(make_gaze):
    taken = taken_of(make_gaze())
    mechanism = build_filter("kaleido", taken, **KNOWN)
    together = filtered(mechanism, taken, randomness(7))
    assert not together.data["x"].is_null().any()
    # One after the other from the same noise, as a live stream would have had them.
    noise = randomness(7)
    for recording in taken.recordings():
        x, y = mechanism.start(noise).push_many(recording["x"], recording["y"])
        own = together.data.filter(
            pl.col("person") == recording.person, pl.col("recording") == recording.recording
        )
        assert own["x"].to_list() == x.tolist()
        assert own["y"].to_list() == y.tolist()


def test_people_are_alike_only_with_the_same_time_stamps_and_losses(make_gaze):
    study = taken_of(make_gaze(people=2))
    assert not same_for_all(study)
    first = study.data.filter(pl.col("person") == "P0")
    alike = replace(study, data=pl.concat([first, first.with_columns(person=pl.lit("P1"))]))
    assert same_for_all(alike)
    lost = pl.when((pl.col("person") == "P1") & (pl.col("time_ms") == 40.0)).then(None)
    blinking = alike.data.with_columns(lost.otherwise(pl.col("x")).alias("x"))
    assert not same_for_all(replace(alike, data=blinking))


def test_facts_of_pieces_make_those_of_the_whole(make_gaze):
    taken = taken_of(make_gaze())
    each = taken.data.partition_by("person", maintain_order=True)
    assert together([gaze_facts_of(replace(taken, data=part)) for part in each]) == gaze_facts_of(
        taken
    )
    # Of two people in one piece, and one in the other.
    two = [taken.data.filter(pl.col("person").is_in(who)) for who in (["P0", "P1"], ["P2"])]
    assert together([gaze_facts_of(replace(taken, data=part)) for part in two]) == gaze_facts_of(
        taken
    )


def test_a_seed_voids_the_guarantee(make_gaze):
    taken = taken_of(make_gaze())
    mechanism = build_filter("kaleido", taken, **KNOWN)
    plan = make_stream_plan(taken, gaze_facts_of(taken), mechanism, randomness(3))
    assert plan.guarantee.reasons == plan.person_level.reasons == (SEEDED,)


def test_what_cannot_be_released_is_refused(make_gaze):
    taken = taken_of(make_gaze())
    mechanism = build_filter("kaleido", taken, **KNOWN)
    with pytest.raises(InputError, match="a released dataset already"):
        make_stream_plan(
            replace(taken, released=True), gaze_facts_of(taken), mechanism, randomness(None)
        )
    with pytest.raises(InputError, match="all samples are lost"):
        gone = taken.data.with_columns(x=pl.lit(None, dtype=pl.Float64))
        make_stream_plan(
            taken, gaze_facts_of(replace(taken, data=gone)), mechanism, randomness(None)
        )
    with pytest.raises(InputError, match="unknown column to keep 'gender'"):
        make_stream_plan(taken, gaze_facts_of(taken), mechanism, randomness(None), ["gender"])
    with pytest.raises(InputError, match="this is a study of features: give the recordings"):
        taken_of(replace(taken, kind="features"))
