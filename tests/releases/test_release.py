import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.engine.runs import GOES_ON
from eyelid.errors import InputError, Refused
from eyelid.gaze.study import Feature
from eyelid.io import read, write
from eyelid.io.release_folder import output_digest
from eyelid.privacy import Ledger, gaussian_epsilon
from eyelid.releases.accounting import COUNTED_ONCE, STAYS_COUNTED
from eyelid.releases.budget import budget
from eyelid.releases.kinds.features.notes import singled_out
from eyelid.releases.kinds.features.plan import DATA_BOUNDS, SEEDED

CERTIFICATE_KEYS = {
    "schema", "mechanism", "guarantee", "person_level", "bounds", "noise", "ledger", "unprotected",
    "rank1_bound", "people", "input_sha256", "version",
}  # fmt: skip


def certificate(folder):
    return json.loads((folder / "certificate.json").read_text())


def test_a_release_is_a_folder_with_data_certificate_and_card(features_folder, tmp_path):
    done = eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert names == {"study.json", "people.csv", "data.parquet", "certificate.json", "DATACARD.md"}
    found = certificate(tmp_path / "out")
    assert set(found) >= CERTIFICATE_KEYS
    assert found["schema"] == "eyelid/certificate/1"
    assert found == done.certificate.to_dict()
    assert len(read(tmp_path / "out").data) == len(done.table.data) == 120


@pytest.mark.parametrize(
    ("unit", "person"), [("recording", 3.0), ("person", 1.0), ("record", 30.0)]
)
def test_every_certificate_states_the_person_level_total(make_table, unit, person):
    done = eyelid.release(make_table(), mechanism="laplace", epsilon=1.0, unit=unit)
    found = done.certificate.to_dict()
    assert found["guarantee"]["epsilon"] == 1.0
    assert found["guarantee"]["unit"] == unit
    assert found["person_level"]["epsilon"] == person
    assert found["person_level"]["how"]


def test_a_gaussian_certificate_composes_in_mu(make_table):
    done = eyelid.release(make_table(), mechanism="gaussian", epsilon=1.0, unit="recording")
    person = done.certificate.person_level
    assert person.mu == pytest.approx(done.certificate.guarantee.mu * 3**0.5)
    assert person.epsilon == pytest.approx(gaussian_epsilon(person.mu, 1e-6), rel=1e-6)
    assert 1.0 < person.epsilon < 3.0


def test_a_seed_repeats_and_voids(make_table):
    one, other = (
        eyelid.release(make_table(), mechanism="laplace", epsilon=1.0, seed=4) for _ in range(2)
    )
    assert one.table.data.equals(other.table.data)
    found = one.certificate.to_dict()
    assert not found["guarantee"]["holds"]
    assert not found["person_level"]["holds"]
    assert found["guarantee"]["reasons"] == [SEEDED]
    assert found["rank1_bound"] == {"raw_to_release": None, "release_to_raw": None}
    assert "not private" in found["noise"]["randomness"]


def test_the_seed_itself_is_nowhere_in_the_release(features_folder, tmp_path):
    eyelid.release(
        features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0, seed=918273645
    )
    assert all(b"918273645" not in p.read_bytes() for p in (tmp_path / "out").iterdir())


def test_bounds_from_the_data_void(make_table):
    done = eyelid.release(make_table(), mechanism="laplace", epsilon=1.0, bounds="data")
    assert done.certificate.guarantee.reasons == (DATA_BOUNDS,)
    assert done.certificate.to_dict()["bounds"]["source"] == "data"


def test_two_releases_without_a_seed_differ(make_table):
    one, other = (eyelid.release(make_table(), mechanism="laplace", epsilon=1.0) for _ in "ab")
    assert not one.table.data.equals(other.table.data)


