"""Python, as a researcher in a notebook wants it: frames in and out, plots, and clear answers."""

import subprocess
import sys
import tomllib
import warnings
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from tests.typed import notebook

import eyelid
from eyelid.display import Framed, pandas_frame
from eyelid.gaze.areas import Area

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def no_windows(monkeypatch):
    monkeypatch.setattr(matplotlib, "rcParams", matplotlib.rcParams)
    plt.switch_backend("agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def study():
    return eyelid.simulate(people=6, minutes=0.8, rate_hz=30.0, seed=1)


@pytest.fixture(scope="module")
def table(study):
    return notebook.features(notebook.trials(study))


@pytest.fixture(scope="module")
def groups(table):
    return eyelid.release(table, mechanism="ksame", k=3)


@pytest.fixture(scope="module")
def maps(study):
    return eyelid.heatmap(study, stimulus="comic", level="okay")


@pytest.fixture(scope="module")
def gaze(study):
    return eyelid.release(study, mechanism="sample", epsilon=1.0, window=30, radius=2.0)


def test_user_code_is_checked_strictly_and_runs(study, tmp_path):
    files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
    assert "tests/typed" in files
    table = notebook.features(notebook.trials(study))
    done = notebook.released(table, tmp_path / "groups")
    assert notebook.looked_at(done).columns == ["fixation_rate", "blink_rate"]
    assert notebook.audited(table, done).figure is plt.gcf()
    assert notebook.heatmap(study, plt.figure().subplots()).people == 6
    assert "map-grid" in notebook.about(table, tmp_path / "features")


def test_importing_loads_nothing_but_the_version():
    code = "import sys, eyelid; print(*sorted(m for m in sys.modules if m.startswith('eyelid')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["eyelid", "eyelid.version"]


@pytest.mark.parametrize("before", ["", "import eyelid.mechanisms; ", "eyelid.cost; "])
def test_the_catalogue_is_a_frame_whatever_was_imported_before(before):
    code = f"import eyelid; {before}print(eyelid.mechanisms()['name'].to_list()); "
    code += "print(eyelid.mechanisms.find('laplace').name)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'map-grid'" in found.stdout
    assert found.stdout.splitlines()[1] == "laplace"


FUNCTIONS = {
    "release": lambda frame: eyelid.release(frame),
    "cost": lambda frame: eyelid.cost("laplace", frame),
    "audit": lambda frame: eyelid.audit(frame),
    "compare": lambda frame: eyelid.compare(frame),
    "recommend": lambda frame: eyelid.recommend(frame, "k>=2"),
    "heatmap": lambda frame: eyelid.heatmap(frame, level="good"),
    "write": lambda frame: eyelid.write(frame, "nowhere"),
    "read": lambda frame: eyelid.read(frame),
    "lint": lambda frame: eyelid.lint(frame),
    "convert": lambda frame: eyelid.convert(frame, "nowhere"),
    "inspect": lambda frame: eyelid.inspect(frame),
    "budget": lambda frame: eyelid.budget(frame),
    "window_features": lambda frame: eyelid.window_features(frame),
    "event_features": lambda frame: eyelid.event_features(frame),
    "detect_events": lambda frame: eyelid.detect_events(frame),
    "gaze_map": lambda frame: eyelid.gaze_map(frame),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_bare_frame_is_answered_with_the_call_to_write(table, name, library):
    frame = table.to_pandas() if library == "pandas" else table.frame
    with pytest.raises(eyelid.InputError) as error:
        FUNCTIONS[name](frame)
    assert f"this is a DataFrame of {library}" in str(error.value)
    assert f"{name}(eyelid." in str(error.value)
    assert ".from_frame(frame, person='…'" in str(error.value)


def test_a_bare_frame_as_a_release_is_answered_too(table):
    with pytest.raises(eyelid.InputError, match="this is a DataFrame of pandas"):
        eyelid.audit(table, table.to_pandas())


def test_errors_are_what_python_programmers_catch():
    assert issubclass(eyelid.InputError, ValueError)
    assert issubclass(eyelid.InputError, eyelid.EyelidError)
    assert issubclass(eyelid.Refused, eyelid.EyelidError)
    assert not issubclass(eyelid.Refused, ValueError)


@pytest.mark.parametrize(
    "old",
    [
        lambda raw, study: eyelid.heatmap(raw, 40.0),
        lambda raw, study: eyelid.heatmap(raw, sigma_px=40.0),
        lambda raw, study: eyelid.heatmap(map=raw, sigma_px=40.0),
        lambda raw, study: eyelid.heatmap(raw.values, 40.0),
    ],
)
def test_a_heatmap_called_as_before_names_the_new_function(study, old):
    raw = eyelid.gaze_map(study, stimulus="comic")
    with pytest.raises(eyelid.InputError, match=r"eyelid\.point_spread\(map, sigma_px\)"):
        old(raw, study)


def test_a_heatmap_without_an_epsilon_charges_nobody(study, tmp_path):
    eyelid.write(study, tmp_path / "study")
    for asked in ({}, {"mechanism": "map-grid"}, {"delta": 1e-6}):
        with pytest.raises(eyelid.InputError, match="epsilon"):
            eyelid.heatmap(tmp_path / "study", stimulus="comic", **asked)
    assert not eyelid.budget(tmp_path / "study").debits


@pytest.mark.parametrize("name", ["private_heatmap", "audit_heatmap"])
def test_former_names_work_for_one_version_with_a_warning(name):
    with pytest.warns(DeprecationWarning, match=rf"eyelid\.{name} is called eyelid\.\w+ now"):
        assert callable(getattr(eyelid, name))
    assert name not in eyelid.__all__


def test_one_release_is_of_every_kind(groups, maps, gaze):
    assert groups.table.names == ["fixation_rate", "blink_rate"]
    assert gaze.study.kind == "samples"
    assert maps.maps[0].values.shape == (1080, 1920)
    for done, wrong in ((groups, "study"), (gaze, "table"), (maps, "table"), (groups, "maps")):
        with pytest.raises(eyelid.InputError, match=r"see \.(table|study|heatmaps)"):
            getattr(done, wrong)


def test_maps_and_areas_are_released_and_priced_like_the_rest(study):
    left = Area("left", np.array([[0, 0], [900, 0], [900, 1000], [0, 1000]]))
    done = eyelid.release(study, mechanism="aoi-tables", areas=[left], stimulus="comic", epsilon=1)
    assert done.certificate.mechanism == "aoi-tables"
    assert done.frame is done.areas
    with pytest.raises(eyelid.InputError, match="only tables of areas were released"):
        done.plot()
    assert eyelid.cost("aoi-tables", people=40, areas=1, epsilon=1.0).guarantee.epsilon == 1.0
    assert eyelid.cost("map-grid", study, level="good").facts.people == 6
    made = eyelid.mechanism("map-grid", epsilon=0.5)
    assert eyelid.cost(made, study).guarantee.epsilon == 0.5
    assert eyelid.release(study, mechanism=made, stimulus="comic").certificate.people == 6


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"unit": "recording"}, "of a heatmap the unit is the person, and not 'recording'"),
        ({"bounds": "data"}, "bounds is for features, not for a heatmap"),
        ({"keep": ["age"]}, "keep is for features, not"),
        ({"min_seconds": 3.0}, "min_seconds is for features, not"),
    ],
)
def test_what_a_heatmap_cannot_have_is_refused(study, asked, told):
    with pytest.raises(eyelid.InputError, match=told):
        eyelid.release(study, mechanism="map-grid", stimulus="comic", epsilon=1.0, **asked)


