"""Results of a study, from what is asked to what is written."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.areas import Area
from eyelid.gaze.norms import Norm, Source
from eyelid.gaze.study import Feature, Screen, Study
from eyelid.io.pieces import in_pieces
from eyelid.privacy.noise import randomness
from eyelid.releases.kinds.statistics.plan import (
    DATA_NORMS,
    Terms,
    designed,
    make_statistics_plan,
    resized,
)
from eyelid.releases.kinds.statistics.questions import Questions, asked_of
from eyelid.releases.kinds.statistics.quote import summary_preview
from eyelid.releases.kinds.statistics.release import Results, summary

FEATURES = (
    Feature("fixation_duration", "ms", "how long a fixation lasts", 50.0, 3000.0),
    Feature("skipping", "1", "share of words skipped", 0.0, 1.0),
    Feature("mood", "points", "how a person feels", -50.0, 50.0),
)
FILES = {
    *("results.csv", "results.md", "results.tex", "results.svg", "results.pdf", "results.png"),
    *("methods.md", "measured.json", "certificate.json", "DATACARD.md"),
}


def reading(people=40, tasks=("comic", "paper"), seed=1, **changes):
    """A table of measures by row: everybody fixates 30 ms longer in the first task."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        own = rng.normal(230, 25)
        for number, task in enumerate(tasks):
            for row in range(5):
                value = own + 30 * (number == 0) + rng.normal(0, 10)
                skips, mood = rng.uniform(0.2, 0.4), rng.normal(0, 10)
                rows.append((f"p{person:03}", task, float(row), value, skips, mood))
    columns = ["person", "task", "time_ms", "fixation_duration", "skipping", "mood"]
    data = pl.DataFrame(rows, schema=columns, orient="row")
    data = data.with_columns(recording=pl.col("task"))
    names = [f"p{person:03}" for person in range(people)]
    sexes = ["f" if person % 2 else "m" for person in range(people)]
    attributes = pl.DataFrame({"person": names, "sex": sexes})
    return Study("features", data, attributes, features=FEATURES, **changes)


def planned(study, epsilon=2.0, terms=None, **asked):
    said = Terms(epsilon=epsilon, **(terms or {}))
    return make_statistics_plan(in_pieces(study), randomness(None), Questions(**asked), said)


def test_results_are_near_the_truth_where_there_is_little_noise():
    study = reading(people=200)
    found = summary(
        study,
        measures=["fixation_duration", "skipping"],
        tasks=["each"],
        contrasts=["comic-paper"],
        epsilon=50.0,
        activity="silent-reading",
    ).frame
    truth = study.data.group_by("task").agg(pl.col("fixation_duration", "skipping").mean())
    for task, duration, skipping in truth.iter_rows():
        rows = found.filter((pl.col("task") == task) & (pl.col("statistic") == "mean"))
        assert rows["estimate"].to_list() == pytest.approx([duration, skipping], rel=0.02)
    apart = found.filter(pl.col("task") == "comic - paper")
    mean, higher = (
        apart.filter((pl.col("statistic") == name) & (pl.col("measure") == "fixation_duration"))
        for name in ("mean", "higher")
    )
    assert mean["estimate"][0] == pytest.approx(30.0, abs=4.0)
    assert higher["estimate"][0] == pytest.approx(1.0, abs=0.05)
    inside = (found["low"] <= found["estimate"]) & (found["estimate"] <= found["high"])
    assert inside.all()


def test_a_folder_has_everything_a_paper_needs(tmp_path):
    eyelid.write(reading(), tmp_path / "study")
    done = summary(
        tmp_path / "study",
        tmp_path / "out",
        measures=["fixation_duration"],
        contrasts=["comic-paper"],
        epsilon=1.0,
        activity="silent-reading",
    )
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    table = pl.read_csv(tmp_path / "out" / "results.csv")
    nine = [
        "measure",
        "task",
        "group",
        "statistic",
        "estimate",
        "low",
        "high",
        "noise_sd",
        "people",
    ]
    assert table.columns[:9] == nine
    assert table["people"].unique().to_list() == [40]
    methods = (tmp_path / "out" / "methods.md").read_text("utf-8")
    for told in ("ε = 1", "40 participants", "summary-box", "silent-reading", "first release"):
        assert told in methods, told
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text("utf-8"))
    assert certificate["guarantee"]["kind"] == "pure-dp"
    assert certificate["results"]["entries"][0]["source"] == "norm"
    assert "results of the study" in (tmp_path / "out" / "DATACARD.md").read_text("utf-8")
    assert isinstance(done, Results)
    assert "2 results" in repr(done)
    assert "ε = 1" in repr(done)


