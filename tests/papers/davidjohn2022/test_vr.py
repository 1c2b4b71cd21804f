"""The paper's datasets in virtual reality, as far as their layout is known."""

import shutil

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.records import records_of
from eyelid.engine.engines import shared
from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate
from eyelid.io import write
from eyelid.papers.davidjohn2022.trials import RAW, Setting
from eyelid.papers.davidjohn2022.vr import DATASETS, QUARTERS, Events, read_events, tried_on_events

NAMED = {dataset.name: dataset for dataset in DATASETS}


@pytest.fixture(scope="module")
def events(spheres):
    return read_events(NAMED["360_em"], spheres, seed=0)


def test_recordings_of_360_em_are_read_from_its_folders(events):
    recordings = events.fixations.recordings
    assert sorted(set(recordings["person"])) == ["001", "002", "005", "014"]
    assert recordings["stimulus"].n_unique() == 8
    assert events.saccades.recordings.select("person", "recording").equals(
        recordings.select("person", "recording")
    )


def test_quarters_part_the_stimuli_evenly_and_nothing_shown_is_known(events):
    assert np.bincount(list(events.quarter.values())).tolist() == [2] * QUARTERS
    for (known, shown), table in zip(
        events.parted(1), (events.fixations, events.saccades), strict=True
    ):
        quarter = {name for name, place in events.quarter.items() if place == 1}
        assert set(shown.data["stimulus"]) == quarter
        assert set(known.data["stimulus"]) == set(events.quarter) - quarter
        assert len(known.data) + len(shown.data) == len(table.data)


def test_people_are_named_by_their_saccades_and_not_once_they_are_all_one_group(events):
    with shared(events) as handle:
        raw, group = (tried_on_events(handle, (s, 0)) for s in (RAW, Setting("ksame-paper", 4)))
    assert raw.named_by_protocol.mean() == 1.0
    assert raw.named["rbf-network"].mean() == 1.0
    np.testing.assert_allclose(group.named["rbf-network"], 0.25)
    assert group.told_by_protocol == {}


def test_the_papers_network_adds_scores_as_they_are_and_ours_relative_to_themselves(events):
    """Its protocol, written down plainly: single events, means, 0.4 and 0.6, one decision each."""
    (network,) = find_attackers(["rbf-network-single"])
    people = events.fixations.people["person"].to_list()
    total = np.zeros((len(people), len(people)))
    for weight, (known, shown) in zip((0.4, 0.6), events.parted(0), strict=True):
        seen = records_of(shown, people)
        recognise = network.learn(records_of(known, people), 0)
        by_record = recognise(seen).averaged
        for person in range(len(people)):
            total[person] += weight * by_record[seen.owner == person].mean(axis=0)
    with shared(events) as handle:
        found = tried_on_events(handle, (RAW, 0)).named_by_protocol
    right = total.argmax(axis=1) == np.arange(len(people))
    np.testing.assert_array_equal(found, right.astype(float))


def test_a_mechanism_for_more_people_says_why_it_cannot_be_run(events):
    with shared(events) as handle:
        assert "needs at least 8 people" in tried_on_events(handle, (Setting("ksame-paper", 8), 0))


def test_a_dataset_of_unknown_layout_is_read_once_it_is_a_study_folder(tmp_path):
    with pytest.raises(InputError, match="pickles"):
        read_events(NAMED["VR-Saliency"], tmp_path, 0)
    study = simulate(people=2, tasks=("comic",) * 4, rate_hz=120.0, minutes=0.2, seed=1)
    write(study, tmp_path / "VR-Saliency")
    found = read_events(NAMED["VR-Saliency"], tmp_path / "VR-Saliency", 0)
    assert found.fixations.recordings["stimulus"].n_unique() == 4


def test_fewer_stimuli_than_quarters_part_recordings_in_time(spheres, tmp_path):
    for path in spheres.rglob("*_0[12]_*.arff"):
        place = tmp_path / "gaze" / path.parent.name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    events = read_events(NAMED["360_em"], tmp_path, 0)
    assert events.quarter == {}
    known, shown = events.parted(3)[0]
    assert len(known.data) + len(shown.data) == len(events.fixations.data)
    latest = known.data.group_by("person", "recording").agg(pl.col("time_ms").max())
    both = shown.data.join(latest, on=["person", "recording"], suffix="_known")
    assert (both["time_ms"] > both["time_ms_known"]).all()


def test_what_is_not_there_says_what_would_be_looked_for():
    assert "gaze/014/014_01_park" in NAMED["360_em"].missing()
    assert "folder OpenNEEDS" in NAMED["OpenNEEDS"].missing()
    assert len(DATASETS) == 6


def test_everybody_must_have_events_in_every_quarter():
    study = simulate(people=2, tasks=("comic",) * 4, rate_hz=120.0, minutes=0.1, seed=1)
    gone = study.data.filter((study.data["person"] == "P01") | (study.data["stimulus"] == "comic"))
    with pytest.raises(InputError, match="1 people have events"):
        Events.of(study.derive(data=gone), 0)
