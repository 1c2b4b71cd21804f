"""Figures 7 to 12: utilities averaged as the paper does, beside what was published."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.papers.bozkir2021.utility import (
    INFERRED,
    Point,
    Reading,
    figures,
    published_alone,
    published_utility,
    slope,
    utility_curves,
)
from eyelid.papers.floating_noise import laplaces
from eyelid.papers.reproduction import Outcome
from eyelid.privacy.noise import randomness

NAMES = ("Figure 7", "Figure 8", "Figure 9")
HEAD = "dataset,mechanism,chunk,epsilon,NMSE_R1,NMSE_R2,NMSE_R3\n"
EPSILONS = (0.48, 48.0)


@pytest.fixture(scope="module")
def source(make_source):
    return make_source(rows=24)


@pytest.fixture(scope="module")
def curves(source):
    return utility_curves(source, EPSILONS, (8,), runs=3, seed=1)


def test_a_figure_is_the_mean_over_features_of_each_features_mean_utility(source, curves):
    """LPA on the very same draws, by equations 4 to 6, one signal after the other."""
    signals = source.table.data.filter(task="0")
    x = np.array(
        [
            own.select(source.table.names).to_numpy().T
            for _, own in signals.group_by("person", maintain_order=True)
        ]
    )
    people, features, _ = x.shape
    noise = randomness(np.random.default_rng([1, *b"0"]))
    laplaces((3, *x.shape), noise)  # those by which k is chosen
    draws = laplaces((3, *x.shape), noise)
    of_features, of_errors = [], []
    for f in range(features):
        delta = max(np.abs(x[p, f] - x[q, f]).sum() for p in range(people) for q in range(people))
        utilities, errors = [], []
        for run in range(3):
            for p in range(people):
                noisy = x[p, f] + delta / (0.48 / 48) * draws[run, p, f]
                nmse = np.mean((x[p, f] - noisy) ** 2 / (x[p, f].mean() * noisy.mean()))
                utilities.append(1 / abs(nmse))
                errors.append(abs(nmse))
        of_features.append(np.mean(utilities))
        of_errors.append(np.mean(errors))
    point = Point("LPA", "0", 0.48)
    assert curves[Reading()][point].mean() == pytest.approx(np.mean(of_features))
    # Inverting a mean of errors is another number; for one run at a time it stands beside.
    assert np.mean(of_features) > 1.05 / np.mean(of_errors)
    inverted = 1 / np.mean(1 / curves[Reading(inverted=True)][point])
    assert inverted == pytest.approx(1 / np.mean(of_errors))


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "nmse.csv").write_text(
        HEAD + "MPIIDPEye,FPA,,0.01,10000,-100,1\nMPIIDPEye,CFPA,8,1,10,10,10\n"
        "MPIIDPEye,FPA,,0.5,1,1,1\nMPIIPrivacEye,FPA,,0.01,5,5,5\n"
    )
    return tmp_path


def test_published_numbers_stand_beside_ours_as_powers_of_ten_and_are_marked(
    source, curves, folder
):
    published = published_utility(folder, "MPIIDPEye", ("0", "1", "2"), EPSILONS)
    assert {point.epsilon for point in published} == {0.48, 48.0}
    first, second, _ = figures(source, curves, published, NAMES)
    cells = {(cell.row, cell.column): cell for cell in first.cells}
    assert cells["FPA, 0", "ε = 0.48"].printed == pytest.approx(-4)
    assert cells["FPA, 1", "ε = 0.48"].printed == pytest.approx(-2)
    assert cells["FPA, 2, mean without noise", "ε = 0.48"].printed == pytest.approx(0)
    assert cells["FPA, 0", "ε = 0.48"].inferred == INFERRED
    assert cells["FPA, 0", "ε = 48"].printed is None
    assert cells["FPA, 0", "ε = 48"].inferred == ""
    assert second.at("CFPA-8, 1", "ε = 48").printed == pytest.approx(-1)
    assert "not at hand" not in first.says
    # An error is no utility: it never stands in the same row.
    assert all(cell.leak_free is None for cell in first.cells + second.cells)


def test_without_them_that_is_said_and_all_rows_are_there(source, curves):
    found = figures(source, curves, {}, NAMES)
    assert [exhibit.name for exhibit in found] == list(NAMES)
    assert all("not at hand" in exhibit.says for exhibit in found)
    assert all(exhibit.verdict.reproduced is Outcome.OPEN for exhibit in found)
    # LPA keeps no mean: 3 tasks × (1 + 2), then 3 × 2.
    assert [len(exhibit.rows) for exhibit in found] == [9, 6, 6]
    for exhibit in found:
        for cell in exhibit.cells:
            assert math.isfinite(cell.by_protocol.mean)
            assert cell.by_protocol.runs == 3


def test_the_legend_names_every_line(source, curves, folder):
    published = published_utility(folder, "MPIIDPEye", ("0", "1", "2"), EPSILONS)
    first, *_ = figures(source, curves, published, NAMES)
    picture = str(first.pictures["figure-7"])
    for line in ("LPA", "FPA", "ours, as printed", "ours, mean without noise", "published"):
        assert f">{line}<" in picture or line in picture


def test_a_dataset_that_is_absent_shows_its_published_numbers(folder):
    published = published_utility(folder, "MPIIPrivacEye", ("R1", "R2", "R3"), EPSILONS)
    found = published_alone("MPIIPrivacEye", "Figure 10", "LPA and FPA", published, "not there")
    assert found.not_run == "not there"
    assert found.rows == ["FPA, R1", "FPA, R2", "FPA, R3"]
    assert [cell.printed for cell in found.cells] == pytest.approx([-math.log10(5)] * 3)
    assert all(cell.by_protocol is None and cell.inferred for cell in found.cells)


def test_utilities_within_half_a_power_of_ten_are_reproduced(source, curves):
    near = {point: np.array([1.5 * utility.mean()]) for point, utility in curves[Reading()].items()}
    far = {point: np.array([utility.mean() / 1e5]) for point, utility in near.items()}
    outcomes = [
        [exhibit.verdict.reproduced for exhibit in figures(source, curves, theirs, NAMES)]
        for theirs in (near, far)
    ]
    assert outcomes == [[Outcome.YES] * 3, [Outcome.NO] * 3]


def test_slopes_are_those_of_a_power_law():
    assert slope({0.01: 3e-4, 0.1: 3e-2, 1.0: 3.0}) == pytest.approx(2)
    assert slope({1.0: 3.0}) is None


def test_a_folder_without_the_numbers_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no nmse\.csv"):
        published_utility(tmp_path, "MPIIDPEye", ("0",), EPSILONS)
    assert published_utility(None, "MPIIDPEye", ("0",), EPSILONS) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        HEAD + "MPIIDPEye,FPA,,0.01,10000,-100",
        HEAD + "MPIIDPEye,FPA,,0.01,10000,-100,12",
        HEAD + "MPIIDPEye,FPA,,0.01,10000,,1\n",
        HEAD + "MPIIDPEye,FPA,,0.01,10000,many,1\n",
        HEAD + "MPIIDPEye,FPA,,0.01,0,1,1\n",
    ],
    ids=["empty", "another table", "cut", "cut in the last number", "a gap", "a word", "zero"],
)
def test_damaged_published_numbers_are_an_error_of_one_line(tmp_path, text):
    (tmp_path / "nmse.csv").write_text(text)
    with pytest.raises(InputError, match=r"nmse\.csv is no whole table"):
        published_utility(tmp_path, "MPIIDPEye", ("0", "1", "2"), EPSILONS)
