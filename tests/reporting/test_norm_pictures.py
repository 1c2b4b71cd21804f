"""Norms as bars: as long as their spread, and what is assumed drawn apart."""

import pytest
from matplotlib.colors import to_hex

from eyelid.errors import InputError
from eyelid.gaze.norms import Norm, norms
from eyelid.reporting.norm_pictures import norms_figure, save_norms


def bars(axis):
    """From, to and colour of each bar: of each norm ± 2, then ± 1 standard deviation."""
    return [
        (bar.get_x(), bar.get_x() + bar.get_width(), to_hex(bar.get_facecolor()))
        for bar in axis.patches
    ]


def test_a_bar_reaches_as_far_as_its_norm():
    reading = norms("reading_rate")
    (axis,) = norms_figure(reading).axes
    wide, narrow = bars(axis)[:2]
    assert wide[:2] == pytest.approx(reading[0].range(2))
    assert narrow[:2] == pytest.approx(reading[0].range(1))
    assert [label.get_text() for label in axis.get_yticklabels()] == [n.task for n in reading]
    assert [line.get_xdata()[0] for line in axis.lines] == [n.mean for n in reading]


def test_what_is_assumed_is_an_outline_and_what_is_measured_is_filled():
    durations = norms("pupil_mean_mean")
    assert [norm.grade for norm in durations] == ["measured", "assumed"]
    (axis,) = norms_figure(durations).axes
    measured, assumed = axis.patches[0], axis.patches[2]
    assert to_hex(measured.get_facecolor()) != "#ffffff" == to_hex(assumed.get_facecolor())
    assert (measured.get_linestyle(), assumed.get_linestyle()) == ("solid", "--")


def test_one_axis_is_in_one_unit():
    (axis,) = norms_figure(norms("blink_rate")).axes
    assert axis.get_xlabel() == "blink_rate, 1/min"
    walking = norms("blink_rate", "walking")[0]
    assert bars(axis)[2][1] == pytest.approx(60 * walking.range(2)[1])


def test_units_that_do_not_convert_have_an_axis_each():
    one, other = (Norm("mood", "any", unit, 5.0, 1.0) for unit in ("deg", "px"))
    labels = [axis.get_xlabel() for axis in norms_figure([one, other]).axes]
    assert labels == ["mood, deg", "mood, px"]


@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_the_ending_says_what_kind_of_file_it_is_and_it_is_the_same_every_time(
    tmp_path, name, start
):
    save_norms(norms("blink_rate"), tmp_path / name)
    first = (tmp_path / name).read_bytes()
    save_norms(norms("blink_rate"), tmp_path / name)
    assert first.startswith(start)
    assert (tmp_path / name).read_bytes() == first


def test_an_svg_is_described_in_words(tmp_path):
    save_norms(norms("reading_rate"), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert (
        "reading_rate, silent-reading: 266.6 words/min, 0.225 of the logarithm (measured)" in text
    )


def test_another_ending_is_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.svg, \.png or \.pdf, got 'a\.gif'"):
        save_norms(norms("blink_rate"), tmp_path / "a.gif")
