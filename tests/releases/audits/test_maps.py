"""An audit of a heatmap: sound ones stand, forged ones are refuted, others' are refused."""

import json
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.reporting.test_rendering import Rules

from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.spread import point_spread
from eyelid.gaze.simulator.scenes import simulated_scene
from eyelid.gaze.study import Screen, Study
from eyelid.io import read, write
from eyelid.io.reading import is_heatmap
from eyelid.io.release_folder import arrays_digest
from eyelid.privacy.noise import randomness
from eyelid.releases.accounting import read_certificate
from eyelid.releases.audits.audit import audit
from eyelid.releases.audits.map_target import map_target
from eyelid.releases.audits.maps import AREAS
from eyelid.releases.budget import budget
from eyelid.releases.kinds.maps.heatmap import heatmap
from eyelid.releases.kinds.maps.presentation import (
    Measured,
    arrays_of,
    maps_of,
    released_facts,
    trusted_of,
)
from eyelid.reporting.maps import pictures

pytestmark = pytest.mark.usefixtures("quick_map_audits")

WIDTH, HEIGHT, PEOPLE = 168, 105, 40


@pytest.fixture(autouse=True, scope="module")
def quick_pictures():
    """Pictures are not what is audited, and take long to draw."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pictures, "save", lambda figure, path: path.write_bytes(b"a picture"))
        yield


LEFT = Area("left", np.array([[0.0, 0.0], [80.0, 0.0], [80.0, 105.0], [0.0, 105.0]]))
RIGHT = Area("right", np.array([[90.0, 0.0], [160.0, 0.0], [160.0, 90.0], [90.0, 90.0]]))


def scene(people=PEOPLE, stimuli=("page",), seed=1):
    """Fixations of many people on small pictures, who are of two groups."""
    parts = []
    for number, name in enumerate(stimuli):
        points = simulated_scene(
            people, width_px=WIDTH, height_px=HEIGHT, hotspot_sd_px=6.0, seed=seed + number
        )
        parts.append(
            pl.DataFrame(
                {
                    "person": np.array(points.people)[points.person],
                    "recording": name,
                    "stimulus": name,
                    "x": points.x_px,
                    "y": points.y_px,
                    "duration_ms": 200.0,
                }
            ).with_columns(time_ms=250.0 * pl.int_range(pl.len()).over("person"))
        )
    group = ["a", "b"] * (people // 2)
    return Study(
        "fixations",
        pl.concat(parts).sort("person", "recording", "time_ms"),
        pl.DataFrame({"person": points.people, "group": group}),
        units="px",
        xy_origin="top-left",
        screen=Screen(WIDTH, HEIGHT),
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A study that a ledger counts, and a heatmap of it."""
    home = tmp_path_factory.mktemp("maps")
    write(scene(), home / "study")
    heatmap(home / "study", home / "out", epsilon=1.5)
    return home


def forged(folder, areas=None, **arrays):
    """Other arrays, or another areas.csv, under the same certificate, whose hash is mended."""
    file, table = folder / "map.npz", folder / "areas.csv"
    changed = {}
    if file.exists() or arrays:
        changed = (dict(np.load(file)) if file.exists() else {}) | arrays
        np.savez_compressed(file, **changed)
    if areas is not None:
        table.write_text(areas)
    text = table.read_text() if table.exists() else ""
    certified(folder, lambda told: told.update(output_sha256=arrays_digest(changed, text)))


def certified(folder, change):
    """Another certificate."""
    file = folder / "certificate.json"
    told = json.loads(file.read_text())
    change(told)
    file.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def noise_free(subject, number=0):
    """The cells of a group without noise."""
    mechanism, observers = subject.mechanisms[number], subject.design.observers[number]
    counts = subject.gaze_points_of[number].counts(observers.facts.grid)
    return mechanism.divided(mechanism.total(counts, observers.facts), observers.facts)


