"""An audit looks at an original and a release of it, and at nothing that only resembles them."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write
from eyelid.io.release_folder import output_digest
from eyelid.releases.audits.pairing import audit_target
from eyelid.releases.release import release


@pytest.fixture
def pair(features_folder, tmp_path):
    """A features folder and a release of it, on disk."""
    release(features_folder, tmp_path / "private", mechanism="laplace", epsilon=1.0)
    return features_folder, tmp_path / "private"


def edit(folder, **changes):
    path = folder / "certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_release_and_its_original_are_recognised(pair):
    subject = audit_target(*pair)
    assert subject.people == 4
    assert subject.notes == ()
    assert subject.mechanism.name == "laplace"
    assert subject.bounds()["raw_to_release"] == pytest.approx(0.4754, abs=1e-3)


def test_the_bound_is_that_of_this_release_alone(pair, tmp_path):
    release(pair[0], tmp_path / "second", mechanism="laplace", epsilon=1.0)
    second = audit_target(pair[0], tmp_path / "second")
    assert second.bounds() == audit_target(*pair).bounds()
    assert second.certificate.rank1_bound["raw_to_release"] > second.bounds()["raw_to_release"]


@pytest.mark.parametrize("order", [("gaussian", "fpa"), ("fpa", "gaussian"), ("cfpa", "cfpa")])
@pytest.mark.parametrize("deltas", [(1e-6, 1e-6), (1e-6, 1e-3)])
def test_totals_over_releases_of_different_kinds_are_in_order(
    order, deltas, features_folder, tmp_path
):
    for name, delta in zip(order, deltas, strict=True):
        more = {"delta": delta} if name == "gaussian" else {"chunk": 5} if name == "cfpa" else {}
        place = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        release(features_folder, place, mechanism=name, epsilon=2.0, **more)
        assert audit_target(features_folder, place).inconsistencies == ()


def test_no_bound_is_given_where_attributes_tell_people_apart(make_table, tmp_path):
    table = make_table()
    people = table.people.with_columns(pl.Series("gender", ["f", "m", "f", "m"]))
    write(replace(table, people=people).study(), tmp_path / "features")
    release(
        tmp_path / "features", tmp_path / "out", mechanism="laplace", epsilon=1, keep=["gender"]
    )
    bounds = audit_target(tmp_path / "features", tmp_path / "out").bounds()
    assert bounds == {"raw_to_release": None, "release_to_raw": None}


def test_a_release_of_other_people_is_refused(pair, make_table, tmp_path):
    table = make_table()
    renamed = pl.format("other-{}", "person").alias("person")
    others = table.data.with_columns(renamed)
    people = table.people.with_columns(renamed)
    write(replace(table, data=others, people=people).study(), tmp_path / "others")
    with pytest.raises(InputError, match="4 of 4 people of the release are not in the original"):
        audit_target(tmp_path / "others", pair[1])


def test_an_original_that_has_changed_since_is_refused(pair, make_table, tmp_path):
    study = read(pair[0])
    moved = study.data.with_columns(pl.col("pupil") + 0.01)
    write(study.derive(data=moved), tmp_path / "changed")
    with pytest.raises(InputError, match="has counted no such release of these data"):
        audit_target(tmp_path / "changed", pair[1])


def test_released_data_that_were_edited_are_refused(pair):
    data = pl.read_parquet(pair[1] / "data.parquet")
    data.with_columns(pl.col("pupil") * 1.001).write_parquet(pair[1] / "data.parquet")
    with pytest.raises(InputError, match="hash differs"):
        audit_target(*pair)


def test_a_certificate_of_something_else_is_refused(pair):
    edit(pair[1], people=7)
    with pytest.raises(InputError, match="for 7 people and the release has 4"):
        audit_target(*pair)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "eyelid/certificate/1"}'])
def test_a_broken_certificate_is_one_clear_line(pair, text):
    (pair[1] / "certificate.json").write_text(text)
    with pytest.raises(InputError, match="not a certificate"):
        audit_target(*pair)


def test_a_certificate_with_a_negative_loss_is_no_certificate(pair):
    told = json.loads((pair[1] / "certificate.json").read_text())
    edit(pair[1], person_level=told["person_level"] | {"epsilon": -1})
    with pytest.raises(InputError, match="epsilon must not be negative"):
        audit_target(*pair)


def test_missing_features_are_named(pair):
    data = pl.read_parquet(pair[1] / "data.parquet")
    data.drop("pupil").write_parquet(pair[1] / "data.parquet")
    with pytest.raises(InputError, match="pupil"):
        audit_target(*pair)


def test_fewer_than_three_people_cannot_be_told_apart(make_table):
    with pytest.raises(InputError, match="at least 3 people to tell apart, and there are 2"):
        audit_target(make_table(people=2))


def test_the_two_arguments_in_the_wrong_order_are_noticed(pair):
    with pytest.raises(InputError, match="give what it was made of first"):
        audit_target(pair[1], pair[0])


def test_without_a_certificate_nothing_is_promised(make_table):
    table = make_table()
    subject = audit_target(table, replace(table, released=True))
    assert subject.bounds() == {}
    assert "there is no certificate.json" in subject.notes[0]


def test_without_a_certificate_the_features_in_common_are_looked_at(make_table):
    table = make_table()
    fewer = replace(table, data=table.data.drop("pupil"), features=table.features[:1])
    subject = audit_target(table, fewer)
    assert subject.original.names == subject.released.names == ["fixation_rate"]
    assert "only 1 of 2 features" in subject.notes[0]


def test_a_release_without_a_ledger_is_audited_with_a_remark(make_table):
    table = make_table()
    done = release(table, mechanism="laplace", epsilon=1.0)
    subject = audit_target(table, done)
    assert any("names no ledger" in note for note in subject.notes)


def test_attackers_get_fresh_noise_of_the_same_law(pair):
    material = audit_target(*pair).material(seed=0)
    once, again = (material.again(material.original) for _ in range(2))
    assert isinstance(once, FeatureTable)
    assert once.data.shape == material.released.data.shape
    assert not once.data.equals(again.data)
    assert not once.data.equals(material.released.data)


def test_a_certificate_that_promises_more_than_was_counted_disagrees(pair):
    told = json.loads((pair[1] / "certificate.json").read_text())
    edit(pair[1], person_level=told["person_level"] | {"epsilon": 0.1})
    found = audit_target(*pair).inconsistencies
    assert any("the ledger counted ε = 1 for this release" in line for line in found)
    assert any("the mechanism that it names gives ε = 1" in line for line in found)


def test_less_noise_than_the_certificate_says_is_seen_without_a_ledger(make_table):
    table = make_table(people=10, rows=40)
    loud = release(table, mechanism="laplace", epsilon=1.0)
    quiet = release(table, mechanism="laplace", epsilon=4.0)
    swapped = replace(
        quiet.certificate, mechanism="laplace", parameters=loud.certificate.parameters
    )
    swapped = replace(swapped, person_level=loud.certificate.person_level)
    found = audit_target(table, replace(quiet, certificate=swapped)).inconsistencies
    assert re.search("the whole release has 0.2[3-7]? times the noise", found[-1])
    assert audit_target(table, loud).inconsistencies == ()


def test_one_person_without_noise_is_seen(make_table):
    table = make_table(people=30, rows=40)
    made = release(table, mechanism="laplace", epsilon=1.0)
    first = pl.col("person") == "0"
    bare = made.table.data.with_columns(
        pl.when(first).then(table.data[name]).otherwise(pl.col(name)).alias(name)
        for name in table.names
    )
    certificate = replace(made.certificate, output_sha256=None)
    altered = replace(made, held=replace(made.table, data=bare), certificate=certificate)
    assert (
        "240 released values are the original's" in audit_target(table, altered).inconsistencies[0]
    )


def test_a_column_that_no_release_has_is_seen(pair):
    data = pl.read_parquet(pair[1] / "data.parquet")
    data.with_columns(raw=pl.lit("1.5")).write_parquet(pair[1] / "data.parquet")
    told = json.loads((pair[1] / "certificate.json").read_text())
    edit(pair[1], output_sha256=None, version=told["version"])
    assert "a column that no release has (raw)" in audit_target(*pair).inconsistencies[0]


def test_attributes_added_to_a_release_change_its_hash(pair):
    people = pl.read_csv(pair[1] / "people.csv", schema_overrides={"person": pl.String})
    people.with_columns(name=pl.lit("Anna")).write_csv(pair[1] / "people.csv")
    with pytest.raises(InputError, match="hash differs"):
        audit_target(*pair)


def test_more_files_in_a_released_folder_are_mentioned(pair):
    (pair[1] / "raw.parquet").write_bytes(b"")
    assert "1 more than a release has" in audit_target(*pair).notes[0]


def test_what_other_releases_cost_is_read_from_the_ledger_of_today(pair, tmp_path):
    assert audit_target(*pair).total.epsilon == 1.0
    release(pair[0], tmp_path / "later", mechanism="laplace", epsilon=2.0)
    assert audit_target(*pair).total.epsilon == 3.0
    release(pair[0], tmp_path / "seeded", mechanism="laplace", epsilon=2.0, seed=1)
    assert not audit_target(*pair).total.holds


def test_truth_values_are_no_words(pair):
    told = json.loads((pair[1] / "certificate.json").read_text())
    edit(pair[1], guarantee=told["guarantee"] | {"holds": "false"})
    with pytest.raises(InputError, match="holds must be true or false"):
        audit_target(*pair)


def test_bounds_of_a_file_are_the_scale_of_everything(make_table, tmp_path):
    bounds = tmp_path / "bounds.json"
    bounds.write_text('{"fixation_rate": [1.0, 5.0]}')
    table = make_table()
    done = release(table, mechanism="laplace", epsilon=1.0, bounds=bounds)
    subject = audit_target(table, done)
    assert [(f.lower, f.upper) for f in subject.original.features] == [(1.0, 5.0), (1.5, 9.0)]
    assert subject.released.features == subject.original.features
    assert subject.inconsistencies == ()


def altered(made, data):
    """A release whose data were changed, and whose hash was made to fit."""
    table = replace(made.table, data=data)
    certificate = replace(made.certificate, output_sha256=output_digest(table))
    return replace(made, held=table, certificate=certificate)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("raw plus a constant", "the same noise was added more than once"),
        ("one noise for all features", "the same noise was added more than once"),
        ("noise plus a constant", "moved as a whole"),
        ("raw first rows", "released values are the original's"),
        ("raw times", "time stamps"),
        ("a missing value", "values that no release has"),
    ],
)
def test_noise_that_is_none_is_found_out(make_table, change, text):
    table = make_table(people=12, rows=40)
    made = release(table, mechanism="laplace", epsilon=1.0)
    data, first = made.table.data, pl.col("time_ms") == 0
    if change == "raw plus a constant":
        spans = {"fixation_rate": 10.0, "pupil": 7.5}
        data = data.with_columns((table.data[n] + 1e3 * s).alias(n) for n, s in spans.items())
    elif change == "noise plus a constant":
        data = data.with_columns(pl.col("pupil") + 1e6)
    elif change == "one noise for all features":
        noise = (data["pupil"] - table.data["pupil"]) / 7.5
        rate = table.data["fixation_rate"] + 10 * noise
        data = data.with_columns(rate.alias("fixation_rate"))
    elif change == "raw first rows":
        data = data.with_columns(
            pl.when(first).then(table.data[n]).otherwise(pl.col(n)).alias(n) for n in table.names
        )
    elif change == "raw times":
        data = data.with_columns(pl.col("time_ms") + table.data["pupil"])
    else:
        data = data.with_columns(pl.when(~first).then(pl.col("pupil")).alias("pupil"))
    found = audit_target(table, altered(made, data)).inconsistencies
    assert any(text in line for line in found), found


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"guarantee": {"epsilon": 0.01}}, "promises one person ε = 0.01"),
        ({"guarantee": {"unit": "record"}}, "speaks of one record"),
        ({"guarantee": {"holds": False}}, "one guarantee holds and the other does not"),
        ({"ledger_total": {"epsilon": 0.01}}, "less than this release alone"),
        ({"rank1_bound": {"raw_to_release": 0.26}}, "its own numbers do not give"),
        ({"noise": {"sampler": "plenty"}}, "another noise"),
        ({"mechanism": {"parameters": {"epsilon": 1.0, "note": 1}}}, "cannot be run"),
        ({"mechanism": {"parameters": {"epsilon": None}}}, "cannot be run"),
        ({"mechanism": {"parameters": {"length": 2_000_000_000}}}, "length cannot be larger than"),
        ({"mechanism": {"parameters": {"length": 2e9}}}, "length cannot be larger than"),
        ({"mechanism": {"parameters": {"epsilon": 1e308}}}, "epsilon cannot be larger than"),
        ({"unprotected": []}, "leaves out what its mechanism does not protect"),
    ],
)
def test_no_part_of_a_certificate_can_be_bettered_alone(pair, change, text):
    told = json.loads((pair[1] / "certificate.json").read_text())
    for key, value in change.items():
        edit(pair[1], **{key: told[key] | value if isinstance(value, dict) else value})
    assert any(text in line for line in audit_target(*pair).inconsistencies)


def test_newcomers_in_the_original_change_nothing_about_the_release(make_table):
    table = make_table(people=6)
    made = release(table, mechanism="laplace", epsilon=1.0)
    more = make_table(people=7, recordings=5, rows=12, seed=6)
    late = more.data.filter(pl.col("person") == "6")
    grown = replace(table, data=pl.concat([table.data, late]), people=more.people)
    assert audit_target(grown, made).inconsistencies == ()


def test_kept_attributes_that_look_like_numbers_keep_their_hash(make_table, tmp_path):
    table = make_table()
    people = table.people.with_columns(pl.Series("code", ["01", "02", "5.50", "07"]))
    write(replace(table, people=people).study(), tmp_path / "features")
    table = replace(FeatureTable.of(read(tmp_path / "features")), people=people)
    made = release(table, tmp_path / "out", mechanism="laplace", epsilon=1.0, keep=["code"])
    assert audit_target(tmp_path / "features", tmp_path / "out").inconsistencies == ()
    assert made.certificate.output_sha256
