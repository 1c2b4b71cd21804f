from dataclasses import replace
from functools import cache

import polars as pl
import pytest

import eyelid
from eyelid.gaze.study import Screen
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.mechanisms.streams.study_scene import filtered
from eyelid.privacy.noise import randomness
from eyelid.releases.audits.accounts import Account
from eyelid.releases.audits.gaze_consistency import (
    gaze_inconsistencies,
    too_few_to_check,
    worst_window,
)
from eyelid.releases.kinds.streams.preparation import taken_of

KNOWN = {"epsilon": 2.0, "window": 10, "radius": 40.0}


@pytest.fixture
def judged(make_gaze):
    """A release, and what is found against it once a person has changed something."""
    study = make_gaze(samples=600)
    taken = taken_of(study)
    made = cache(lambda name: eyelid.release(study, mechanism=name, **KNOWN))

    def judge(name="kaleido", data=None, gaze=None, **changes):
        done = made(name)
        mechanism = mechanism_named(name, **done.certificate.parameters)
        released = gaze(mechanism, taken, done.study) if gaze else done.study
        if data is not None:
            released = replace(released, data=released.data.with_columns(data))
        certificate = replace(done.certificate, **changes)
        return list(gaze_inconsistencies(certificate, taken, released, Account(), mechanism))

    return judge


@pytest.mark.parametrize("name", ["kaleido", "uniform", "sample", "bd", "ba", "fixations"])
def test_an_honest_release_agrees_with_everything(judged, name):
    assert judged(name) == []


def test_gaze_of_directions_agrees_too(make_gaze):
    study = make_gaze(samples=300)
    x, y = (pl.col("x") - 500) / 1000, (pl.col("y") - 250) / 1000
    data = study.data.select(
        pl.exclude("x", "y"), gaze_x=x, gaze_y=y, gaze_z=(1 - x**2 - y**2).sqrt()
    )
    study = replace(study, data=data)
    done = eyelid.release(study, mechanism="kaleido", epsilon=9.0, window=25, radius=3.0)
    mechanism = mechanism_named("kaleido", **done.certificate.parameters)
    assert (done.study.data.select(pl.sum_horizontal(pl.col("^gaze_.$") ** 2)) - 1).to_numpy() == (
        pytest.approx(0, abs=1e-12)
    )
    found = gaze_inconsistencies(
        done.certificate, taken_of(study), done.study, Account(), mechanism
    )
    assert list(found) == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (pl.lit(3.0).alias("pupil"), "a column that no release has (pupil)"),
        (pl.col("time_ms") + 1.0, "not the recordings and time stamps"),
        (pl.col("x") + 1e6, "outside the scene"),
        (pl.col("x").shift(1), "missing, or outside"),
        (pl.col("x").fill_null(0.0) * 0.7 + 0.1, "not on the public grid"),
    ],
)
def test_changed_data_are_noticed(judged, data, words):
    assert any(words in said for said in judged(data=data))


def test_gaze_that_changes_between_slots_is_noticed(judged):
    late = pl.col("x").shift(1).over("person", "recording").fill_null(pl.col("x"))
    assert any("other than every" in said for said in judged(data=late))


@pytest.mark.parametrize("name", ["kaleido", "sample", "ba"])
def test_too_little_noise_is_noticed(judged, name):
    def louder_epsilon(mechanism, taken, released):
        return filtered(replace(mechanism, epsilon=20.0), taken, randomness(7))

    found = judged(name, gaze=louder_epsilon)
    assert any("the noise is missing or too small" in said for said in found)


def test_gaze_as_it_was_is_noticed(judged):
    def raw(mechanism, taken, released):
        seen = pl.col("x", "y").clip(0, 500).fill_null(strategy="forward")
        return replace(taken, data=taken.data.with_columns(seen))

    found = " ".join(judged(gaze=raw))
    assert "not on the public grid" in found
    assert "noise is missing" in found