def shown(folder, subject, cells):
    """Other cells, with everything that follows from them but the reliability."""
    plan, layers = subject.design, len(subject.design.layers)
    measured = [
        Measured(
            mechanism, cells[n * layers : (n + 1) * layers], mechanism.cell_sd(observers.facts)
        )
        for n, (mechanism, observers) in enumerate(
            zip(subject.mechanisms, plan.observers, strict=True)
        )
    ]
    maps = maps_of(plan, measured)
    facts = released_facts(plan, measured, trusted_of(plan, measured))
    forged(folder, **arrays_of(maps, [each.cells for each in measured], plan))
    certified(folder, lambda told: told["map"].update(facts))
    (folder / "DATACARD.md").unlink()


@pytest.fixture
def out(home, tmp_path):
    """A heatmap of that study of one's own."""
    shutil.copytree(home / "out", tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture(scope="module")
def with_areas(home):
    """A heatmap of that study with tables of areas."""
    heatmap(home / "study", home / "both", epsilon=1.5, areas=[LEFT, RIGHT])
    return home / "both"


@pytest.fixture
def both(with_areas, tmp_path):
    """One's own."""
    shutil.copytree(with_areas, tmp_path / "both")
    return tmp_path / "both"


def inconsistencies(home, folder):
    return list(map_target(home / "study", folder).inconsistencies)


def test_a_sound_heatmap_stands_and_is_written_beside_it(home):
    done = audit(home / "study", home / "out")
    (attack,) = done.attacks.values()
    assert done.refuted == []
    assert "not contradicted" in done.verdict
    assert attack.positive.advantage.rate == 1.0
    assert not attack.subtraction.learned
    assert attack.noise.objection is None
    told = json.loads((home / "out-audit" / "audit.json").read_text())
    assert told["schema"] == "eyelid/audit/1"
    assert told["controls"]["positive"]["rate"] == 1.0
    assert told["verdict"] == done.verdict
    page = (home / "out-audit" / "report.html").read_text()
    assert Rules(page).broken == []
    assert "Certificate not contradicted by any attack" in page
    assert "wherever else and however long one of them had looked" in page
    assert "all features" not in page
    assert "data:image/png;base64" in page
    assert "http" not in page.replace("http://www.w3.org", "")


@pytest.mark.usefixtures("plain_pictures")
def test_its_use_is_that_of_the_map_in_the_file(home):
    (use,) = audit(home / "study", home / "out").uses
    points = map_target(home / "study", home / "out").points
    with np.load(home / "out" / "map.npz") as found:
        released, sigma_px = found["map"][0], float(found["sigma_px"])
    truth = point_spread(gaze_map(points).values, sigma_px)
    slow = np.corrcoef(truth.ravel(), released.ravel())[0, 1]
    assert use.released.correlation == pytest.approx(slow, abs=1e-6)


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize(
    "how",
    [
        {"mechanism": "map-gaussian", "epsilon": 1.0},
        {"mechanism": "map-laplace", "epsilon": 1.0, "samples": 5},
        {"mechanism": "map-gaussian", "epsilon": 1.0, "cap": "private"},
        {"epsilon": 1.0, "weight": "duration"},
        {"epsilon": 1.0, "every_s": 2.0, "for_s": 6.0},
        {"epsilon": 1.0, "by": "group"},
        {"epsilon": 1.0, "areas": [LEFT]},
        {"epsilon": 1.0, "areas": [LEFT], "every_s": 2.0, "for_s": 6.0},
        {"epsilon": 1.0, "areas": [LEFT], "only_areas": True},
        {"epsilon": 1.0, "at": (10.0, 5.0), "scale": 0.5, "size": (100, 60), "blur": 3.0},
    ],
    ids=lambda how: ", ".join(f"{key}" for key in how),
)
def test_every_kind_of_heatmap_is_read_back_and_stands(how, tmp_path):
    write(scene(people=12), tmp_path / "study")
    heatmap(tmp_path / "study", tmp_path / "out", **how)
    done = audit(tmp_path / "study", tmp_path / "out")
    assert done.refuted == []
    assert done.target.total is not None
    assert all(not attack.subtraction.exact for attack in done.attacks.values())
    assert (AREAS in done.attacks) == ("areas" in how)
    assert len(done.uses) == len(done.target.arrays.get("map", ()))
    json.loads((tmp_path / "out-audit" / "audit.json").read_text())


@pytest.mark.usefixtures("plain_pictures")
def test_several_pictures_are_compared_one_by_one(tmp_path):
    study = scene(people=12, stimuli=("page", "ad"))
    write(study, tmp_path / "study")
    heatmap(tmp_path / "study", tmp_path / "out", stimulus=["ad", "page"], epsilon=1.0)
    done = audit(tmp_path / "study", tmp_path / "out")
    assert [use.name for use in done.uses] == ["ad", "page"]
    assert done.refuted == []


@pytest.mark.usefixtures("plain_pictures")
def test_a_map_without_noise_under_a_certificate_of_some_is_refuted(home, out):
    subject = map_target(home / "study", out)
    shown(out, subject, noise_free(subject))
    done = audit(home / "study", out)
    assert "next to no noise" in done.refuted[0]
    assert "subtracting all others gives the last one back exactly" in " ".join(done.refuted)
    assert done.verdict.startswith("The certificate is refuted")


def test_a_noise_free_picture_beside_sound_cells_is_refuted(home, out):
    subject = map_target(home / "study", out)
    bare = point_spread(gaze_map(subject.points).values, subject.design.view.sigma_px)
    forged(out, map=(bare / bare.sum())[None].astype(np.float32))
    assert inconsistencies(home, out) == [
        "'map' of map.npz is not what public facts and noisy cells give"
    ]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("measured", lambda values: values[:, ::-1]),
        ("standard_error", lambda values: np.full_like(values, 1e-9)),
        ("layers", lambda values: np.array(["Bob"])),
        ("grid", lambda values: values[::-1]),
        ("size", lambda values: values + 1),
        ("sigma_px", lambda values: values + 1),
        ("measured", lambda values: values.astype(np.float64)),
    ],
)
def test_every_array_must_be_what_noisy_cells_give(name, change, home, out):
    forged(out, **{name: change(np.load(out / "map.npz")[name])})
    assert inconsistencies(home, out) == [
        f"'{name}' of map.npz is not what public facts and noisy cells give"
    ]