def test_asking_again_is_counted_again(tmp_path):
    eyelid.write(reading(), tmp_path / "study")
    for number in (1, 2):
        done = summary(
            tmp_path / "study", tmp_path / f"out{number}", measures=["skipping"], epsilon=0.5
        )
    assert done.certificate.total.epsilon == pytest.approx(1.0)
    assert "counts 2 releases" in done.methods


def test_memory_and_disk_and_pieces_give_the_same(tmp_path, monkeypatch):
    study = reading(people=12)
    eyelid.write(study, tmp_path / "study")
    said = {"measures": ["mood", "skipping"], "epsilon": 2.0, "seed": 5}
    whole = summary(study, **said)
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 30)
    assert len(in_pieces(tmp_path / "study").pieces) > 3
    assert summary(tmp_path / "study", **said).frame.equals(whole.frame)
    assert not whole.certificate.guarantee.holds, "a seed is no noise"


def test_who_has_a_task_moves_nothing_but_noise():
    one = reading(people=10)
    other = replace(one, data=one.data.filter(pl.col("person") != "p003"))
    plans = [planned(study, measures=("mood",)) for study in (one, other)]
    assert plans[0].results == plans[1].results
    assert plans[0].people == plans[1].people
    assert plans[0].noise == plans[1].noise


def test_norms_make_ranges_and_shares_need_none():
    design = planned(
        reading(), measures=("fixation_duration", "skipping"), terms={"activity": "silent-reading"}
    ).design
    duration, skipping = (entry.range for entry in design.entries)
    assert duration.source == "norm"
    assert 100 < duration.lower < duration.upper < 400
    assert skipping.lower >= 0
    assert skipping.upper <= 1


def test_ones_own_norm_comes_first_and_is_named():
    own = Norm("mood", "any", "points", 5.0, 4.0, source=Source("Doe 2020"))
    plan = planned(reading(), measures=("mood",), terms={"norms": [own]})
    assert plan.design.entries[0].range.source == "file"
    assert plan.bounds.source == "file"
    assert "Doe 2020" in plan.results["entries"][0]["norm"]
    assert plan.bounds.values["mood"][1] < 50


def test_a_norm_of_ones_own_may_be_one_of_the_difference():
    own = [
        Norm("mood", "difference", "points", -3.0, 2.0, source=Source("Doe 2020")),
        Norm("mood", "any", "points", 5.0, 4.0, source=Source("Doe 2020")),
    ]
    said = {"measures": ("mood",), "contrasts": ("comic-paper",), "tasks": ("each",)}
    *tasks, apart = planned(reading(60), **said, terms={"norms": own}).design.entries
    assert {entry.range.sd for entry in tasks} == {4.0}
    assert apart.range.sd == 2.0
    # The difference that is expected lies inside, whichever task is named first.
    assert apart.range.upper == -apart.range.lower
    assert 3.0 + 2.0 <= apart.range.upper <= 3.0 + 4 * 2.0


def test_a_score_of_people_is_a_measure_once_a_norm_says_what_it_is_like():
    table = reading(60)
    own = table.data.group_by("person").agg(pl.col("fixation_duration").mean())
    scored = table.people.join(own, on="person").with_columns(
        score=pl.col("fixation_duration").rank().cast(pl.String)
    )
    # One participant's entry is no number: it is missing, and refuses nobody's results.
    people = scored.with_columns(
        score=pl.when(pl.col("person") == "p003").then(pl.lit("ill")).otherwise("score")
    ).drop("fixation_duration")
    norm = Norm("score", "any", "1", 25.0, 20.0, source=Source("Test manual, p. 14"))
    said = {"measures": ["fixation_duration", "score"], "epsilon": 2_000.0, "norms": [norm]}
    scored_study = replace(table, people=people)
    found = summary(scored_study, statistics="mean:2,tau:1:2", **said).frame
    assert found["estimate"][0] == pytest.approx(30.5, abs=2.0)
    # The missing one is as good as everybody.
    assert found["estimate"][1] == pytest.approx(58 / 60, abs=0.01)
    assert summary(scored_study, tasks=["each"], **said).frame["people"].to_list() == [60] * 5
    with pytest.raises(InputError, match="score is an attribute of people"):
        summary(scored_study, measures=["score"], epsilon=1.0)
    usual = planned(scored_study).design.asked.panel.measures
    assert "score" not in [measure.name for measure in usual]