@pytest.mark.parametrize("name", ["sample", "kaleido", "bd", "ba"])
def test_raw_gaze_is_noticed_where_hardly_anything_is_published(make_gaze, name):
    study = make_gaze(people=2, recordings=1, samples=400)
    done = eyelid.release(study, mechanism=name, **KNOWN | {"window": 300})
    mechanism, taken = mechanism_named(name, **done.certificate.parameters), taken_of(study)
    assert not list(gaze_inconsistencies(done.certificate, taken, done.study, Account(), mechanism))
    # Gaze itself, on the grid, held for as long as a window is.
    row = pl.int_range(pl.len()).over("person", "recording")
    seen = pl.col("x", "y").clip(0, 499) / mechanism.step
    held = pl.when(row % 300 == 0).then(seen.round() * mechanism.step)
    raw = taken.data.with_columns(held.forward_fill().over("person", "recording"))
    found = gaze_inconsistencies(
        done.certificate, taken, replace(done.study, data=raw), Account(), mechanism
    )
    assert [said for said in found if "the noise is missing or too small" in said]


def test_points_that_fall_into_the_same_corner_again_count_as_published(make_gaze):
    # With so much noise eight of a thousand may be that near by chance, and eight of 17 not.
    study = make_gaze(people=1, recordings=1, samples=1000, screen=Screen(100, 100))
    study = replace(study, data=study.data.with_columns(x=50.0, y=50.0))
    done = eyelid.release(study, mechanism="sample", epsilon=0.01, window=1, radius=10.0)
    mechanism = mechanism_named("sample", **done.certificate.parameters)
    near = pl.when(pl.int_range(pl.len()) % 120 == 80).then(71.0).otherwise(0.0)
    shown = replace(done.study, data=done.study.data.with_columns(x=near, y=near))
    found = list(
        gaze_inconsistencies(done.certificate, taken_of(study), shown, Account(), mechanism)
    )
    assert not any("noise" in said for said in found)


def test_that_too_little_is_published_to_check_the_noise_is_told(make_gaze):
    study = make_gaze(people=2, recordings=1, samples=400)
    for window, notes in ((300, 1), (5, 0)):
        known = KNOWN | {"window": window, "radius": 4.0}
        done = eyelid.release(study, mechanism="sample", **known)
        mechanism = mechanism_named("sample", **done.certificate.parameters)
        told = too_few_to_check(mechanism, taken_of(study), done.study)
        assert [said.partition(":")[0] for said in told] == (
            ["too few publications to check the noise"] * notes
        )
    assert too_few_to_check(mechanism_named("jitter", sd=1.0, scene="0,0,9,9"), study, study) == []


def test_gaze_that_is_new_where_none_was_seen_is_noticed(judged):
    def unseen(mechanism, taken, released):
        row = pl.int_range(pl.len()).over("person", "recording")
        moved = pl.when(row >= 5).then(250.0).otherwise(pl.col("x"))
        return replace(released, data=released.data.with_columns(x=moved))

    assert any("where none was seen" in said for said in judged("uniform", gaze=unseen))


def test_an_edited_certificate_is_noticed(judged, make_gaze):
    honest = eyelid.release(make_gaze(samples=600), mechanism="kaleido", **KNOWN).certificate
    smaller = replace(honest.person_level, epsilon=1.0)
    assert any("promises one person ε = 1" in said for said in judged(person_level=smaller))
    finer = replace(honest.guarantee, epsilon=0.5)
    assert any("promises one event:10:40.0 ε = 0.5" in said for said in judged(guarantee=finer))
    wider = replace(honest.guarantee, unit=replace(honest.guarantee.unit, length=100))
    assert any("speaks of one event:100:40.0" in said for said in judged(guarantee=wider))
    assert any("leaves out" in said for said in judged(unprotected=()))
    assert any("another form" in said for said in judged(form="of any length"))
    other = honest.noise | {"sampler": "something else"}
    assert any("another noise" in said for said in judged(noise=other))


def test_a_filter_that_overspends_is_noticed(make_gaze):
    from eyelid.mechanisms.streams.kaleido import Kaleido

    class Careless(Kaleido):
        """Budget of half a window is forgotten."""

        @property
        def memory(self):
            return self.window // 2

    taken = taken_of(make_gaze(samples=600))
    options = KNOWN | {"scene": "0,0,1000,500", "skip": 1, "threshold": 0.0}
    assert worst_window(Kaleido(**options), taken) <= WHOLE
    assert worst_window(Careless(**options), taken) > WHOLE