def test_releases_add_up_over_everything_derived_from_one_study(simulated, tmp_path):
    study = write(simulated, tmp_path / "study")
    write(eyelid.window_features(study).study(), tmp_path / "features")
    eyelid.release(tmp_path / "features", tmp_path / "a", mechanism="laplace", epsilon=1.0)
    eyelid.release(tmp_path / "study", tmp_path / "b", mechanism="laplace", epsilon=2.0)
    subset = read(tmp_path / "features")
    subset = subset.derive(data=subset.data.filter(pl.col("person") != "P01"))
    write(subset, tmp_path / "subset")
    eyelid.release(tmp_path / "subset", tmp_path / "c", mechanism="laplace", epsilon=0.5)
    state = budget(tmp_path / "study")
    assert [d.guarantee.epsilon for d in state.debits] == [1.0, 2.0, 0.5]
    assert state.to_dict()["spent"] == {
        "epsilon": 3.5,
        "delta": 0.0,
        "bounded": True,
        "reasons": [],
    }
    assert {(b.people, b.total.epsilon) for b in state.balances} == {(1, 3.0), (5, 3.5)}
    assert [e["epsilon"] for e in certificate(tmp_path / "c")["ledger"]] == [1.0, 2.0, 0.5]


def test_identification_is_bounded_by_everything_spent_so_far(features_folder, tmp_path):
    for name in "ab":
        eyelid.release(features_folder, tmp_path / name, mechanism="laplace", epsilon=1.0)
    first, second = certificate(tmp_path / "a"), certificate(tmp_path / "b")
    e = np.exp
    assert first["rank1_bound"]["raw_to_release"] == pytest.approx(e(1) / (e(1) + 3))
    assert second["rank1_bound"]["raw_to_release"] == pytest.approx(e(2) / (e(2) + 3))


def test_a_limit_refuses_before_anything_is_computed_or_written(features_folder, tmp_path):
    budget(features_folder, limit_epsilon=1.5)
    eyelid.release(features_folder, tmp_path / "a", mechanism="laplace", epsilon=1.0)
    with pytest.raises(Refused, match="spent so far: ε = 1"):
        eyelid.release(features_folder, tmp_path / "b", mechanism="laplace", epsilon=1.0)
    assert not (tmp_path / "b").exists()
    assert len(budget(features_folder).debits) == 1


def test_a_limit_below_what_is_spent_is_told_so_and_one_that_is_just_reached_is_not(
    features_folder, tmp_path
):
    for name in "abc":
        eyelid.release(features_folder, tmp_path / name, mechanism="laplace", epsilon=0.1)
    reached = budget(features_folder, limit_epsilon=0.3)
    assert not reached.exceeded
    assert "above" not in reached.sentence
    below = budget(features_folder, limit_epsilon=0.25)
    assert "already above the limit of ε = 0.25" in below.sentence
    assert below.to_dict()["limit"]["exceeded"] is True
    assert not budget(features_folder, no_limit=True).exceeded


def test_a_limit_over_a_release_without_a_guarantee_is_exceeded(features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "a", mechanism="laplace", epsilon=0.1, seed=1)
    spent = budget(features_folder, limit_epsilon=5.0)
    assert spent.exceeded
    assert "The limit of ε = 5, δ = 1e-06 per person cannot be kept any more" in spent.sentence


@pytest.mark.parametrize(
    ("mechanism", "unit", "told"),
    [
        ("laplace", "person", "features, out"),
        ("laplace", "recording", "features, out, ε = 1 per recording"),
        ("groupmean", "person", "means over people, out"),
    ],
)
def test_the_ledger_remembers_what_was_released(mechanism, unit, told, features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "out", mechanism=mechanism, epsilon=1.0, unit=unit)
    (debit,) = budget(features_folder).debits
    assert debit.what == told


def test_a_release_that_fails_half_way_goes_on_and_is_counted_once(
    features_folder, tmp_path, monkeypatch
):
    from eyelid.mechanisms.records.laplace import Laplace

    def fail(*_):
        raise OSError("disk full")

    asked = {"mechanism": "laplace", "epsilon": 1.0}
    with monkeypatch.context() as patch:
        patch.setattr(Laplace, "perturb", fail)
        with pytest.raises(OSError, match="disk full"):
            eyelid.release(features_folder, tmp_path / "out", **asked)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name[0] != ".") == [
        "features", "features.ledger"
    ]  # fmt: skip
    assert budget(features_folder).sound.epsilon == 1.0
    with pytest.raises(InputError, match="unfinished run of other data or settings"):
        eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=2.0)
    eyelid.release(features_folder, tmp_path / "out", **asked)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["features", "features.ledger", "out"]
    assert budget(features_folder).sound.epsilon == 1.0