def test_an_array_more_is_refuted_and_not_named(home, out):
    forged(out, Bob=np.arange(9.0))
    assert inconsistencies(home, out) == ["map.npz holds 1 more than the arrays of a map"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.with_columns(value=pl.lit(0.1)), "'value' of areas.csv"),
        (lambda t: t.with_columns(pl.col("standard_error") / 100), "'standard_error' of areas"),
        (lambda t: t.with_columns(pl.col("lower") + 0.1), "'lower' of areas.csv"),
        (lambda t: t.with_columns(upper=pl.lit(0.0)), "'upper' of areas.csv"),
        (lambda t: t.drop("upper"), "other columns"),
        (lambda t: t.with_columns(pl.col("area").reverse()), "names other tables"),
        (lambda t: t.with_columns(rank=pl.lit(7)), "names other tables"),
        (lambda t: t.with_columns(secret=pl.lit("Bob")), "other columns"),
        (lambda t: t.select(reversed(t.columns)), "other columns"),
    ],
    ids=[
        *("value", "standard error", "lower", "upper", "half an interval"),
        *("areas", "ranks", "a column more", "order of columns"),
    ],
)
def test_tables_must_be_what_measured_values_give(change, said, home, both):
    forged(both, areas=change(pl.read_csv(both / "areas.csv")).write_csv())
    found = inconsistencies(home, both)
    assert len(found) == 1
    assert said in found[0]


def test_tables_of_earlier_versions_have_no_intervals(home, both):
    forged(both, areas=pl.read_csv(both / "areas.csv").drop("lower", "upper").write_csv())
    assert inconsistencies(home, both) == []


def test_raw_files_beside_a_release_are_refuted_and_their_names_are_for_the_owner(home, out):
    forged(out, areas="person,x,y\nBob,1,2\n")
    assert "areas.csv, which the certificate does not tell of" in inconsistencies(home, out)[0]
    (out / "areas.csv").unlink()
    forged(out)
    for name in ("Bob.csv", ".DS_Store", "difference.png"):
        (out / name).write_text("x")
    subject = map_target(home / "study", out)
    assert subject.inconsistencies[0].startswith("the released folder holds difference.png")
    assert subject.inconsistencies[1].startswith("the released folder holds 1 more than such")
    assert "Bob" not in " ".join((*subject.inconsistencies, *subject.notes))
    assert any("Bob.csv" in remark for remark in subject.remarks)