def test_an_audit_takes_a_held_heatmap_and_its_folder_alike(study, tmp_path):
    folder = tmp_path / "map"
    done = eyelid.heatmap(study, folder, stimulus="comic", level="okay", seed=1)
    held = eyelid.heatmap(study, stimulus="comic", level="okay", seed=1)
    found = [eyelid.audit(study, released, seed=1) for released in (done, folder, held)]
    rates = [one.frame.filter(what="membership")["rate"].to_list() for one in found]
    assert rates[0] == rates[1] == rates[2]
    assert [bool(one.written) for one in found] == [True, True, False]
    assert not any(one.refuted for one in found)
    with pytest.raises(eyelid.InputError, match="leave out `attackers`"):
        eyelid.audit(study, held, attackers=["means"])
    with pytest.raises(eyelid.InputError, match="made of gaze"):
        eyelid.audit(eyelid.window_features(study), held)


@pytest.fixture(scope="module")
def results(study, table, groups, maps, gaze):
    """One of everything that is given back."""
    windows = eyelid.window_features(eyelid.simulate(people=6, minutes=1.2, seed=1))
    return {
        "study": study,
        "table": table,
        "groups": groups,
        "maps": maps,
        "gaze": gaze,
        "map": maps.maps[0],
        "raw map": eyelid.gaze_map(study, stimulus="comic"),
        "quote": eyelid.cost("laplace", table, epsilon=1.0),
        "budget": eyelid.budget(table),
        "audit": eyelid.audit(table, attackers=["means"]),
        "audit of groups": eyelid.audit(table, groups, attackers=["means"]),
        "audit of means": eyelid.audit(
            table, eyelid.release(table, mechanism="groupmean", epsilon=4.0)
        ),
        "audit of maps": eyelid.audit(study, maps),
        "comparison": eyelid.compare(table, ["gaussian", "groupmean"], [4.0], fast=True),
        "recommendation": eyelid.recommend(windows, "k>=2", mechanisms=["ksame"], studies=1),
        "inspection": eyelid.inspect(study),
    }


