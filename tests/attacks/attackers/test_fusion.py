from dataclasses import replace

import polars as pl
import pytest

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.attackers.fusion import event_finding
from eyelid.errors import InputError
from eyelid.gaze.features import event_features


@pytest.fixture(scope="module")
def events(simulated):
    return event_features(simulated, "fixations"), event_features(simulated, "saccades")


def test_fixations_and_saccades_name_people_above_chance(events):
    finding = event_finding(*events)
    assert (finding.attacker, finding.protocol) == ("fused rbf-network", "raw→raw")
    assert finding.rate.rate > 2 / 6
    assert finding.rate.people == 6


def test_any_attacker_can_be_fused(events):
    assert event_finding(*events, find_attackers(["lda"])[0]).attacker == "fused lda"


def test_events_of_different_people_are_refused(events):
    fixations, saccades = events
    fewer = replace(saccades, data=saccades.data.filter(pl.col("person") != "P01"))
    with pytest.raises(InputError, match="different people"):
        event_finding(fixations, fewer)