def test_an_audit_that_an_earlier_version_left_in_a_heatmap_refutes_it_with_the_remedy(home, out):
    for name in ("audit.json", "report.html"):
        (out / name).write_text("figures")
    found = inconsistencies(home, out)
    assert len(found) == 2
    for name, text in zip(("audit.json", "report.html"), found, strict=True):
        assert text.startswith(f"the released folder holds {name}, which an audit of an earlier")
        assert "remove it before you share" in text


@pytest.mark.usefixtures("plain_pictures")
def test_what_is_of_maps_is_refuted_in_a_release_of_tables(home, out, tmp_path):
    areas = tmp_path / "areas"
    heatmap(home / "study", areas, epsilon=1.0, areas=[LEFT], only_areas=True)
    sound = (areas / "certificate.json").read_text()
    certified(areas, lambda told: told["map"].update(sigma_px=[1, 2, 3]))
    with pytest.raises(InputError, match="does not say how"):
        audit(home / "study", areas)
    (areas / "certificate.json").write_text(sound)
    forged(areas, **np.load(out / "map.npz"))
    found = audit(home / "study", areas).refuted
    assert found == ["the released folder holds map.npz, which the certificate does not tell of"]


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["map"].update(cell_sd=[1e-9]),
        lambda told: told["map"]["reliability"].update(hotspots_wider_than_px=1),
        lambda told: told["map"]["reliability"].update(says="Bob looked at the exit"),
        lambda told: told["map"].update(raw=[1, 2, 3]),
        lambda told: told["map"].update(layers=["Bob"]),
        lambda told: told.update(raw=[1, 2, 3]),
        lambda told: told["person_level"].update(how="Bob looked at the exit"),
        lambda told: told["guarantee"].update(reasons=["Bob looked at the exit"]),
        lambda told: told["unprotected"].append("Bob looked at the exit"),
        lambda told: told["noise"].update(randomness="Bob"),
        lambda told: told.update(form="whatever it was"),
        lambda told: told["released_as"].update(groups={"Bob": 1}),
        lambda told: told.pop("released_as"),
        lambda told: told["ledger"][-1].update(mechanism="Bob"),
        lambda told: told["ledger"].append({"raw": [1, 2, 3]}),
        lambda told: told["mechanism"]["parameters"].update(clip=0.9),
    ],
)
def test_a_certificate_that_says_anything_else_is_refuted(change, home, out):
    certified(out, change)
    assert inconsistencies(home, out)


def test_a_name_that_a_certificate_has_twice_is_refuted(home, out):
    file = out / "certificate.json"
    file.write_text(file.read_text().replace('"how":', '"how": "Bob", "how":', 1))
    assert inconsistencies(home, out)


def test_another_card_is_refuted(home, out):
    card = out / "DATACARD.md"
    card.write_text(card.read_text() + "Bob looked at the exit.\n")
    assert inconsistencies(home, out) == ["DATACARD.md is not the card of this release"]


def test_of_another_version_words_are_not_compared_and_that_is_said(home, out):
    certified(out, lambda told: told.update(version="0.0.1"))
    certified(out, lambda told: told["person_level"].update(how="in other words"))
    subject = map_target(home / "study", out)
    assert subject.inconsistencies == ()
    assert any("another version of eyelid" in text for text in subject.notes)
    forged(out, raw=np.arange(3.0))
    assert inconsistencies(home, out)


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize("mechanism", [{}, {"cap": "private", "mechanism": "map-gaussian"}])
def test_a_choice_with_a_larger_epsilon_is_refuted(mechanism, home, tmp_path):
    """Cells with just the noise of the forged choice: nothing but the choice itself is amiss."""
    out = tmp_path / "out"
    heatmap(home / "study", out, epsilon=1.0, grid="8x5", **mechanism)
    subject = map_target(home / "study", out)
    assert subject.inconsistencies == ()
    (chosen,), (observers,) = subject.mechanisms, subject.design.observers
    loud = replace(chosen, epsilon=5.0)
    counts = subject.points.counts(observers.facts.grid)
    cells = loud.measure(counts, observers.facts, randomness(1))
    certified(out, lambda told: told["map"].update(settled=[loud.parameters()]))
    shown(out, replace(subject, mechanisms=(loud,)), cells)
    assert audit(home / "study", out).refuted == [
        "the certificate says that its mechanism chose what it cannot choose"
    ]