def test_a_norm_that_was_read_off_the_study_leaves_no_guarantee(tmp_path):
    own = [Norm("mood", "any", "points", 5.0, 4.0, source=Source("data"))]
    plan = planned(reading(), measures=("mood",), terms={"norms": own})
    done = summary(reading(), tmp_path / "out", measures=["mood"], epsilon=2.0, norms=own)
    for promised in (plan.person_level, done.certificate.person_level):
        assert not promised.holds
        assert promised.reasons == (DATA_NORMS,)
    assert done.certificate.bounds.source == "data"
    assert "READ OFF THE DATA" in (tmp_path / "out" / "methods.md").read_text("utf-8")
    assert "no privacy guarantee" in (tmp_path / "out" / "DATACARD.md").read_text("utf-8")


def test_without_a_norm_ranks_come_first_below_fifty_people():
    few, many = (
        planned(reading(people), measures=("mood",), contrasts=("comic-paper",)).mechanism
        for people in (30, 60)
    )
    assert few.statistics == "higher:1"
    assert many.statistics == "mean:1,higher:1"
    groups = planned(reading(30), measures=("mood",), by="sex").mechanism
    assert groups.statistics == "superiority:1"


def test_primary_measures_get_half_of_the_budget():
    said = {"measures": ("mood", "fixation_duration", "skipping"), "tasks": ("each",)}
    made = planned(reading(), **said, terms={"primary": ("skipping",)}).mechanism
    assert made.statistics == "mean:5,mean:6@0.5;mean:1,mean:2,mean:3,mean:4"


def test_half_of_the_budget_is_refused_where_it_would_only_add_noise():
    said = {"measures": ("mood", "skipping"), "terms": {"primary": ("skipping",)}}
    with pytest.raises(InputError, match=r"noise of 0\.0354 of their range, and of 0\.025 without"):
        planned(reading(), **said)
    with pytest.raises(InputError, match="Leave `primary`"):
        planned(reading(), **said | {"terms": {"primary": ("mood", "skipping")}})


def test_groups_are_results_of_their_own():
    found = planned(reading(), measures=("skipping",), by="sex")
    assert [row[2:] for row in found.results["rows"]] == [
        ["f", "mean"],
        ["m", "mean"],
        ["f > m", "superiority"],
    ]
    assert found.released_as.groups == {"f": 20, "m": 20}
    assert not found.alike


def test_two_groups_are_compared_as_far_as_the_budget_carries_it():
    sexes = {"measures": ("skipping", "mood"), "by": "sex"}
    assert (
        planned(reading(40), **sexes).mechanism.statistics == "mean:1;superiority:1,superiority:2"
    )
    alone = {"measures": ("skipping",), "by": "sex"}
    assert planned(reading(40), epsilon=0.6, **alone).mechanism.statistics == "mean:1;superiority:1"
    assert planned(reading(40), epsilon=0.4, **alone).mechanism.statistics == "mean:1"
    norm = Norm("mood", "any", "points", 0.0, 10.0, source=Source("a pilot"), grade="own")
    said = {"measures": ("mood",), "by": "sex", "terms": {"norms": [norm]}}
    assert planned(reading(40), **said).mechanism.statistics == "mean:1;superiority:1"


def test_a_count_of_unit_one_is_no_share():
    study = reading(30)
    counts = Feature("mood", "1", "how many", 0.0, 60.0)
    counted = replace(study, features=(*study.features[:2], counts))
    made = planned(counted, measures=("mood",), by="sex").mechanism
    assert made.statistics == "superiority:1"
    made = planned(counted, measures=("skipping",), contrasts=("comic-paper",)).mechanism
    assert made.statistics == "higher:1,mean:1"