def no_room(*_, **__):
    raise OSError(28, "No space left on device", "data.parquet")


def test_whatever_fails_after_the_debit_says_that_it_stays_counted(
    eyelid, features_folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("eyelid.releases.kinds.features.release.write_manifest", no_room)
    done = eyelid(
        *f"release {features_folder} {tmp_path}/out --mechanism laplace --epsilon 1".split()
    )
    assert done.code == 2
    assert done.err == (
        f"eyelid: No space left on device: data.parquet; {COUNTED_ONCE}; "
        f"{GOES_ON.format(tmp_path / '.out.unfinished')}\n"
    )
    assert not (tmp_path / "out").exists()
    assert len(budget(features_folder).debits) == 1


def test_without_an_output_what_fails_after_the_debit_stays_counted(features_folder, monkeypatch):
    monkeypatch.setattr("eyelid.releases.kinds.features.release.made_private", no_room)
    with pytest.raises(OSError, match="No space left") as caught:
        eyelid.release(features_folder, mechanism="laplace", epsilon=1.0)
    assert caught.value.__notes__ == [STAYS_COUNTED]


@pytest.mark.parametrize(
    "asked", [{"mechanism": "laplace", "epsilon": 1.0}, {"mechanism": "ksame", "k": 2}]
)
def test_an_output_that_is_taken_meanwhile_says_so_too(
    features_folder, tmp_path, monkeypatch, asked
):
    from eyelid.releases.kinds.features import release

    write, out = release.write_manifest, tmp_path / "out"

    def slowly(run, *arguments):
        out.mkdir()
        (out / "mine").write_text("precious")
        drawn.append((run.output / "data.parquet").read_bytes())
        return write(run, *arguments)

    drawn = []
    with monkeypatch.context() as patch:
        patch.setattr(release, "write_manifest", slowly)
        with pytest.raises(InputError, match="cannot put the result at") as caught:
            eyelid.release(features_folder, out, **asked)
    assert COUNTED_ONCE in caught.value.__notes__[0]
    assert [p.name for p in out.iterdir()] == ["mine"]
    shutil.rmtree(out)
    done = eyelid.release(features_folder, out, **asked)
    assert (out / "data.parquet").read_bytes() == drawn[0]
    assert done.certificate.output_sha256 == output_digest(done.table)
    assert len(budget(features_folder).debits) == 1


def test_a_place_where_nothing_can_be_written_costs_nothing(features_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.mkdir", no_room)
    with pytest.raises(InputError, match=r"cannot write .*out: No space left") as caught:
        eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    assert not hasattr(caught.value, "__notes__")
    monkeypatch.undo()
    assert budget(features_folder).debits == ()


def test_a_refused_release_leaves_no_folder_behind(features_folder, tmp_path):
    budget(features_folder, limit_epsilon=0.5)
    with pytest.raises(Refused):
        eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["features", "features.ledger"]


@pytest.mark.parametrize("where", ["features/out", "features/deep/out", "other/out"])
def test_a_release_inside_a_study_is_refused(features_folder, tmp_path, make_table, where):
    write(make_table(seed=1).study(), tmp_path / "other")
    with pytest.raises(InputError, match=r"is inside .*, which is not to be shared"):
        eyelid.release(features_folder, tmp_path / where, mechanism="laplace", epsilon=1.0)
    assert not (tmp_path / where).parent.joinpath("out").exists()
    assert budget(features_folder).debits == ()


def test_bad_input_costs_nothing(features_folder, tmp_path):
    for wrong in ({"epsilon": -1.0}, {"epsilon": 1.0, "keep": ["shoes"]}, {"epsilon": 1.0, "x": 1}):
        with pytest.raises(InputError):
            eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", **wrong)
    assert budget(features_folder).debits == ()


def test_a_released_folder_carries_no_trace_of_the_original(features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    origin = read(features_folder).origin
    for path in (tmp_path / "out").iterdir():
        content = path.read_bytes()
        assert origin.id.encode() not in content
        assert b'ledger": "' not in content
        assert str(tmp_path).encode() not in content


def test_the_fingerprint_can_be_checked_by_the_owner_alone(features_folder, tmp_path):
    from eyelid.releases.accounting import input_digest as digest_of

    for name in "ab":
        eyelid.release(features_folder, tmp_path / name, mechanism="laplace", epsilon=1.0)
    one, two = (certificate(tmp_path / n)["input_sha256"] for n in "ab")
    assert one != two
    digest = digest_of(eyelid.FeatureTable.of(read(features_folder)))
    ledger = Ledger(tmp_path / "features.ledger")
    assert [ledger.fingerprint(digest, n) for n in (1, 2)] == [one, two]


def test_attributes_are_dropped_unless_kept_and_then_named(simulated_table, tmp_path):
    write(simulated_table.study(), tmp_path / "f")
    eyelid.release(tmp_path / "f", tmp_path / "a", mechanism="laplace", epsilon=1.0)
    eyelid.release(
        tmp_path / "f", tmp_path / "b", mechanism="laplace", epsilon=1.0, keep=["gender"]
    )
    assert read(tmp_path / "a").people.columns == ["person"]
    assert read(tmp_path / "b").people.columns == ["person", "gender"]
    assert any("gender" in item for item in certificate(tmp_path / "b")["unprotected"])


def test_a_ledger_that_was_moved_is_used_when_it_is_named(features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "a", mechanism="laplace", epsilon=1.0)
    moved = (tmp_path / "features.ledger").rename(tmp_path / "L")
    done = eyelid.release(
        features_folder, tmp_path / "b", mechanism="laplace", epsilon=1.0, ledger=moved
    )
    assert done.certificate.total.epsilon == 2.0
    assert len(budget(features_folder, ledger=moved).debits) == 2
    with pytest.raises(InputError, match="is missing: bring it back"):
        budget(features_folder)


def test_a_lost_ledger_stops_a_release(features_folder, tmp_path):
    (tmp_path / "features.ledger").unlink()
    with pytest.raises(InputError, match="is missing: bring it back"):
        eyelid.release(features_folder, tmp_path / "a", mechanism="laplace", epsilon=1.0)


def test_without_a_ledger_the_certificate_says_so(make_table):
    done = eyelid.release(make_table(), mechanism="laplace", epsilon=1.0)
    assert any("there is no ledger" in item for item in done.certificate.unprotected)
    assert done.certificate.input_sha256 is None


@pytest.mark.parametrize("form", ["json", "csv"])
def test_bounds_from_a_file_are_used_and_named(make_table, tmp_path, form):
    path = tmp_path / f"bounds.{form}"
    path.write_text('{"pupil": [2, 6]}' if form == "json" else "feature,lower,upper\npupil,2,6\n")
    done = eyelid.release(make_table(), mechanism="laplace", epsilon=1.0, bounds=path)
    found = done.certificate.to_dict()["bounds"]
    assert found["source"] == "file"
    assert found["values"] == {"fixation_rate": [0.0, 10.0], "pupil": [2.0, 6.0]}
    assert done.certificate.guarantee.holds


def test_features_of_other_sciences_take_the_same_road():
    """Nothing here is about eyes: heart rates, with their own bounds."""
    from eyelid.gaze.study import Feature
    from eyelid.gaze.table import table_from_arrays

    rng = np.random.default_rng(1)
    heart = Feature("heart_rate", "1/min", "beats per minute", 20.0, 250.0)
    table = table_from_arrays(rng.normal(70, 10, size=(30, 2, 50, 1)), [heart])
    done = eyelid.release(table, mechanism="gaussian", epsilon=2.0)
    assert done.certificate.person_level.epsilon == 2.0


def test_the_card_says_what_a_person_needs(features_folder, tmp_path):
    eyelid.release(
        features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0, unit="recording"
    )
    card = (tmp_path / "out" / "DATACARD.md").read_text()
    for heading in ("What was done", "What is guaranteed", "not protected", "ethics", "cite"):
        assert heading in card
    assert "ε = 3" in card
    assert "{{" not in card


def test_the_card_of_a_void_release_says_so_first(features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0, seed=1)
    card = (tmp_path / "out" / "DATACARD.md").read_text()
    assert card.index("no privacy guarantee") < card.index("What was done")
    assert "must be handled as personal data" in card


def test_one_person_has_nobody_to_hide_among(make_table):
    with pytest.raises(InputError, match="only one person"):
        eyelid.release(make_table(people=1), mechanism="laplace", epsilon=1.0)


def test_a_feature_without_bounds_is_named(make_table):
    table = make_table()
    free = replace(table.features[0], upper=float("inf"))
    with pytest.raises(InputError, match="feature fixation_rate has no public bounds"):
        eyelid.release(
            replace(table, features=(free, table.features[1])), mechanism="laplace", epsilon=1.0
        )


def test_the_ledger_is_a_ledger(features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "a", mechanism="gaussian", epsilon=1.0)
    ledger = Ledger(tmp_path / "features.ledger")
    (entry,) = ledger.debits(read(features_folder).origin.id)
    assert (entry.mechanism, entry.people) == ("gaussian", 4)


def test_a_released_folder_has_no_budget(features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    with pytest.raises(InputError, match="name the original study"):
        budget(tmp_path / "out")
    assert not (tmp_path / "out.ledger").exists()


def people_of(folder, names, to):
    """A derived study of some of the people."""
    study = read(folder)
    write(study.derive(data=study.data.filter(pl.col("person").is_in(names))), to)
    return to


def test_the_total_is_true_of_everybody_released(features_folder, tmp_path):
    """Some have a pure history and others a Gaussian one: neither describes them all."""
    one = people_of(features_folder, ["0", "1"], tmp_path / "one")
    two = people_of(features_folder, ["2", "3"], tmp_path / "two")
    eyelid.release(one, tmp_path / "a", mechanism="laplace", epsilon=3.0)
    eyelid.release(two, tmp_path / "b", mechanism="gaussian", epsilon=1.0, delta=1e-3)
    eyelid.release(features_folder, tmp_path / "c", mechanism="laplace", epsilon=1.0)
    found = certificate(tmp_path / "c")
    total = found["ledger_total"]
    assert (total["kind"], total["epsilon"], total["delta"]) == ("approx-dp", 4.0, 1e-3)
    assert len(found["ledger"]) == 3
    assert found["rank1_bound"] == {"raw_to_release": None, "release_to_raw": None}
    spent = budget(features_folder).to_dict()["spent"]
    assert (spent["epsilon"], spent["delta"]) == (4.0, 1e-3)


def test_an_attribute_kept_once_tells_people_apart_for_good(simulated_table, tmp_path):
    write(simulated_table.study(), tmp_path / "f")
    for name, keep in (("a", ["age"]), ("b", [])):
        eyelid.release(tmp_path / "f", tmp_path / name, mechanism="laplace", epsilon=1.0, keep=keep)
    assert certificate(tmp_path / "b")["rank1_bound"]["raw_to_release"] is None


def test_another_ledger_in_the_same_place_is_not_taken_for_the_lost_one(simulated, tmp_path):
    study = write(simulated, tmp_path / "study")
    write(eyelid.window_features(study).study(), tmp_path / "features")
    shutil.rmtree(tmp_path / "study")
    (tmp_path / "study.ledger").unlink()
    write(simulated, tmp_path / "study")
    with pytest.raises(InputError, match="does not know these people"):
        eyelid.release(tmp_path / "features", tmp_path / "o", mechanism="laplace", epsilon=1.0)


FIRST = """
import sys
import eyelid
eyelid.release(sys.argv[1], sys.argv[2], mechanism="laplace", epsilon=1.0)
"""


def test_several_first_releases_of_a_folder_made_by_hand_are_all_counted(features_folder, tmp_path):
    about = json.loads((features_folder / "study.json").read_text())
    del about["origin"], about["ledger"]
    (features_folder / "study.json").write_text(json.dumps(about))
    (tmp_path / "features.ledger").unlink()
    words = [sys.executable, "-c", FIRST, str(features_folder)]
    crowd = [subprocess.Popen([*words, str(tmp_path / f"out{i}")]) for i in range(3)]
    assert [process.wait() for process in crowd] == [0, 0, 0]
    assert budget(features_folder).sound.epsilon == 3.0


def test_a_bound_without_a_ledger_speaks_of_this_release_alone(make_table, tmp_path):
    eyelid.release(make_table(), tmp_path / "o", mechanism="laplace", epsilon=1.0)
    assert "by this release alone" in (tmp_path / "o" / "DATACARD.md").read_text()


def test_one_person_s_times_do_not_move_the_others_rows(make_table):
    table = make_table()
    order = pl.concat([table.data.filter(pl.col("person") == p) for p in "2031"])
    turned = pl.when(pl.col("person") == "3").then(-pl.col("time_ms")).otherwise("time_ms")
    one = replace(table, data=order)
    other = replace(table, data=order.with_columns(turned.alias("time_ms")))
    keys = ["person", "recording"]
    assert one.data.select(keys).equals(other.data.select(keys))
    assert other.data.filter(pl.col("person") == "3")["time_ms"][:2].to_list() == [-4500, -4000]


def test_names_that_differ_only_in_blanks_are_one_person_or_a_mistake(features_folder, tmp_path):
    study = read(features_folder)
    twice = pl.when(pl.col("recording") == "1").then(pl.lit("0 ")).otherwise("person")
    data = study.data.with_columns(
        pl.when(pl.col("person") == "0").then(twice).otherwise("person").alias("person")
    )
    people = pl.concat([study.people, pl.DataFrame({"person": ["0 "]})])
    with pytest.raises(InputError, match="differ only in how their names are written"):
        write(study.derive(data=data, people=people), tmp_path / "blank")


@pytest.mark.parametrize(("epsilon", "says_nothing"), [(1.0, True), (90.0, False)])
def test_almost_no_information_is_said_only_where_the_guarantee_says_so(epsilon, says_nothing):
    facts = {"people": 20, "recordings": 3, "features": 28, "length": 600}
    says = eyelid.cost("gaussian", **facts, epsilon=epsilon).to_dict()["says"]
    assert ("almost no information" in says) is says_nothing
    assert ("may still re-identify people" in says) is not says_nothing


def test_overlapping_windows_are_named_where_only_rows_are_hidden(simulated_table):
    row, whole = (
        eyelid.release(simulated_table, mechanism="laplace", epsilon=1.0, unit=unit)
        for unit in ("record", "person")
    )
    assert any("at least about 60 rows" in item for item in row.certificate.unprotected)
    assert not any("windows overlap" in item for item in whole.certificate.unprotected)


def test_a_release_is_no_original_to_release_from(features_folder, tmp_path):
    """Otherwise bounds read off the data would come back as public ones."""
    done = eyelid.release(
        features_folder, tmp_path / "void", mechanism="laplace", epsilon=1.0, bounds="data"
    )
    for again in (tmp_path / "void", done.table, read(tmp_path / "void")):
        with pytest.raises(InputError, match="released dataset already"):
            eyelid.release(again, tmp_path / "again", mechanism="laplace", epsilon=1.0)
    assert read(tmp_path / "void").features == read(features_folder).features


def test_a_mechanism_that_admits_it_does_not_hold_is_certified_so(make_table):
    from dataclasses import dataclass
    from typing import ClassVar

    from eyelid.mechanisms.records.laplace import Laplace

    @dataclass(frozen=True)
    class Honest(Laplace):
        claims_to_hold: ClassVar[bool] = False

    done = eyelid.release(make_table(), mechanism=Honest(epsilon=1.0))
    assert not done.certificate.guarantee.holds
    assert not done.certificate.person_level.holds


def test_a_mechanism_with_its_parameters_set_takes_no_others(make_table):
    mechanism = eyelid.mechanism("laplace", epsilon=10.0)
    with pytest.raises(InputError, match="parameters set already: leave out epsilon"):
        eyelid.release(make_table(), mechanism=mechanism, epsilon=1.0)


def test_no_bound_on_naming_people_whom_something_unprotected_tells_apart(simulated_table):
    told = eyelid.release(simulated_table, mechanism="laplace", epsilon=1.0, keep=["age"])
    fewer = simulated_table.data.filter((pl.col("person") != "P01") | (pl.col("task") == "comic"))
    unequal = eyelid.release(replace(simulated_table, data=fewer), mechanism="laplace", epsilon=1.0)
    for done in (told, unequal):
        assert done.certificate.rank1_bound["raw_to_release"] is None
        assert done.certificate.guarantee.holds


def test_whom_kept_attributes_single_out_is_told_before_paying_and_never_in_the_folder(
    simulated_table, tmp_path
):
    everybody = len(simulated_table.people)
    hands = pl.Series("hand", [None, *["right"] * (everybody - 1)])
    people = simulated_table.people.select("person", hand=pl.lit("right"))
    table = replace(simulated_table, people=people.with_columns(hands))
    heard = []
    asked = {"mechanism": "laplace", "epsilon": 1.0, "tell": heard.append}
    done = eyelid.release(table, tmp_path / "out", keep=["hand"], **asked)
    assert any(
        line.startswith("from the raw data, for you alone: what you keep singles people out")
        and f"1 of {everybody} people is alone with: hand." in line
        for line in heard
    )
    assert "the attribute hand of every person, released as it is" in done.certificate.unprotected
    for file in (tmp_path / "out").iterdir():
        assert b"alone with" not in (file.read_bytes() if file.is_file() else b"")
    heard.clear()
    eyelid.release(replace(table, people=people), keep=["hand"], **asked)
    assert not any("what you keep" in line for line in heard)


def test_few_people_who_share_what_is_kept_are_told_of_too():
    people = pl.DataFrame({"hand": ["left"] * 3 + ["right"] * 6, "age": [30] * 9})
    (said,) = singled_out(people, ["hand", "age"])
    assert "as few as 3 people share: hand, age." in said
    assert not list(singled_out(people, ["age"]))
    assert not list(singled_out(people, []))


def test_a_large_delta_is_named(make_table):
    done = eyelid.release(make_table(), mechanism="gaussian", epsilon=1.0, delta=0.3)
    assert any("outright" in item for item in done.certificate.unprotected)


def test_padding_that_shows_is_named_where_only_rows_are_hidden(make_table):
    for unit, named in (("record", True), ("recording", False), ("person", False)):
        done = eyelid.release(make_table(), mechanism="laplace", epsilon=1.0, unit=unit, length=12)
        assert any("padding shows" in item for item in done.certificate.unprotected) is named


def test_counting_elsewhere_than_in_the_study_s_ledger_is_refused(features_folder, tmp_path):
    with pytest.raises(InputError, match=r"counted in \S+features\.ledger: leave out `ledger`"):
        eyelid.release(features_folder, mechanism="laplace", epsilon=1.0, ledger=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_the_ethics_paragraph_tells_of_earlier_releases(features_folder, tmp_path):
    for name, seed in (("a", None), ("b", None), ("c", 1), ("d", None)):
        eyelid.release(
            features_folder, tmp_path / name, mechanism="laplace", epsilon=1.0, seed=seed
        )
    cards = {n: (tmp_path / n / "DATACARD.md").read_text() for n in "abcd"}
    assert "so far the total is ε = 2" in cards["b"]
    assert "so far there is no bound" in cards["d"]


def test_a_limit_is_not_walked_around_by_counting_elsewhere(features_folder, tmp_path):
    budget(features_folder, limit_epsilon=0.5)
    with pytest.raises(Refused, match="another `ledger` would not keep"):
        eyelid.release(
            features_folder, tmp_path / "o", mechanism="laplace", epsilon=1, ledger=tmp_path / "L"
        )
    assert not (tmp_path / "L").exists()


def test_noise_beyond_all_numbers_is_refused_before_it_is_paid_for(features_folder, tmp_path):
    with pytest.raises(InputError, match="more noise than there are numbers for"):
        eyelid.release(features_folder, tmp_path / "o", mechanism="laplace", epsilon=1e-300)
    assert budget(features_folder).debits == ()


def test_what_the_common_length_did_is_told_to_the_owner(make_table):
    table = make_table()
    ragged = replace(table, data=table.data.filter(
        (pl.col("person") != "2") | (pl.col("time_ms") < 4 * 500)
    ))  # fmt: skip
    cut = eyelid.release(ragged, mechanism="laplace", epsilon=1.0, length=4)
    padded = eyelid.release(ragged, mechanism="laplace", epsilon=1.0, length="longest")
    assert cut.rows == "48 rows (54 rows were cut to give every recording 4)"
    assert padded.rows == "120 rows (18 of them are padding)"


def card_of(table, folder, **asked):
    eyelid.release(table, folder / "o", **asked)
    return (folder / "o" / "DATACARD.md").read_text(encoding="utf-8")


def ragged(table):
    short = (pl.col("person") != "2") | (pl.col("time_ms") < 4 * 500)
    return replace(table, data=table.data.filter(short))


def test_papers_that_keep_lengths_are_not_said_to_cut_or_pad(make_table, tmp_path):
    done = eyelid.release(ragged(make_table()), mechanism="lpa-paper", epsilon=1.0, subsample=3)
    before, after = len(ragged(make_table()).data), len(done.table.data)
    assert done.rows == f"{after} rows (of {before}, one in 3 was kept)"
    card = card_of(ragged(make_table()), tmp_path, mechanism="lpa-paper", epsilon=1.0, subsample=3)
    lengths = done.table.recordings["rows"]
    assert f"{lengths.min()} to {lengths.max()} rows a recording" in card
    assert "of every 3 rows one was kept; recordings keep their own lengths" in card
    assert "padded" not in card
    assert "values outside were clipped" not in card


def test_papers_that_repeat_the_last_row_say_so(make_table):
    table = ragged(make_table())
    done = eyelid.release(table, mechanism="exponential-paper", epsilon=1.0)
    assert f"({len(done.table.data) - len(table.data)} of them repeat a last row)" in done.rows


def test_each_reason_is_told_once_in_a_card(make_table, tmp_path):
    card = card_of(make_table(), tmp_path, mechanism="lpa-paper", epsilon=1.0)
    for reason in ("of this very dataset", "does not give the guarantee", "add up"):
        assert card.count(reason) == 1
    assert card.count("there is no valid guarantee") == 1


def test_bins_are_told_apart_from_the_windows_made_of_them(tmp_path):
    study = eyelid.simulate(people=3, minutes=1.5, seed=3)
    asked = {"mechanism": "prewindow", "epsilon": 1.0, "length": 20, "only": "linear"}
    done = eyelid.release(study, **asked)
    assert done.table.recordings["rows"].unique().to_list() == [20]
    assert "to give every recording 20)" in done.rows
    card = card_of(study, tmp_path, **asked)
    assert "8 features of 3 people" in card
    assert "Measured: 7 streams of counts and sums in 79 bins of 0.5 s a recording." in card


def test_a_bound_that_says_nothing_is_put_down_to_its_size(simulated_table, tmp_path):
    card = card_of(simulated_table, tmp_path, mechanism="cfpa", epsilon=1.0, unit="chunk", chunk=16)
    assert "(no practical protection) for a person rules out almost nothing" in card


def test_only_features_of_gaze_are_called_eye_tracking(make_table, tmp_path):
    from eyelid.gaze.table import table_from_arrays

    heart = Feature("heart_rate", "1/min", "beats per minute", 20.0, 250.0)
    table = table_from_arrays(np.full((4, 2, 5, 1), 70.0), [heart])
    assert "> The features of 4" in card_of(table, tmp_path, mechanism="laplace", epsilon=1.0)
    gaze = card_of(make_table(), tmp_path / "gaze", mechanism="laplace", epsilon=1.0)
    assert "> The eye-tracking features of" in gaze


def test_the_ethics_paragraph_admits_a_promise_that_is_formal_only(features_folder, tmp_path):
    eyelid.release(features_folder, tmp_path / "o", mechanism="laplace", epsilon=50.0)
    paragraph = (tmp_path / "o" / "DATACARD.md").read_text().split("ethics application")[1]
    assert "formal only" in paragraph