@pytest.mark.usefixtures("plain_pictures")
def test_too_much_noise_in_one_group_excuses_nothing_in_the_other(tmp_path):
    study, out = scene(), tmp_path / "out"
    heatmap(study, out, epsilon=1.0, by="group")
    subject = map_target(study, out)
    bare, loud = (noise_free(subject, number) for number in (0, 1))
    away = loud + 5 * (subject.cells(1) - loud)
    shown(out, subject, np.concatenate([bare, away]))
    done = audit(study, out)
    assert done.target.total is None
    assert any("next to no noise" in text and "(a)" in text for text in done.refuted)
    assert not any("(b)" in text for text in done.refuted)
    assert done.verdict.startswith("The certificate is refuted")
    assert any("may not be the original" in text for text in done.notes)
    page = (tmp_path / "out-audit" / "report.html").read_text()
    assert "may be another original" in page


@pytest.mark.usefixtures("plain_pictures")
def test_of_a_map_of_some_people_drawn_subtraction_is_not_claimed_to_tell_nothing(tmp_path):
    study = scene(people=12)
    heatmap(study, tmp_path / "out", mechanism="map-rs1")
    done = audit(study, tmp_path / "out")
    assert done.refuted == []
    assert "was not tried" in done.verdict
    assert "tells nothing" not in done.verdict
    told = json.loads((tmp_path / "out-audit" / "audit.json").read_text())
    assert told["maps"][0]["subtraction"] is None
    assert "was not tried" in (tmp_path / "out-audit" / "report.html").read_text()


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: certified(folder, lambda told: told["map"].update(settled=[3])),
        lambda folder: certified(
            folder,
            lambda told: told["map"].update(settled=[told["mechanism"]["parameters"]] * 2),
        ),
        lambda folder: certified(folder, lambda told: told["map"].update(sigma_px="wide")),
        lambda folder: certified(folder, lambda told: told["unprotected"].append([])),
        lambda folder: forged(folder, cells=np.load(folder / "map.npz")["cells"] * 1j),
        lambda folder: forged(folder, cells=np.load(folder / "map.npz")["cells"].astype(str)),
        lambda folder: forged(folder, map=np.load(folder / "map.npz")["map"].astype(float)),
        lambda folder: forged(folder, areas=table_of(folder).drop("measured").write_csv()),
        lambda folder: forged(folder, areas=table_of(folder)[:-1].write_csv()),
        lambda folder: forged(folder, areas=table_of(folder).write_csv()[:-3] + "abc\n"),
        lambda folder: forged(folder, areas=table_of(folder).write_csv() + "1,2,3,4,5,6,7,8,9\n"),
        lambda folder: forged(folder, areas=table_of(folder).write_csv().rpartition(",")[0] + ","),
        lambda folder: forged(folder, areas="\n"),
    ],
)
def test_a_damaged_folder_is_refused(damage, home, both):
    damage(both)
    with pytest.raises(InputError):
        audit(home / "study", both)


def table_of(folder):
    return pl.read_csv(folder / "areas.csv")


def test_missing_numbers_are_refuted(home, both):
    forged(both, cells=np.load(both / "map.npz")["cells"] * np.nan)
    assert any("missing or infinite" in text for text in inconsistencies(home, both))


@pytest.mark.usefixtures("plain_pictures")
def test_a_smaller_epsilon_written_into_the_certificate_is_refuted(home, tmp_path):
    heatmap(home / "study", tmp_path / "out", epsilon=6.0)
    file = tmp_path / "out" / "certificate.json"
    told = json.loads(file.read_text())
    for part in ("guarantee", "person_level"):
        told[part]["epsilon"] = 0.5
    file.write_text(json.dumps(told))
    found = audit(home / "study", tmp_path / "out").refuted
    assert any("ledger counted" in text for text in found)
    assert any("mechanism that it names gives" in text for text in found)


