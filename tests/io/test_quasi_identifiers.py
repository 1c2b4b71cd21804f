"""What singles participants out is a warning, wherever it stands, and no leak."""

import json

import polars as pl
import pytest

from eyelid.gaze.study import Study
from eyelid.io import write
from eyelid.io.leaks import LEAK, WARNING
from eyelid.io.lint import lint, looked_at
from eyelid.io.quasi_identifiers import quasi_identifiers
from eyelid.releases.release import release


def study_of(people: pl.DataFrame, steps_ms=(10.0,), label=None) -> Study:
    """Everybody has one recording of five samples; the steps are each person's own, in turn."""
    rows = [
        {"person": name, "recording": "1", "time_ms": sample * steps_ms[at % len(steps_ms)]}
        | {"x": 1.0, "y": 1.0}
        | ({"label_device": label[at % len(label)]} if label else {})
        for at, name in enumerate(people["person"])
        for sample in range(5)
    ]
    return Study("samples", pl.DataFrame(rows), people, units="deg")


def crowd(count: int, **attributes) -> pl.DataFrame:
    names = [f"{number:03d}" for number in range(1, count + 1)]
    return pl.DataFrame({"person": names} | {k: v[:count] for k, v in attributes.items()})


def warned(path, **said):
    found = lint(path, said or None)
    assert all(each.severity == WARNING for each in found), found
    return [each.value for each in found]


def test_people_who_are_unique_by_their_attributes_together_are_warned_of(tmp_path, eyelid):
    """557 of 559 people were unique by their attributes, and lint said that it found nothing."""
    ages = [20 + number % 10 for number in range(60)]
    hands = ["left" if number % 7 == 0 else "right" for number in range(60)]
    country = [("AT", "CH", "DE", "FR")[number % 4] for number in range(60)]
    write(study_of(crowd(60, age=ages, hand=hands, country=country)), tmp_path / "study")
    together = {(a, h, c) for a, h, c in zip(ages, hands, country, strict=True)}
    assert len(together) < 60
    (told,) = warned(tmp_path / "study")
    assert told.endswith("of 60 people are alone with: age, hand, country")
    done = eyelid("lint", tmp_path / "study")
    assert (done.code, "nothing found" in done.out) == (0, False)
    assert "no leaks and 1 warning" in done.out
    shown = json.loads(eyelid("lint", tmp_path / "study", "--json").out)
    assert (shown["clean"], shown["leaks"], shown["warnings"]) == (False, 0, 1)
    assert [each["severity"] for each in shown["findings"]] == ["warning"]


def test_a_sampling_rate_of_ones_own_is_warned_of(tmp_path):
    """Webcams differ: the sampling rate alone singled out 326 of 559 people."""
    write(study_of(crowd(12), steps_ms=(10.0, 10.0, 10.0, 33.0, 41.0, 10.0)), tmp_path / "alike")
    assert not [each for each in warned(tmp_path / "alike") if "rate" in each]
    write(study_of(crowd(6), steps_ms=(10.0, 10.0, 33.0, 41.0, 50.0, 10.0)), tmp_path / "own")
    assert "3 of 6 people are alone with: sampling rate" in warned(tmp_path / "own")


def test_a_device_of_ones_own_is_warned_of_also_in_a_label(tmp_path):
    label = ["phone"] * 11 + ["1366x768"]
    write(study_of(crowd(12), label=label), tmp_path / "study")
    assert warned(tmp_path / "study") == ["1 of 12 people is alone with: label_device"]


def test_numbers_and_lengths_of_recordings_single_people_out():
    rows = [
        {"person": name, "recording": str(take), "time_ms": 1000.0 * second, "x": 1.0, "y": 1.0}
        for name, takes, seconds in (("1", 1, 5), ("2", 1, 5), ("3", 3, 5), ("4", 1, 9))
        for take in range(takes)
        for second in range(seconds)
    ]
    people = pl.DataFrame({"person": ["1", "2", "3", "4"]})
    found = quasi_identifiers(Study("samples", pl.DataFrame(rows), people))
    alone = {each.columns[0]: each.people_alone for each in found}
    assert alone == {
        "number of recordings": 1,
        "recording lengths": 2,
        "total duration": 2,
        "sampling rate": 0,
    }