def test_every_result_is_short_in_text_and_html_and_a_frame(results):
    for name, value in results.items():
        text = repr(value)
        assert isinstance(value, Framed), name
        assert 2 <= len(text.splitlines()) <= 25, name
        assert max(map(len, text.splitlines())) <= 100, name
        (page,) = [ElementTree.fromstring(value._repr_html_())]
        assert page.find("caption/b").text == text.splitlines()[0], name
        assert value.to_pandas().shape == value.frame.shape, name


PLOTTED = (
    *("groups", "maps", "gaze", "map", "raw map", "audit", "audit of groups", "audit of means"),
    *("audit of maps", "comparison", "recommendation"),
)


def texts_of(path):
    """The letters of an SVG picture, as they are drawn."""
    return "".join(ElementTree.parse(path).getroot().itertext())


def test_results_are_plotted_in_a_paper_s_sizes_without_a_caption(results, tmp_path):
    for name in PLOTTED:
        ax = results[name].plot()
        figure = ax.figure
        sizes = [text.get_fontsize() for text in figure.findobj(matplotlib.text.Text)]
        assert 6 <= min(sizes) <= max(sizes) <= 11, name
        assert figure.get_figwidth() <= 9, name
        with matplotlib.rc_context({"svg.fonttype": "none"}), warnings.catch_warnings():
            warnings.simplefilter("error")
            figure.savefig(tmp_path / "plot.svg")
            figure.savefig(tmp_path / "plot.pdf")
        plain = texts_of(tmp_path / "plot.svg")
        captioned = results[name].plot(caption=True).figure
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            captioned.savefig(tmp_path / "caption.svg")
        assert len(texts_of(tmp_path / "caption.svg")) > len(plain), name
        assert (tmp_path / "plot.pdf").read_bytes().startswith(b"%PDF"), name
        plt.close("all")


def test_results_are_drawn_on_axes_that_somebody_has(results):
    for name in PLOTTED:
        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
        assert results[name].plot(ax=right) is right, name
        assert right.has_data()
        assert not left.has_data()
        assert len(plt.get_fignums()) == 1, name
        figure.canvas.draw()
        plt.close(figure)


def test_a_plot_leaves_the_user_s_own_style_alone(results):
    before = dict(matplotlib.rcParams)
    results["audit"].plot()
    assert dict(matplotlib.rcParams) == before


def test_the_frame_of_a_comparison_may_still_be_called(results):
    found = results["comparison"]
    with pytest.warns(DeprecationWarning, match="leave out the brackets"):
        called = found.frame()
    assert called["setting"].to_list() == found.frame["setting"].to_list()


def test_pandas_gets_missing_values_and_lists_as_they_are():
    frame = eyelid.mechanisms()
    made = pandas_frame(frame)
    assert isinstance(made, pd.DataFrame)
    assert made["units"][0] == frame["units"][0].to_list()


def test_without_pandas_the_answer_says_so(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(eyelid.InputError, match="needs pandas: install it"):
        table.to_pandas()


def test_results_are_released_priced_and_audited_like_the_rest(study, tmp_path):
    asked = {"measures": ["fixation_duration"], "epsilon": 2.0}
    assert eyelid.cost("summary-box", people=40, features=3, epsilon=1.0).guarantee.epsilon == 1.0
    assert eyelid.cost("summary-box", study, **asked).guarantee.epsilon == 2.0
    held = eyelid.release(study, mechanism="summary-box", **asked)
    assert held.results.frame["measure"].to_list() == ["fixation_duration"]
    assert "Release by summary-box" in repr(held)
    assert held.plot().has_data()
    with pytest.raises(eyelid.InputError, match="audited in their folder"):
        eyelid.audit(study, held)
    done = eyelid.release(study, tmp_path / "results", mechanism="summary-box", **asked)
    for released in (done, tmp_path / "results"):
        found = eyelid.audit(study, released)
        assert found.frame["what"].to_list() == ["membership"]
        assert found.plot().has_data()
    with pytest.raises(eyelid.InputError, match="results re-identify nobody"):
        eyelid.audit(study, done, attackers=["means"])