@pytest.mark.usefixtures("plain_pictures")
def test_a_changed_map_is_refused(home, tmp_path):
    heatmap(home / "study", tmp_path / "out", epsilon=1.5)
    with np.load(tmp_path / "out" / "map.npz") as found:
        changed = dict(found)
    changed["map"] = changed["map"][:, ::-1]
    np.savez_compressed(tmp_path / "out" / "map.npz", **changed)
    with pytest.raises(InputError, match="its hash differs"):
        audit(home / "study", tmp_path / "out")


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"nonsense"])
def test_a_file_that_is_no_map_is_refused(content, home, tmp_path):
    heatmap(home / "study", tmp_path / "out", epsilon=1.5)
    (tmp_path / "out" / "map.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be read"):
        audit(home / "study", tmp_path / "out")


@pytest.mark.usefixtures("plain_pictures")
def test_a_plain_heatmap_carries_no_guarantee_and_gives_everybody_back(tmp_path):
    study = scene(people=12)
    heatmap(study, tmp_path / "out", mechanism="map-noisefree")
    done = audit(study, tmp_path / "out")
    assert done.refuted == []
    assert "carries no guarantee" in done.verdict
    assert "gives the last one back exactly" in done.verdict
    assert "no guarantee" in (tmp_path / "out-audit" / "report.html").read_text()


@pytest.mark.usefixtures("plain_pictures")
def test_other_looks_of_as_many_people_are_refused_by_the_ledger(home, tmp_path):
    study = read(home / "study")
    moved = replace(study, data=study.data.with_columns(pl.col("x") * 0.9))
    with pytest.raises(InputError, match="has counted no such release"):
        audit(moved, home / "out")


@pytest.mark.usefixtures("plain_pictures")
def test_without_a_ledger_another_original_is_suspected_and_nothing_is_refuted(tmp_path):
    heatmap(scene(), tmp_path / "out", epsilon=500.0)
    done = audit(scene(seed=50), tmp_path / "out")
    assert done.refuted == []
    assert "this may not be the original" in done.verdict
    assert any("ledger" in text for text in done.target.notes)


@pytest.mark.usefixtures("plain_pictures")
def test_fewer_people_are_refused(home):
    with pytest.raises(InputError, match="for 40 people and the original has 12"):
        audit(scene(people=12), home / "out")


@pytest.mark.usefixtures("plain_pictures")
def test_a_certificate_that_does_not_say_how_is_refused(home, tmp_path):
    heatmap(home / "study", tmp_path / "out", epsilon=1.5)
    file = tmp_path / "out" / "certificate.json"
    told = json.loads(file.read_text())
    del told["map"]["weight"]
    file.write_text(json.dumps(told))
    with pytest.raises(InputError, match="does not say how the map was made"):
        audit(home / "study", tmp_path / "out")


@pytest.mark.usefixtures("plain_pictures")
def test_tables_and_heatmaps_are_told_apart(home):
    assert is_heatmap(home / "out")
    assert not is_heatmap(home / "study")
    assert not is_heatmap(home / "nowhere")
    assert audit(home / "study", home / "out").attacks


def test_a_heatmap_of_real_people_stands(real_data, tmp_path):
    done = heatmap(
        real_data / "OSIE",
        tmp_path / "out",
        stimulus="1001",
        level="good",
        ledger=tmp_path / "book.ledger",
    )
    found = audit(real_data / "OSIE", tmp_path / "out", ledger=tmp_path / "book.ledger")
    assert done.certificate.people == 15
    assert found.refuted == []
    assert found.worst.positive.advantage.rate > 0.99
    assert read_certificate(tmp_path / "out").output_sha256 is not None


@pytest.mark.usefixtures("plain_pictures")
def test_a_map_that_nobody_looked_at_is_audited_and_not_compared(tmp_path):
    study = scene(people=12)
    away = replace(study, data=study.data.with_columns(pl.col("x") + 5000.0))
    write(away, tmp_path / "study")
    heatmap(tmp_path / "study", tmp_path / "out", epsilon=1.0)
    done = audit(tmp_path / "study", tmp_path / "out")
    assert done.refuted == []
    assert done.uses == ()
    assert "nobody looked at page" in done.not_compared[0]


