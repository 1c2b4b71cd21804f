import math

import pytest

import eyelid
from eyelid.errors import InputError
from eyelid.releases.budget import budget

KNOWN = {"epsilon": 2.0, "window": 25, "radius": 40.0}
TOTAL = 2 * 8 * 2.0 * math.hypot(1000, 500) / 40


def test_the_price_is_that_of_the_release(make_gaze):
    quote = eyelid.cost("kaleido", make_gaze(), **KNOWN)
    done = eyelid.release(make_gaze(), mechanism="kaleido", **KNOWN)
    assert quote.guarantee == done.certificate.guarantee
    assert quote.person_level == done.certificate.person_level
    assert quote.to_dict()["person_level"]["epsilon"] == pytest.approx(TOTAL)
    assert quote.to_dict()["says"] == done.worth


def test_a_price_without_a_study_needs_the_scene():
    facts = {"people": 3, "recordings": 2, "length": 200}
    quote = eyelid.cost("kaleido", scene="0,0,1000,500", **facts, **KNOWN)
    assert quote.person_level.epsilon == pytest.approx(TOTAL)
    with pytest.raises(InputError, match="scene in px must be told"):
        eyelid.cost("kaleido", **facts, **KNOWN)
    with pytest.raises(InputError, match="missing: length"):
        eyelid.cost("kaleido", people=3, recordings=2, scene="0,0,9,9", **KNOWN)
    with pytest.raises(InputError, match="gaze and no features"):
        eyelid.cost("kaleido", features=5, scene="0,0,9,9", **facts, **KNOWN)


def test_without_a_study_nobody_knows_whether_people_can_be_told_apart():
    # So small a total bounds naming only if everybody has the same times and losses.
    facts = {"people": 3, "recordings": 1, "length": 5, "scene": "0,0,10,10"}
    quote = eyelid.cost("kaleido", epsilon=0.1, window=5, radius=40.0, **facts)
    assert quote.person_level.epsilon == pytest.approx(0.1)
    assert quote.rank1_bound == {"raw_to_release": None, "release_to_raw": None}
    rows = dict(quote.offer.rows(quote))
    assert rows["re-identified"] == "no useful bound known"
    assert rows["  two such ways of looking, distinguished"] == "52.5% at most (guessing: 50%)"


def test_a_larger_epsilon_is_nearer_and_the_same_for_whoever_asks():
    facts = {"people": 3, "recordings": 2, "length": 200, "scene": "0,0,1000,500"}
    known = KNOWN | {"window": 5}
    quotes = [eyelid.cost("sample", **facts, **known | {"epsilon": e}) for e in (0.1, 3.0, 100.0)]
    off = [quote.expected.released for quote in quotes]
    assert off == sorted(off, reverse=True)
    assert [quote.expected.informative for quote in quotes] == [False, True, True]
    assert quotes[0].expected == quotes[0].expected


def test_the_ledger_is_asked_and_left_alone(gaze_folder, tmp_path):
    eyelid.release(gaze_folder, tmp_path / "out", mechanism="kaleido", **KNOWN)
    budget(gaze_folder, limit_epsilon=1.5 * TOTAL)
    quote = eyelid.cost("kaleido", gaze_folder, **KNOWN)
    assert quote.total.epsilon == pytest.approx(2 * TOTAL)
    assert "would refuse this release" in quote.refused
    assert quote.to_dict()["ledger"]["refused"]
    assert len(budget(gaze_folder).debits) == 1


def test_a_baseline_has_no_price():
    quote = eyelid.cost("jitter", people=3, recordings=2, length=200, scene="0,0,9,9", sd=1.0)
    assert not quote.person_level.holds
    assert quote.rank1_bound["raw_to_release"] is None
