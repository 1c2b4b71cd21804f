"""Mechanisms on the axes of the paper."""

import numpy as np
import pytest

from eyelid.mechanisms.mechanism import catalogue
from eyelid.papers.davidjohn2022.trials import PUBLISHED, RAW, SOUND, Setting


def test_the_printed_epsilon_is_one_features_and_ours_is_their_sum(readers):
    assert Setting("exponential-paper", 20.0).law(readers).epsilon == 20.0 * 4


def test_the_sound_one_is_about_all_of_one_feature_of_one_recording(readers):
    law = Setting("exponential", 20.0).law(readers)
    assert (law.epsilon, str(law.unit)) == (20.0, "chunk:48")


def test_raw_is_what_was_recorded(readers):
    assert RAW.under_names(readers, 3) is readers


def test_everybody_gets_the_mean_of_their_group_under_their_own_name(readers):
    released = Setting("ksame", 6).under_names(readers, 0)
    values = readers.data["f0"].to_numpy().reshape(6, 3 * 48)
    shown = released.data["f0"].to_numpy().reshape(6, 3 * 48)
    np.testing.assert_allclose(shown, np.tile(values.mean(axis=0), (6, 1)), atol=1e-9)
    assert released.data["person"].to_list() == readers.data["person"].to_list()


@pytest.mark.parametrize("kind", [k for own in PUBLISHED for k in (own, *SOUND[own.name])])
def test_every_mechanism_makes_a_release_with_the_tasks_that_there_are(readers, kind):
    released = Setting(kind.name, 2.0).release(readers, 0)
    assert set(released.data["task"]) == set(readers.data["task"])


def test_ours_hold_and_the_published_do_not():
    holds = {name: law.claims_to_hold for name, law in catalogue().items()}
    assert not any(holds[kind.name] for kind in PUBLISHED)
    assert all(holds[kind.name] for kinds in SOUND.values() for kind in kinds)
