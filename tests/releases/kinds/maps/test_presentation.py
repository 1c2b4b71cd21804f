"""The pictures that a release writes: what each of them says of what was looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from eyelid.gaze.areas import Area
from eyelid.gaze.simulator import simulate
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.reporting.maps import pictures
from eyelid.reporting.maps.area_pictures import UNITS

WIDE, HIGH = 1920, 1080


@pytest.fixture(scope="module")
def study():
    return simulate(people=12, tasks=["comic"], minutes=0.2, seed=9)


@pytest.fixture
def drawn(monkeypatch) -> dict[str, str]:
    """All that is written in each picture, by the name of its file."""
    found = {}

    def noted(figure, path: Path) -> None:
        texts = figure.findobj(Text)
        found[path.name] = " ".join(text.get_text().replace("\n", " ") for text in texts)

    monkeypatch.setattr(pictures, "save", noted)
    return found


@pytest.fixture
def page(tmp_path: Path) -> Path:
    Image.fromarray(np.full((HIGH, WIDE, 3), 255, np.uint8)).save(tmp_path / "comic.png")
    return tmp_path / "comic.png"


def test_the_sentence_about_reliability_is_on_the_picture_of_what_is(
    study, drawn, page, tmp_path: Path
):
    done = heatmap(study, tmp_path / "out", stimulus=page, epsilon=4.0)
    assert set(drawn) == {"heatmap.png", "overlay.png", "reliable.png"}
    assert done.heatmaps.reliability.sentence in drawn["reliable.png"]


def test_stretches_of_time_have_the_name_of_the_stimulus_and_a_scale_bar(
    study, drawn, tmp_path: Path
):
    done = heatmap(study, tmp_path / "out", stimulus="comic", epsilon=4.0, every_s=5, for_s=10)
    assert done.heatmaps.reliability.sentence in drawn["reliable.png"]
    for said in drawn.values():
        assert "comic" in said
        assert "°" in said


def test_two_groups_have_a_difference_of_the_stimulus(study, drawn, page, tmp_path: Path):
    heatmap(study, tmp_path / "out", stimulus=page, epsilon=4.0, by="gender")
    assert "comic: female and male" in drawn["difference.png"]


def test_tables_are_drawn_with_their_areas_on_the_page(study, drawn, page, tmp_path: Path):
    corners = np.array([[0, 0], [900, 0], [900, 900]], dtype=float)
    heatmap(
        study,
        tmp_path / "out",
        stimulus=page,
        epsilon=4.0,
        areas=[Area("upper left", corners)],
        only_areas=True,
    )
    assert set(drawn) == {"areas.png"}
    said = drawn["areas.png"]
    assert all(words in said for words in ("comic", "upper left", *UNITS.values()))
