"""What noise does to released means, said beside them, from public numbers alone."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io.lint import lint
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.kinds.features.application import standard_errors

FEATURES = (
    Feature("fixation_rate", "1/s", "", 0.0, 10.0),
    Feature("fixation_duration_mean", "ms", "", 100.0, 3000.0),
)


def people_of(people=12, rows=1, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.uniform([0.0, 100.0], [10.0, 3000.0], (people, 2, rows, 2))
    table = table_from_arrays(values, FEATURES)
    gender = pl.Series("gender", ["f", "m", "f"] * (people // 3))
    return replace(table, people=table.people.with_columns(gender), planned_rows=rows)


@pytest.fixture
def study(tmp_path):
    eyelid.write(people_of().study(), tmp_path / "study")
    return tmp_path / "study"


def test_a_mean_is_released_without_its_standard_error(study, tmp_path):
    done = eyelid.release(study, tmp_path / "out", mechanism="groupmean", epsilon=1.0)
    written = pl.read_csv(tmp_path / "out" / "standard_errors.csv")
    assert written.columns == ["person", "people", "of", "time_ms", *(f.name for f in FEATURES)]
    assert written["person"].to_list() == ["everybody"]
    # Sums of 2 recordings × 2 features, spherical noise in 4 dimensions: √(5·4)/ε spans over N.
    expected = np.sqrt(5 * 4) / 12
    assert written["fixation_rate"][0] == pytest.approx(10 * expected, rel=1e-4)
    assert written["fixation_duration_mean"][0] == pytest.approx(2900 * expected, rel=1e-4)
    assert done.standard_errors is not None
    assert done.standard_errors["fixation_rate"].to_list() == written["fixation_rate"].to_list()
    assert "standard_errors.csv" in (tmp_path / "out" / "DATACARD.md").read_text()


INNERS = [
    "dct", "dct:law=spherical", "dct:k=3", "laplace", "gaussian", "envelope", "fpa",
    "cfpa:chunk=4:k=2", "dcfpa:chunk=4:k=2",
]  # fmt: skip


@pytest.mark.parametrize("inner", INNERS)
def test_the_standard_error_is_that_of_the_noise(inner):
    # 2000 draws a value: a standard deviation is off by 1/√4000 = 1.6%, or less than 8% in five
    # of these. The same values for everybody, so that nothing but noise differs.
    rows, runs = 6, 2000
    table = people_of(people=6, rows=rows)
    mechanism = mechanism_named("groupmean", epsilon=3.0, inner=inner, clipped=False, length=rows)
    facts = mechanism.facts(table)
    groups = mechanism.groups(table)
    sums = mechanism.sums(table, groups, facts)
    sizes = np.full(runs, 6)
    many = np.broadcast_to(sums, (runs, *sums.shape[1:])).copy()
    noisy = mechanism.divided(mechanism.perturb(many, facts, randomness(7)), sizes, facts)
    without = mechanism.divided(sums, sizes[:1], facts)
    spans = np.array([f.span for f in FEATURES])
    moved = (noisy - without)[:, 0] * spans
    told = standard_errors(mechanism, facts, FEATURES, groups.people)
    assert told is not None
    values = told.filter(of="one value").select(f.name for f in FEATURES).to_numpy()
    assert values.shape[0] in (1, rows)
    assert moved.std(axis=0) == pytest.approx(np.broadcast_to(values, (rows, 2)), rel=0.08)
    means = told.filter(of="mean over rows").select(f.name for f in FEATURES).to_numpy()
    assert moved.mean(axis=1).std(axis=0) == pytest.approx(means[0], rel=0.08)


def test_groups_have_errors_by_their_size(study, tmp_path):
    done = eyelid.release(
        study, tmp_path / "out", mechanism="groupmean", epsilon=1.0, by="gender", inner="laplace"
    )
    errors = done.standard_errors
    assert errors is not None
    assert errors.select("person", "people").rows() == [("f", 8), ("m", 4)]
    assert errors["fixation_rate"][1] == pytest.approx(2 * errors["fixation_rate"][0], rel=1e-5)


def test_which_random_group_is_larger_is_not_shown(tmp_path):
    eyelid.write(people_of(people=15).study(), tmp_path / "study")
    eyelid.release(tmp_path / "study", tmp_path / "out", mechanism="ksame-dp", epsilon=1.0, k=4)
    written = pl.read_csv(tmp_path / "out" / "standard_errors.csv")
    assert written.columns[:2] == ["people", "of"]
    assert written["people"].to_list() == [5]
    mechanism = mechanism_named("ksame-dp", epsilon=1.0, k=4)
    table = people_of(people=9)
    people = pl.DataFrame({"person": ["group1", "group2"], "people": [5, 4]})
    one = standard_errors(mechanism, mechanism.facts(table), FEATURES, people)
    other = standard_errors(mechanism, mechanism.facts(table), FEATURES, people.reverse())
    assert one is not None
    assert other is not None
    assert one.equals(other)


def test_standard_errors_show_nothing_but_public_facts(tmp_path):
    texts = []
    for seed in (1, 2):
        eyelid.write(people_of(seed=seed).study(), tmp_path / f"study{seed}")
        out = tmp_path / f"out{seed}"
        eyelid.release(tmp_path / f"study{seed}", out, mechanism="groupmean", epsilon=1.0)
        texts.append((out / "standard_errors.csv").read_bytes())
    assert texts[0] == texts[1]


def test_raw_means_smuggled_into_the_standard_errors_are_found(study, tmp_path):
    out = tmp_path / "out"
    eyelid.release(study, out, mechanism="groupmean", epsilon=1.0)
    assert not lint(out)
    assert not audit_target(study, out).inconsistencies
    path = out / "standard_errors.csv"
    path.write_text(path.read_text().replace("everybody", "everybody 5.21"))
    assert any("standard_errors.csv" in wrong for wrong in audit_target(study, out).inconsistencies)


def test_standard_errors_beside_records_are_strange(study, tmp_path):
    out = tmp_path / "out"
    done = eyelid.release(study, out, mechanism="laplace", epsilon=1.0)
    assert done.standard_errors is None
    assert not (out / "standard_errors.csv").exists()
    (out / "standard_errors.csv").write_text("person,raw\n")
    assert any("standard_errors.csv" in finding.where for finding in lint(out))