@pytest.mark.usefixtures("plain_pictures")
def test_two_people_are_too_few_to_ask_who_is_in_it(tmp_path):
    write(scene(people=2), tmp_path / "study")
    heatmap(tmp_path / "study", tmp_path / "out", epsilon=1.0)
    done = audit(tmp_path / "study", tmp_path / "out")
    assert "too few people" in done.verdict


@pytest.mark.usefixtures("plain_pictures")
def test_groups_are_judged_one_by_one_and_a_map_worse_than_a_blank_picture_is_called_that(tmp_path):
    write(scene(people=12), tmp_path / "study")
    heatmap(tmp_path / "study", tmp_path / "out", epsilon=0.2, by="group", seed=1)
    done = audit(tmp_path / "study", tmp_path / "out")
    for use, group in zip(done.uses, "ab", strict=True):
        assert use.released.nmse > 1
        said = next(text for text in done.verdict.split(". ") if f"The map of {group} " in text)
        assert "is worse than a blank picture" in said
    page = (tmp_path / "out-audit" / "report.html").read_text()
    assert page.count("is worse than a blank picture") > 2


@pytest.mark.usefixtures("plain_pictures")
def test_of_many_maps_those_that_are_worth_nothing_are_counted(tmp_path):
    write(scene(people=12), tmp_path / "study")
    heatmap(tmp_path / "study", tmp_path / "out", epsilon=0.2, every_s=2.0, for_s=6.0, seed=1)
    done = audit(tmp_path / "study", tmp_path / "out")
    blank = sum(use.released.nmse > 1 for use in done.uses)
    assert f"worse than a blank picture: {blank}" in done.verdict


@pytest.mark.usefixtures("plain_pictures")
@pytest.mark.parametrize(("epsilon", "better"), [(1000.0, True), (0.01, False)])
def test_tables_are_compared_with_those_without_noise_and_with_saying_nothing(
    epsilon, better, tmp_path
):
    study = scene(people=12)
    write(study, tmp_path / "study")
    heatmap(
        tmp_path / "study",
        tmp_path / "out",
        epsilon=epsilon,
        areas=[LEFT],
        only_areas=True,
        tables="dwell",
        seed=1,
    )
    done = audit(tmp_path / "study", tmp_path / "out")
    (table,) = done.tables
    left = study.data.group_by("person").agg((pl.col("x") < 80).mean())["x"].mean()
    released = pl.read_csv(tmp_path / "out" / "areas.csv")["value"]
    slow = np.sqrt(np.mean((released.to_numpy() - [left, 1 - left]) ** 2))
    assert table.rmse == pytest.approx(slow, abs=1e-9)
    assert table.nothing_rmse == pytest.approx(abs(left - 0.5))
    assert table.beats_nothing is better
    assert ("no better than saying nothing: dwell" in done.verdict) is not better
    told = json.loads((tmp_path / "out-audit" / "audit.json").read_text())["utility"]
    assert told[0]["task"] == "table of areas"
    page = (tmp_path / "out-audit" / "report.html").read_text()
    assert "saying nothing" in page
    assert "The released tables of areas" in page


@pytest.mark.usefixtures("plain_pictures")
def test_only_what_there_is_was_not_drawn_again(home, tmp_path):
    heatmap(home / "study", tmp_path / "out", epsilon=1.0, areas=[LEFT], only_areas=True)
    notes = " ".join(audit(home / "study", tmp_path / "out").notes)
    assert "not compared with areas.csv" in notes
    assert "map.npz" not in notes


def test_a_sound_heatmap_whose_ledger_does_not_know_all_stands(tmp_path):
    write(scene(), tmp_path / "study")
    (tmp_path / "study.ledger").unlink()
    budget(tmp_path / "study", lost=True)
    heatmap(tmp_path / "study", tmp_path / "out", epsilon=1.5)
    subject = map_target(tmp_path / "study", tmp_path / "out")
    assert subject.certificate.incomplete
    assert subject.certificate.total is None
    assert subject.inconsistencies == ()