def test_norms_may_be_of_other_measures_of_the_study(tmp_path):
    file = tmp_path / "norms.csv"
    header = "measure,task,unit,mean,between,within,scale,source"
    file.write_text(f"{header}\nmood,any,points,0,10,,,Pilot\n", encoding="utf-8")
    planned(reading(), measures=("skipping",), terms={"norms": file})
    file.write_text(f"{header}\nmoood,any,points,0,10,,,Pilot\n", encoding="utf-8")
    with pytest.raises(InputError, match="unknown measure 'moood'"):
        planned(reading(), measures=("skipping",), terms={"norms": file})


def test_an_activity_is_what_people_do():
    with pytest.raises(InputError, match="did you mean 'silent-reading' or 'reading-aloud'"):
        planned(reading(), terms={"activity": "reading"})
    with pytest.raises(InputError, match="unknown activity 'difference'"):
        planned(reading(), terms={"activity": "difference"})


def test_people_without_a_number_are_told_of_with_where_they_pull():
    study = reading(20)
    gone = (pl.col("person") == "p003") & (pl.col("task") == "comic")
    lacking = replace(study, data=study.data.filter(~gone))
    told = []
    done = summary(
        lacking, measures="skipping", contrasts="comic-paper", epsilon=8.0, tell=told.append
    )
    said = " ".join(told)
    assert "pull its mean towards 0, and the share of people who are higher towards 0.5" in said
    assert "--people every-task" in said
    higher = done.frame.filter(pl.col("statistic") == "higher")
    assert higher["note"].to_list() == ["ties and people without a number count half"]
    assert "participants without a number count half" in done.methods


def test_methods_name_the_detector_and_only_the_tests_that_were_made():
    study = eyelid.simulate(people=12, minutes=0.2, seed=1)
    done = summary(study, measures="fixation_duration", epsilon=4.0)
    assert "detected with eyelid's method robust (threshold_per_s 30 deg/s" in done.methods
    assert "Mann–Whitney" not in done.methods
    assert "steps" not in done.methods
    assert re.search(r"standard deviation 0\.\d+ of the range in the mean or share", done.methods)
    compared = summary(reading(), measures="mood", by="sex", epsilon=4.0)
    assert "a Mann–Whitney test" in compared.methods
    assert "sign test" not in compared.methods
    assert "detected" not in compared.methods


def test_results_show_their_numbers():
    found = summary(reading(), measures="skipping", epsilon=4.0, seed=1)
    (estimate,) = found.frame["estimate"]
    assert f" {estimate:.2f}" in repr(found)


def test_results_of_windows_say_how_long_they_are():
    study = replace(eyelid.simulate(people=12, minutes=0.2, seed=1), planned_ms=None)
    told = []
    done = summary(study, measures="fixation_rate", epsilon=4.0, tell=told.append)
    assert "which shorter recordings do not have" in done.frame["note"][0]
    assert any("nobody has a value of fixation_rate" in note for note in told)
    usual = planned(replace(study, planned_ms=12_000.0)).design.asked.said.measures
    assert "fixation_rate" not in usual


def test_fewer_usual_measures_are_taken_where_the_budget_carries_no_more():
    assert len(planned(reading(20), epsilon=2.0).design.entries) == 3
    assert len(planned(reading(20), epsilon=0.4).design.entries) < 3


def test_another_number_of_people_keeps_the_proportions_of_groups():
    design = planned(reading(40), measures=("skipping",), by="sex").design
    assert resized(design, 101).facts.groups == (51, 50)
    assert resized(design, epsilon=4.0).mechanism.epsilon == 4.0


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"measures": ("moood",)}, "unknown measure 'moood': did you mean 'mood'"),
        ({"tasks": ("tv",)}, "unknown task 'tv'"),
        ({"contrasts": ("comic-comic",)}, "a contrast of 'comic' with itself is nothing"),
        ({"contrasts": ("comic-tv",)}, "unknown task of a contrast 'tv'"),
        ({"contrasts": ("comic-paper", "comic - paper")}, "is named twice"),
        ({"by": "age"}, "unknown attribute of people to group by 'age'"),
        ({"measures": ("hit",)}, "hit is of areas of interest: name them, `areas=…`"),
        ({"areas": {"page": ()}}, "areas of interest need gaze"),
    ],
)
def test_what_does_not_fit_the_study_is_one_clear_line(asked, message):
    with pytest.raises(InputError, match=message):
        planned(reading(), **asked)


