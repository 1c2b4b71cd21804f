from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.attacks.gaze_use import EVENTS, MAPS, TASK, gaze_use
from eyelid.attacks.samples.generated import Placed, sample_attacks

PEOPLE = 10


def recorded(seed):
    """Recordings of ten people."""
    return eyelid.simulate(
        people=PEOPLE, tasks=("comic", "textbook"), minutes=0.6, seed=seed, offset_deg=0.8
    )


@pytest.fixture(scope="module")
def raw():
    return recorded(1)


def in_places(study, groups=None):
    """A study's people as synthetic participants, in the order of the people of another."""
    names = study.people["person"].to_list()
    new = pl.col("person").replace_strict({name: f"s{name}" for name in names})
    made = replace(
        study, data=study.data.with_columns(new), people=study.people.with_columns(new), events=None
    )
    groups = np.zeros(PEOPLE, dtype=np.intp) if groups is None else groups
    return Placed(made, names, groups)


def test_recordings_of_the_people_themselves_are_found_by_every_attacker(raw):
    attacks, missing = sample_attacks(raw, [in_places(raw)])
    assert missing == []
    assert [one.attacker for one in attacks] == [
        "convolutions",
        "calibration offset",
        "features of windows",
        "fused samples",
    ]
    assert all(one.refutes for one in attacks)
    assert attacks[-1].named.rate > 0.8


def test_recordings_of_others_are_nobodys(raw):
    attacks, _ = sample_attacks(raw, [in_places(recorded(2))])
    assert not any(one.refutes for one in attacks)
    assert all(one.named.low <= 1 / PEOPLE for one in attacks)


def test_members_of_a_group_are_told_apart_only_where_each_has_their_own(raw):
    groups = np.repeat(np.arange(2), PEOPLE // 2)
    own, others = (in_places(study, groups) for study in (raw, recorded(2)))
    told = sample_attacks(raw, [own])[0][-1]
    assert told.refutes
    assert told.found.rate > 0.8
    assert told.within.chance == pytest.approx(2 / PEOPLE)
    assert not sample_attacks(raw, [others])[0][-1].refutes


def test_use_stands_between_people_and_a_guess(raw):
    same, far = recorded(1), recorded(3)
    noisy = pl.col("x") + pl.int_range(pl.len()) % 7
    far = replace(far, data=far.data.with_columns(noisy))
    found = gaze_use(raw, same, far, maps=True)
    people, released, guessed = found.worst(EVENTS)
    assert (people, released) == (1.0, 0.0)
    assert guessed > 2
    assert found.worst(MAPS)[1] > 0.8
    assert found.worst(TASK)[1] is not None
    assert not gaze_use(raw, same, far, maps=False).worst(MAPS)[1]
