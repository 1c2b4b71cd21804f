import re

import pytest

from eyelid.io import read
from eyelid.releases.demo import demo


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "demo"
    return demo(out, fast=True), out


def test_the_story_ends_in_a_page_that_asks_nothing_of_the_network(story):
    page = (story[1] / "report.html").read_text()
    addresses = set(re.findall(r"https?://[^\"'\s<>]+", page))
    # Names of XML dialects, which nobody fetches.
    assert all("w3.org" in a or "purl.org" in a or "creativecommons" in a for a in addresses)
    for way_out in ("<script", "<link", "<img", "@import", "url(http", "<iframe"):
        assert way_out not in page


def test_the_raw_data_give_people_away_and_a_person_level_release_does_not(story):
    raw, strong, *_ = story[0].attempts
    assert raw.identified > 0.5
    assert strong.identified_low <= 1 / 8
    assert strong.identified < raw.identified


def test_the_page_states_the_numbers_it_measured(story):
    page = (story[1] / "report.html").read_text()
    assert f"{100 * story[0].attempts[0].identified:.0f} %" in page
    for attempt in story[0].attempts:
        assert attempt.person_level in page
    assert "simulated" in page


def test_everything_the_demo_made_can_be_used_again(story):
    assert read(story[1] / "features").origin.ledger == story[1] / "study.ledger"
    assert len(story[0].spent.debits) == 6
    assert len(list((story[1] / "releases").iterdir())) == 6