def test_groups_of_one_are_refused():
    study = reading(4)
    people = study.people.with_columns(sex=pl.Series(["f", "m", "m", "m"]))
    with pytest.raises(InputError, match="the group 'f' by sex is one person"):
        planned(replace(study, people=people), by="sex", measures=("skipping",))


def test_more_than_the_budget_carries_is_refused_with_what_it_can():
    with pytest.raises(InputError, match=r"9 numbers of 20 people .* carries at most 8 numbers"):
        planned(reading(20, tasks=tuple("abcdefghi")), 1.0, measures=("skipping",), tasks=("each",))
    with pytest.raises(InputError, match="not a single one"):
        planned(reading(4), 0.1, measures=("skipping",))


def test_a_norm_in_a_wrong_unit_is_refused():
    own = Norm("mood", "any", "ms", 5.0, 4.0, source=Source("Doe 2020"))
    with pytest.raises(InputError, match=r"norm of mood .* do not convert"):
        planned(reading(), measures=("mood",), terms={"norms": [own]})


def test_who_is_alone_or_asks_for_no_privacy_is_told():
    with pytest.raises(InputError, match="the study has only 1 person"):
        planned(reading(1))
    with pytest.raises(InputError, match="say how private it must be"):
        planned(reading(), None)
    with pytest.raises(InputError, match="unknown activity 'reding'"):
        planned(reading(), terms={"activity": "reding"})
    with pytest.raises(InputError, match="laplace makes no results"):
        planned(reading(), terms={"mechanism": "laplace"})


def test_what_nobody_has_is_told_to_the_owner_and_never_refused():
    study = reading()
    empty = replace(study, data=study.data.with_columns(mood=pl.lit(None, dtype=pl.Float64)))
    done = summary(empty, measures=["mood", "skipping"], epsilon=2.0)
    assert any("nobody has a value of mood" in note for note in done.notes)
    # A refusal would show of all other releases that somebody has it.
    alone = summary(empty, measures=["mood"], epsilon=2.0)
    assert any("noise alone: leave it out" in note for note in alone.notes)


def test_people_without_a_task_count_and_are_told_to_the_owner():
    study = reading(20)
    alone = (pl.col("person") == "p004") & (pl.col("task") == "comic")
    done = summary(
        replace(study, data=study.data.filter(~alone)),
        measures=["skipping"],
        tasks=["each"],
        epsilon=2.0,
    )
    assert done.frame["people"].to_list() == [20, 20]
    assert any("1 of 20 people have no skipping in comic" in note for note in done.notes)


@pytest.mark.parametrize("value", [0.25, 0.0])
def test_constant_measures_and_ties_give_results(value):
    study = reading(30)
    flat = replace(study, data=study.data.with_columns(skipping=pl.lit(value)))
    found = summary(flat, measures=["skipping"], contrasts=["comic-paper"], epsilon=20.0).frame
    rows = {row["statistic"]: row for row in found.iter_rows(named=True)}
    assert rows["mean"]["estimate"] == pytest.approx(0.0, abs=0.05)
    assert rows["higher"]["estimate"] == pytest.approx(0.5, abs=0.05), "ties count half"


def looking_at_a_logo():
    """Thirty people who look at a logo from 1.5 s on."""
    rng = np.random.default_rng(3)
    rows = []
    for person in range(30):
        for step in range(20):
            x = rng.uniform(0, 100) if step > 4 else 350.0
            rows.append((f"p{person}", "home", "home", step * 300.0, 250.0, x, 50.0))
    columns = ["person", "recording", "stimulus", "time_ms", "duration_ms", "x", "y"]
    data = pl.DataFrame(rows, schema=columns, orient="row").with_columns(task=pl.lit(""))
    people = data.select("person").unique(maintain_order=True)
    screen = Screen(width_px=400, height_px=300)
    study = Study("fixations", data, people, units="px", xy_origin="top-left", screen=screen)
    logo = Area("logo", np.array([[0.0, 0], [100, 0], [100, 100], [0, 100]]))
    return study, {"home": [logo]}