def test_nobody_is_singled_out_among_alike_or_simulated_people(tmp_path, simulated):
    write(study_of(crowd(12, hand=["left", "right"] * 6)), tmp_path / "alike")
    assert lint(tmp_path / "alike") == []
    write(simulated, tmp_path / "simulated")
    assert lint(tmp_path / "simulated") == []


ROWS = [
    {"participant_id": f"sub-{number:02d}", "age": str(20 + number % 5), "sex": "mf"[number % 2]}
    for number in range(12)
]


def table(separator: str) -> str:
    lines = [separator.join(ROWS[0]), *(separator.join(row.values()) for row in ROWS)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("participants.tsv", table("\t")),
        ("people.csv", table(",")),
        ("trials.csv", table(";")),
        ("participants.json", json.dumps(ROWS)),
        ("answers.json", json.dumps({row["participant_id"]: row for row in ROWS})),
    ],
)
def test_a_loose_list_of_people_is_looked_at_by_itself(tmp_path, eyelid, name, content):
    (tmp_path / name).write_text(content)
    found = lint(tmp_path / name)
    assert {each.severity for each in found} == {WARNING}
    assert "8 of 12 people are alone with: age, sex" in [each.value for each in found]
    # No leak, and no study either: what it is of is not known.
    assert eyelid("lint", tmp_path / name).code == 2
    # In a folder of other things it is seen as well.
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / name).write_text(content)
    assert any("age, sex" in each.value for each in lint(tmp_path))


def test_files_of_one_participant_each_are_judged_together(tmp_path):
    for number in range(9):
        about = {"browser": "abc"[number % 3], "screen": {"width": 1000 + number // 3}, "t": [1, 2]}
        (tmp_path / f"p{number}.json").write_text(json.dumps(about))
    told = [each.value for each in lint(tmp_path)]
    assert "9 of 9 people are alone with: browser, screen.width" in told


def test_measures_of_participants_are_no_attributes(tmp_path):
    rows = "".join(f"p{n},{n % 2},{0.5 + n / 7:.3f}\n" for n in range(20))
    (tmp_path / "means.csv").write_text("participant,ann@lab.example,fixation_s\n" + rows)
    told = [each.value for each in lint(tmp_path / "means.csv")]
    assert not [each for each in told if "alone with" in each]


def test_attributes_that_a_release_keeps_are_warned_of(tmp_path, make_table):
    table = make_table(people=6)
    people = table.people.with_columns(hand=pl.Series(["left", *["right"] * 5]))
    write(Study("features", table.data, people, features=table.features), tmp_path / "study")
    words = {"mechanism": "laplace", "epsilon": 1.0}
    release(tmp_path / "study", tmp_path / "kept", keep=["hand"], **words)
    seen = looked_at(tmp_path / "kept")
    assert seen.release
    assert [each.value for each in seen.findings] == ["1 of 6 people is alone with: hand"]
    release(tmp_path / "study", tmp_path / "groups", mechanism="ksame", k=3)
    assert lint(tmp_path / "groups") == []


def test_a_leak_beside_warnings_stays_a_leak(tmp_path, eyelid):
    people = crowd(6, hand=["left", *["right"] * 5], note=["ann@lab.example", *["–"] * 5])
    write(study_of(people), tmp_path / "study")
    found = {each.value: each.severity for each in lint(tmp_path / "study")}
    assert found["1 of 6 people is alone with: hand"] == WARNING
    assert found["note"] == LEAK
    assert eyelid("lint", tmp_path / "study").code == 1
