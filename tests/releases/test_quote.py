import math

import pytest

import eyelid
from eyelid.errors import InputError

FACTS = {"people": 20, "recordings": 3, "features": 28, "length": 600}


def test_a_quote_needs_no_data():
    found = eyelid.cost("laplace", **FACTS, epsilon=1.0, unit="recording").to_dict()
    assert found["guarantee"]["epsilon"] == 1.0
    assert found["person_level"]["epsilon"] == 3.0
    expected = math.sqrt(2) * 28 * 600
    assert found["expected_error"]["rmse_of_span"] == pytest.approx(expected, rel=1e-6)


def test_a_quote_says_when_a_release_would_carry_nothing():
    strong = eyelid.cost("gaussian", **FACTS, epsilon=1.0).to_dict()
    weak = eyelid.cost("gaussian", **FACTS, epsilon=500.0, unit="record").to_dict()
    assert not strong["informative"]
    assert "almost no information" in strong["says"]
    assert weak["informative"]
    assert "almost no information" not in weak["says"]


def test_a_quote_from_a_study_is_that_of_its_release(make_table):
    table = make_table()
    quote = eyelid.cost("laplace", table, epsilon=1.0, unit="recording")
    done = eyelid.release(table, mechanism="laplace", epsilon=1.0, unit="recording")
    assert quote.guarantee == done.certificate.guarantee
    assert quote.person_level == done.certificate.person_level


def test_a_quote_without_facts_asks_for_them():
    with pytest.raises(InputError, match="missing: recordings, length"):
        eyelid.cost("laplace", people=3, features=2, epsilon=1.0)