def test_how_long_a_page_counts_is_said_and_told():
    study, areas = looking_at_a_logo()
    told = []
    done = summary(study, areas=areas, epsilon=30.0, tell=told.append)
    assert "`seconds=15` (--seconds 15)" in " ".join(told)
    assert "first 10 s with 10000 ms" in " ".join(told)
    assert "at all, however long the page was shown" in done.methods
    short = summary(study, areas=areas, epsilon=30.0, seconds=1.2, tell=told.append)
    rows = {row["measure"]: row for row in short.frame.iter_rows(named=True)}
    assert rows["hit:logo"]["estimate"] == pytest.approx(0.0, abs=0.05)
    assert "within the first 1.2 s" in short.methods
    assert "only the first 1.2 s count, as you say" in told[-1]
    said = {"areas": areas, "seconds": 20.0, "epsilon": 30.0}
    notes = summary_preview(study, **said).notes
    assert any("first 20 s" in note for note in notes)
    assert summary_preview(study, **said).offer.ranges[0].upper == 20_000.0
    with pytest.raises(InputError, match="'hit:logo' is what results are called"):
        summary(study, areas=areas, measures="hit:logo", epsilon=2.0)
    with pytest.raises(InputError, match="seconds say how long a page with areas counts"):
        summary(study, seconds=15.0, epsilon=2.0)


def test_one_name_is_as_good_as_a_list_of_one():
    study = reading(people=30)
    said = {"measures": "fixation_duration", "contrasts": "comic-paper", "tasks": "each"}
    found = summary(study, **said, epsilon=4.0, seed=1).frame
    assert set(found["task"]) == {"comic", "paper", "comic - paper"}


def test_areas_are_reported_by_page():
    study, areas = looking_at_a_logo()
    found = summary(study, areas=areas, epsilon=30.0).frame
    rows = {row["measure"]: row for row in found.iter_rows(named=True)}
    assert rows["hit:logo"]["statistic"] == "share"
    assert rows["hit:logo"]["estimate"] == pytest.approx(1.0, abs=0.05)
    assert rows["first_look:logo"]["estimate"] == pytest.approx(1500.0, abs=400)
    assert rows["dwell:logo"]["estimate"] == pytest.approx(0.75, abs=0.05)
    assert {row["task"] for row in rows.values()} == {"home"}


def test_a_run_that_was_killed_goes_on_with_the_same_noise(tmp_path, monkeypatch):
    eyelid.write(reading(), tmp_path / "study")
    said = {"measures": ["skipping"], "epsilon": 1.0}
    place = "eyelid.releases.kinds.statistics.release.write_results"
    drawn = []

    def stop(folder, design, shown, *rest):
        drawn.append(shown)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(place, stop)
        summary(tmp_path / "study", tmp_path / "out", **said)
    done = summary(tmp_path / "study", tmp_path / "out", **said)
    measured = json.loads((tmp_path / "out" / "measured.json").read_text("utf-8"))["parts"]
    assert measured == [part.tolist() for part in drawn[0]]
    assert len(done.certificate.ledger) == 1


def test_asked_of_keeps_people_without_rows():
    study = reading(6)
    cut = in_pieces(replace(study, data=study.data.filter(pl.col("person") != "p002")))
    asked = asked_of(cut, Questions(measures=("mood",)))
    assert len(asked.people) == 6
    assert designed(asked, None, Terms(epsilon=4.0)).facts.people == 6


def test_the_paragraph_names_no_participant(tmp_path):
    done = summary(reading(), measures=["mood"], epsilon=1.0)
    assert not re.search(r"p0\d\d", done.methods)


def test_what_compares_with_zero_is_asked_of_differences_alone():
    with pytest.raises(InputError, match="higher is of a difference between two tasks"):
        planned(reading(), terms={"statistics": "higher"}, measures=("skipping",))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 1.0}, "leave out epsilon"),
        ({"statistics": "median:1"}, "leave out statistics"),
        ({"primary": ["skipping"], "delta": 1e-6}, "leave out delta, primary"),
        ({"by": "sex"}, "by=None, and results are asked for with by=sex"),
    ],
)
def test_a_mechanism_that_is_set_is_charged_as_it_is_or_refused(given, words):
    made = eyelid.mechanism("summary-box", epsilon=5.0)
    with pytest.raises(InputError, match=words):
        summary(reading(people=12), measures=["skipping"], mechanism=made, **given)


def test_parts_are_written_once():
    with pytest.raises(InputError, match="leave out primary"):
        Terms(epsilon=1.0, primary=("skipping",), statistics="mean")
