"""Pages can be read by everybody: by rule, over what the templates share."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib import resources

import pytest

from eyelid.reporting.rendering import with_named_tables

CSS = resources.files("eyelid.reporting").joinpath("templates", "report.css").read_text("utf-8")
TONES = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", CSS))
# What text stands on what: page, cards, and the boxes that have a colour of their own.
GROUNDS = {"#ffffff", TONES["wash"], "#fff6df", "#fdf1e9", "#eaf3fa"}
# Orange stands on white and on its own box alone, amber on white and its own.
ON = {
    "ink": GROUNDS,
    "soft": GROUNDS,
    "blue": {"#ffffff", TONES["wash"], "#eaf3fa"},
    "green": {"#ffffff"},
    "amber": {"#ffffff", "#fff6df"},
    "orange": {"#ffffff", "#fdf1e9"},
}


def luminance(colour):
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_the_guideline_does():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("tone", ON)
def test_text_can_be_told_from_what_it_stands_on(tone):
    for ground in ON[tone]:
        assert contrast(TONES[tone], ground) >= 4.5, f"{tone} on {ground}"


class Rules(HTMLParser):
    """What breaks a rule on a page."""

    def __init__(self, page):
        super().__init__()
        self.broken, self.tables, self.last = [], 0, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if self.last == "table" and tag != "caption":
            self.broken.append("a table without a caption")
        self.tables += tag == "table"
        if tag == "th" and given.get("scope") not in ("col", "row", "rowgroup", "colgroup"):
            self.broken.append("a header that heads nothing")
        if tag == "svg" and not (given.get("aria-label") or given.get("aria-hidden")):
            self.broken.append("a picture without words")
        if tag == "img" and "alt" not in given:
            self.broken.append("an image without words")
        if tag == "html" and not given.get("lang"):
            self.broken.append("a page of no language")
        if given.get("class") == "scroll" and given.get("tabindex") != "0":
            self.broken.append("what scrolls cannot be reached")
        self.last = tag

    def handle_data(self, data):
        if self.last == "caption":
            if not data.strip():
                self.broken.append("an empty caption")
            self.last = ""


def test_the_rules_can_be_broken():
    bad = (
        '<html><table><tr><th>a</th></tr></table><svg></svg><div class="scroll"></div><img></html>'
    )
    assert len(Rules(bad).broken) == 6


def test_tables_are_called_by_what_they_stand_under():
    page = with_named_tables(
        "<h2>Who <em>is</em> it</h2><table><thead><tr><th>a</th></tr></thead></table>"
        '<details><summary>All</summary><table class="x"><tr><th scope="row">b</th></tr></table>'
    )
    assert re.findall(r"<caption[^>]*>(.*?)</caption>", page) == ["Who is it", "All"]
    assert '<th scope="col">a' in page
    assert '<th scope="row">b' in page
