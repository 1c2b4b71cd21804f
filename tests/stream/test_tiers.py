"""Events and counters beside a filter: one ε for all, one meter, no raw gaze."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError, Refused
from eyelid.gaze.areas import Area
from eyelid.mechanisms.streams.dwell import Dwell
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.streams.kaleido import Kaleido
from eyelid.mechanisms.streams.state import WHOLE, WORST
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.stream import Gatekeeper
from eyelid.stream.tiers import tiered
from eyelid.stream.words import hello_of

SCENE = "0,0,1000,600"
AREAS = "logo:0,0,500,600"
UNTOLD = {"epsilon": None, "window": None, "radius": None, "scene": None}
COUNTED = {"share": 0.25, "every": 20, "horizon": 10}


def gatekeeper(filter: Any = "kaleido", **parameters: Any) -> Gatekeeper:
    told = {"epsilon": 8.0, "window": 20, "radius": 50.0, "scene": SCENE, "seed": 7}
    return Gatekeeper(filter, **(told | parameters))


def gaze(samples: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    places = np.repeat(rng.uniform([50, 50], [950, 550], (samples // 20, 2)), 20, axis=0)
    points = places + rng.normal(0, 5, places.shape)
    points[rng.random(samples) < 0.05] = np.nan
    return np.arange(samples) * 8.0, *points.T


def test_shares_of_epsilon_add_up_in_the_meter_and_the_certificate() -> None:
    gate = gatekeeper(events=0.25, counters=COUNTED, areas=AREAS)
    gate.push_many(*gaze())
    shares = [mechanism.epsilon for mechanism in gate.filter.parts()]
    assert shares == [4.0, 2.0, 2.0]
    assert 2.0 < gate.window_epsilon <= gate.worst_window_epsilon <= 8.0
    told = gate.certificate()
    assert told["guarantee"]["kind"] == "approx-dp"
    assert (told["guarantee"]["epsilon"], told["guarantee"]["delta"]) == (8.0, 1e-6)
    assert set(told["mechanism"]["parameters"]) >= {"kaleido", "fixations", "dwell"}


def test_a_person_pays_for_windows_and_for_counters_until_their_horizon() -> None:
    gate = gatekeeper(events=0.25, counters=COUNTED, areas=AREAS)
    gate.push_many(*gaze())
    dwell = gate.filter.dwell
    assert isinstance(dwell, Dwell)
    own = dwell.cost(next(dwell.neighbour_pairs(PERSON)).facts, PERSON).epsilon
    windows = 400 / 20 * 6.0 * math.hypot(1000, 600) / 50
    assert gate.person_epsilon == pytest.approx(windows + own)


def test_without_counters_the_guarantee_is_pure() -> None:
    gate = gatekeeper(events=0.5)
    assert (gate.guarantee.kind, gate.guarantee.epsilon) == ("pure-dp", 8.0)
    gate.push_many(*gaze())
    assert gate.person_epsilon == pytest.approx(20 * 8.0 * math.hypot(1000, 600) / 50)


def test_each_tells_what_it_would_alone_with_its_share() -> None:
    told = {"window": 20, "radius": 50.0, "scene": SCENE}
    events = {"share": 0.25, "span": 10}
    gate = gatekeeper(events=events, counters=COUNTED, areas=AREAS, skip=5, threshold=50.0)
    time_ms, x, y = gaze()
    shown = gate.push_many(time_ms, x, y)
    sources = [randomness(g) for g in np.random.default_rng(7).spawn(3)]
    kaleido = Kaleido(epsilon=4.0, skip=5, threshold=50.0, **told).start(sources[0])
    fixations = Fixations(epsilon=2.0, span=10, areas=AREAS, **told).start(sources[1])
    dwell = Dwell(epsilon=2.0, window=20, scene=SCENE, areas=AREAS, every=20, horizon=10).start(
        sources[2]
    )
    assert np.array_equal(shown, kaleido.push_many(x, y))
    fixations.push_many(x, y)
    dwell.push_many(x, y)
    alone = [(event.name, time_ms[event.sample], event.x) for event in fixations.take_events()]
    assert alone == [(event.name, event.time_ms, event.x) for event in gate.take_events()]
    assert alone
    assert gate.counters() == dwell.counters()


def test_one_by_one_or_together_is_the_same() -> None:
    one, many = (gatekeeper(events=0.25, counters=COUNTED, areas=AREAS) for _ in range(2))
    samples = gaze()
    single = np.array([one.push(*sample) for sample in np.transpose(samples).tolist()])
    assert np.array_equal(single, np.transpose(many.push_many(*samples)))
    assert one.take_events() == many.take_events()
    assert one.counters() == many.counters()
    assert one.meter() == many.meter()


def test_the_coarse_tier_tells_its_own_events() -> None:
    gate = gatekeeper("fixations", epsilon=1e4, areas=[Area("left", [[0, 0], [500, 0], [0, 600]])])
    gate.push_many(*gaze())
    names = {event.name for event in gate.take_events()}
    assert names == {"fixation started", "fixation ended", "area entered"}
    assert gate.take_events() == []


def test_events_of_directions_have_three_parts() -> None:
    gate = gatekeeper("fixations", epsilon=1e4, radius=1.0, units="direction", scene=None)
    for i in range(40):
        gate.push(8.0 * i, 0.0, 0.0, 1.0)
    event = gate.take_events()[0]
    assert event.name == "fixation started"
    assert math.hypot(event.x, event.y, event.z) == pytest.approx(1.0)


def test_events_go_on_after_a_restart_and_the_book_has_no_gaze(tmp_path: Path) -> None:
    book, samples = tmp_path / "person.budget", gaze()
    with gatekeeper(events=0.25, budget=book) as gate:
        gate.push_many(*samples)
        before = gate.meter()
    steps = np.rint(np.array(samples[1:]) / gate.filter.step).ravel()
    assert not any(f"{step:.1f}" in book.read_text() for step in steps[~np.isnan(steps)])
    with gatekeeper(events=0.25, budget=book) as gate:
        assert gate.meter() == before
        gate.push(4000.0, 10.0, 10.0)
        assert gate.samples == 401


def test_whoever_asks_for_what_is_not_there_is_told_how_to_get_it() -> None:
    gate = gatekeeper()
    with pytest.raises(InputError, match=r"events=0\.3"):
        gate.take_events()
    with pytest.raises(InputError, match=r"counters=0\.2"):
        gate.counters()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"events": 1.5}, "share of ε between 0 and 1, got 1.5"),
        ({"events": "many"}, "got many"),
        ({"events": 0.6, "counters": 0.4, "areas": AREAS}, "leave nothing"),
        ({"counters": 0.2}, "needs areas"),
        ({"filter": "fixations", "events": 0.2}, "by itself"),
        ({"filter": "temporal", "every": 2, "events": 0.2}, "promises nothing"),
        ({"counters": 0.2, "areas": AREAS, "on_limit": "coarsen", "limit": 1e9}, "restart"),
    ],
)
def test_shares_that_make_no_sense_are_refused(parameters: dict[str, Any], words: str) -> None:
    told = (
        parameters
        if parameters.get("filter") != "temporal"
        else parameters | {"epsilon": None, "window": None, "radius": None}
    )
    with pytest.raises(InputError, match=words):
        gatekeeper(**told)


def test_side_tiers_share_the_filters_window() -> None:
    with pytest.raises(Refused, match="share the filter's window"):
        gatekeeper(events={"share": 0.2, "window": 3})


@settings(max_examples=50)
@given(st.floats(0.1, 1e3), st.floats(0.01, 0.45), st.floats(0.01, 0.45))
def test_shares_are_never_more_than_epsilon_to_the_last_digit(
    epsilon: float, events: float, counters: float
) -> None:
    told = {"window": 20, "radius": 50.0, "scene": SCENE}
    mechanism = tiered(Kaleido(epsilon=epsilon, skip=5, **told), events, counters, AREAS)
    total = sum(Fraction(part.epsilon) for part in mechanism.parts())
    assert 1 - Fraction(1, 2**50) < total / Fraction(epsilon) <= 1


def test_a_coarser_epsilon_is_that_of_all_of_them_together() -> None:
    cost = 8.0 * math.hypot(1000, 600) / 50
    gate = gatekeeper(events=0.3, limit=4 * cost, on_limit="coarsen", window=4)
    gate.push_many(*gaze())
    assert gate.meter().epsilon < 8.0
    assert sum(part.epsilon for part in gate.filter.parts()) == pytest.approx(gate.meter().epsilon)
    runs = [gate._passage.run._fine, gate._passage.run._detector]
    assert [run.mechanism.epsilon for run in runs] == [part.epsilon for part in gate.filter.parts()]
    assert gate.worst_window_epsilon <= 8.0


def test_the_meter_shows_it_if_a_part_spends_too_much() -> None:
    gate = gatekeeper(events=0.5)
    gate.push_many(*gaze())
    assert gate.worst_window_epsilon <= 8.0
    gate._passage.run._fine.state[WORST] = 2.0 * WHOLE
    assert gate.worst_window_epsilon > 8.0
    gate = gatekeeper(events=0.5)
    gate._passage.run._fine = replace(gate.filter.fine, epsilon=8.0).start(randomness(7))
    gate._passage.run._fine.state[WORST] = gate._passage.run._detector.state[WORST] = 1.0 * WHOLE
    assert gate.worst_window_epsilon == 12.0


def test_what_was_not_told_follows_from_the_share_of_epsilon() -> None:
    told = {"window": 60, "radius": 50.0, "scene": SCENE}
    mechanism = gatekeeper(events=0.75, epsilon=16.0, **told).filter
    assert mechanism.fine.parameters() == Kaleido(epsilon=4.0, **told).parameters()
    # Unless a person set it.
    mechanism = gatekeeper(Kaleido(epsilon=16.0, skip=7, **told), events=0.75, **UNTOLD).filter
    assert (mechanism.fine.skip, mechanism.fine.epsilon) == (7, 4.0)


def test_people_read_what_is_beside_the_filter() -> None:
    gate = gatekeeper(events=0.25, counters=COUNTED, areas=AREAS)
    assert hello_of(gate, 120.0)["filter"] == "kaleido with events and counters"
    assert hello_of(gatekeeper(events=0.25), 120.0)["filter"] == "kaleido with events"
