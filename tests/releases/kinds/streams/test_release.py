import json
import math

import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError, Refused
from eyelid.io import read
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.streams.study_scene import filtered
from eyelid.privacy.noise import randomness
from eyelid.releases.budget import budget
from eyelid.releases.inspection import inspect
from eyelid.releases.kinds.streams.plan import unprotected
from eyelid.releases.kinds.streams.preparation import recordings_touched, taken_of

KNOWN = {"mechanism": "kaleido", "epsilon": 2.0, "window": 25, "radius": 40.0}
TOTAL = 2 * 8 * 2.0 * math.hypot(1000, 500) / 40


@pytest.fixture
def done(gaze_folder, tmp_path):
    return eyelid.release(gaze_folder, tmp_path / "out", **KNOWN)


def test_a_release_of_gaze_is_a_study_of_samples_with_certificate_and_card(done, gaze_folder):
    names = {p.name for p in done.path.iterdir()}
    assert names == {"study.json", "people.csv", "data.parquet", "certificate.json", "DATACARD.md"}
    released, original = read(done.path), read(gaze_folder)
    assert released.kind == "samples"
    assert released.released
    assert released.origin is None
    assert (released.units, released.rate_hz, released.screen) == ("px", 50.0, original.screen)
    assert released.data.columns == [
        "person", "recording", "task", "stimulus", "time_ms", "x", "y",
    ]  # fmt: skip
    assert released.people.columns == ["person"]
    assert (released.data["time_ms"] == original.data["time_ms"] - 5000.0).all()
    assert released.data["x"].is_between(0, 1000).all()
    assert released.data["y"].is_between(0, 500).all()


def test_the_certificate_tells_the_window_the_total_and_what_is_not_protected(done):
    told = json.loads((done.path / "certificate.json").read_text())
    assert told == done.certificate.to_dict()
    assert told["guarantee"]["unit"] == "event:25:40.0"
    assert told["guarantee"]["kind"] == "pure-dp"
    assert told["guarantee"]["epsilon"] == 2.0
    assert told["person_level"]["epsilon"] == pytest.approx(TOTAL)
    assert "8 windows of 25 samples" in told["person_level"]["how"]
    assert told["bounds"] == {"source": "public", "values": {"x": [0, 1000], "y": [0, 500]}}
    assert told["noise"]["numerics"] == "exact"
    assert set(unprotected("recorded")) <= set(told["unprotected"])
    # Lengths and losses tell people apart.
    assert told["rank1_bound"] == {"raw_to_release": None, "release_to_raw": None}


def test_the_card_says_that_a_person_as_a_whole_is_not_hidden(done):
    card = (done.path / "DATACARD.md").read_text()
    assert "any 25 samples in a row of one recording (0.5 s at 50 Hz)" in card
    assert "each moved by at most 40 px" in card
    assert "A person as a whole is not hidden" in card
    assert "You as a whole are not hidden" in card
    for item in unprotected("recorded"):
        assert item in card


def test_the_ledger_counts_the_person_level_total_and_a_limit_refuses(gaze_folder, tmp_path):
    eyelid.release(gaze_folder, tmp_path / "one", **KNOWN)
    spent = budget(gaze_folder, limit_epsilon=1.5 * TOTAL)
    assert spent.sound.epsilon == pytest.approx(TOTAL)
    with pytest.raises(Refused, match="limit"):
        eyelid.release(gaze_folder, tmp_path / "two", **KNOWN)
    assert not (tmp_path / "two").exists()
    assert len(budget(gaze_folder).debits) == 1


def test_a_seed_repeats_the_gaze_and_voids_the_guarantee(make_gaze):
    one, two = (eyelid.release(make_gaze(), seed=3, **KNOWN) for _ in range(2))
    assert one.study.data.equals(two.study.data)
    assert not one.certificate.guarantee.holds
    assert not one.certificate.person_level.holds


def test_the_operating_system_never_repeats_it(make_gaze):
    one, two = (eyelid.release(make_gaze(), **KNOWN) for _ in range(2))
    assert not one.study.data.equals(two.study.data)
    assert one.certificate.guarantee.holds


@pytest.mark.parametrize("name", ["uniform", "sample", "bd", "ba"])
def test_every_scheduler_promises_the_same(make_gaze, name):
    done = eyelid.release(make_gaze(), **KNOWN | {"mechanism": name})
    assert done.certificate.person_level.epsilon == pytest.approx(TOTAL)


def test_a_baseline_promises_nothing_and_says_so(make_gaze, tmp_path):
    done = eyelid.release(make_gaze(), tmp_path / "out", mechanism="jitter", sd=10.0)
    assert done.certificate.guarantee.kind == "none"
    assert not done.certificate.guarantee.holds
    assert done.certificate.guarantee.reasons
    assert done.certificate.rank1_bound["raw_to_release"] is None
    assert "carries no privacy guarantee" in (done.path / "DATACARD.md").read_text()


def test_kept_attributes_are_listed_as_unprotected(make_gaze):
    done = eyelid.release(make_gaze(), keep=["age"], **KNOWN)
    assert any("what you keep singles people out" in note for note in done.notes)
    assert done.study.people.columns == ["person", "age"]
    assert any("attribute age" in item for item in done.certificate.unprotected)


def test_a_scene_that_somebody_told_is_named_as_theirs(make_gaze):
    done = eyelid.release(make_gaze(), scene="100,100,900,400", **KNOWN)
    assert done.certificate.bounds.source == "file"
    assert done.study.data["x"].is_between(100, 900).all()


def test_the_scene_of_a_filter_that_somebody_set_is_theirs_too(make_gaze):
    options = {name: KNOWN[name] for name in ("epsilon", "window", "radius")}
    mechanism = mechanism_named("kaleido", scene="100,100,900,400", **options)
    assert eyelid.release(make_gaze(), mechanism=mechanism).certificate.bounds.source == "file"


@pytest.mark.parametrize(("times", "clock"), [("recorded", True), ("regular", False)])
def test_a_consent_form_names_losses_always_and_time_stamps_where_they_are_shared(
    make_gaze, tmp_path, times, clock
):
    eyelid.release(make_gaze(), tmp_path / "out", times=times, **KNOWN)
    consent = _consent(tmp_path / "out")
    assert "when your eyes were lost (in blinks" in consent
    assert ("when each sample was taken" in consent) is clock
    # e²/(1 + e²)
    assert "right in at most 88.1% of cases, in place of 50%" in consent


def test_a_promise_that_is_formal_only_is_called_so_for_short_stretches_too(make_gaze, tmp_path):
    eyelid.release(make_gaze(), tmp_path / "weak", **KNOWN | {"epsilon": 50.0})
    eyelid.release(make_gaze(), tmp_path / "strong", **KNOWN)
    formal = "promises you almost nothing, even for so short a time"
    assert formal in _consent(tmp_path / "weak")
    assert formal not in _consent(tmp_path / "strong")
    weak, strong = ((tmp_path / n / "DATACARD.md").read_text() for n in ("weak", "strong"))
    assert "right in at most 100% of cases" in weak
    assert "formal only, even for so few samples" in weak
    assert "formal only, even for so few samples" not in strong


def in_short_trials(study, samples=10):
    """The same gaze, cut into trials of so many samples."""
    row = pl.int_range(pl.len()).over("person", "recording") // samples
    trial = pl.format("{}-{}", "recording", row.cast(pl.String).str.zfill(3))
    return study.derive(data=study.data.with_columns(trial.alias("recording"), task=pl.lit("")))


def test_a_window_over_short_trials_spends_epsilon_in_each_of_them(make_gaze):
    # With `sample` every trial shows its first sample for all of ε. Thirty samples in a row that
    # begin with the last one of a trial lie in four trials of ten.
    mechanism = mechanism_named("sample", epsilon=2.0, window=30, radius=40.0, scene="0,0,1000,500")
    study = in_short_trials(make_gaze(recordings=1))
    shown = filtered(mechanism, taken_of(study), randomness(3)).data.filter(
        pl.col("person") == "P0"
    )
    new = (shown["x"] != shown["x"].shift(1)).fill_null(True).cast(pl.Int64)
    spent = new.rolling_sum(30).max() * mechanism.epsilon
    assert spent == 3 * mechanism.epsilon
    lengths = study.data.group_by("person", "recording").len()["len"]
    touched = recordings_touched(30, 20, lengths.min())
    # By brute force, a sample's trial being its number over ten.
    assert touched == max(len({i // 10 for i in range(s, s + 30)}) for s in range(100)) == 4
    assert spent <= touched * mechanism.epsilon


@pytest.mark.parametrize("window", [1, 2, 3, 9, 10, 11, 12, 30, 31])
@pytest.mark.parametrize("shortest", [1, 2, 7, 10, 40])
def test_so_many_recordings_are_touched_and_no_more(window, shortest):
    trials = [{i // shortest for i in range(s, s + window)} for s in range(2 * shortest)]
    assert recordings_touched(window, 100, shortest) == max(len(each) for each in trials)
    assert recordings_touched(window, 2, shortest) == min(2, max(len(each) for each in trials))


def test_a_release_of_short_trials_says_what_a_window_over_several_costs(make_gaze, tmp_path):
    # 25 samples in a row, of trials of 10: the end of one, two whole ones, the beginning of one.
    done = eyelid.release(in_short_trials(make_gaze()), tmp_path / "out", **KNOWN)
    assert any(
        item.startswith("25 samples in a row that lie in several recordings (here in up to 4)")
        for item in done.certificate.unprotected
    )
    card, consent = (tmp_path / "out" / "DATACARD.md").read_text(), _consent(tmp_path / "out")
    # e⁸/(1 + e⁸)
    several = "in several recordings, here in up to 4, has ε = 8 in total, and guesses are right"
    assert f"{several} in at most 100% of cases" in card
    factor = "a factor of at most 2,990, and a guess is right in at most 100%."
    assert f"where such a stretch lies in several of them, here in up to 4, it is {factor}" in (
        consent
    )
    # One whole recording each: nothing lies in two of them.
    single = make_gaze(recordings=1)
    eyelid.release(single, tmp_path / "single", **KNOWN)
    assert "several" not in _consent(tmp_path / "single")


def test_a_price_of_short_trials_says_what_a_window_over_several_costs(make_gaze):
    quote = eyelid.cost(**KNOWN, source=in_short_trials(make_gaze()))
    assert quote.to_dict()["over_recordings"] == {"recordings": 4, "epsilon": 8.0}
    assert dict(quote.offer.rows(quote))["  the same samples over 4 recordings"] == "ε = 8"
    facts = {"people": 3, "recordings": 2, "length": 200, "scene": "0,0,1000,500"}
    assert eyelid.cost(**KNOWN, **facts).to_dict()["over_recordings"]["recordings"] == 2


def test_the_person_total_of_short_trials_counts_a_window_for_each(make_gaze):
    study = in_short_trials(make_gaze(people=2, samples=200))
    quote = eyelid.cost(**KNOWN, source=study)
    trials = study.data.group_by("person").agg(pl.col("recording").n_unique())["recording"].max()
    each = 2.0 * math.hypot(1000, 500) / 40
    assert quote.person_level.epsilon == pytest.approx(trials * each)


def test_inspect_promises_half_a_second_of_one_recording_only(make_gaze):
    # 25 samples are half a second; in trials of 0.2 s they lie in four, each with an ε of its own.
    said = inspect(in_short_trials(make_gaze()))["release"]
    assert "for half a second of one recording, up to" in said
    # e⁴/(1 + e⁴), and e¹⁶/(1 + e¹⁶)
    assert "guessed right in at most 98.3% of cases, in place of 50%" in said
    assert "(over 4 recordings, in which half a second may lie here, in 100%: each starts" in said
    whole = inspect(make_gaze(recordings=1))["release"]
    assert "over" not in whole.partition("Which of two ways")[2].partition("no person")[0]


def _consent(folder):
    card = (folder / "DATACARD.md").read_text()
    return card.partition("## For a consent form")[2].partition("##")[0]


def test_what_people_are_called_is_listed_as_unprotected(done):
    assert read(done.path).people["person"].to_list() == ["P0", "P1", "P2"]
    names = "the names of the people as the study has them, and their order"
    assert names in done.certificate.unprotected


def test_gaze_outside_the_scene_is_clamped_and_shown_nowhere(make_gaze):
    study = make_gaze()
    far = study.derive(data=study.data.with_columns(x=pl.lit(1e12)))
    assert eyelid.release(far, **KNOWN).study.data["x"].is_between(0, 1000).all()


def test_bad_input_is_refused_in_one_line(make_gaze, make_table):
    with pytest.raises(InputError, match="has no bounds but its scene"):
        eyelid.release(make_gaze(), bounds="data", **KNOWN)
    with pytest.raises(InputError, match="this is a FeatureTable"):
        eyelid.release(make_table(), **KNOWN)
    with pytest.raises(InputError, match="this is a study of features"):
        eyelid.release(make_table().study(), **KNOWN)
    with pytest.raises(InputError, match="epsilon must be positive"):
        eyelid.release(make_gaze(), **KNOWN | {"epsilon": -1.0})


def test_regular_times_show_no_clock(make_gaze, tmp_path):
    study = make_gaze()
    late = study.derive(data=study.data.with_columns(pl.col("time_ms") * 1.01))
    done = eyelid.release(late, tmp_path / "out", times="regular", **KNOWN)
    first = done.study.data.filter(pl.col("person") == "P0", pl.col("recording") == "r0")
    assert first["time_ms"].to_list() == [20.0 * i for i in range(200)]
    assert set(unprotected("regular")) <= set(done.certificate.unprotected)
    assert not any("as recorded" in item for item in done.certificate.unprotected)
    assert "by their time stamps" not in (done.path / "DATACARD.md").read_text()
    with pytest.raises(InputError, match="unknown kind of times 'exact'"):
        eyelid.release(late, times="exact", **KNOWN)
    with pytest.raises(InputError, match="regular times need the rate"):
        eyelid.release(late.derive(rate_hz=None), times="regular", **KNOWN)


def test_real_readers_pay_for_their_longest_recording(real_readers):
    done = eyelid.release(real_readers, mechanism="sample", epsilon=1.0, window=15, radius=0.05)
    lengths = real_readers.data.group_by("person", "recording").len()
    windows = -(-lengths["len"].max() // 15)
    most = lengths["person"].unique_counts().max()
    # In the image of an eye camera, a square of side 1.
    total = most * windows * math.sqrt(2) / 0.05
    assert done.certificate.person_level.epsilon == pytest.approx(total)
    assert done.certificate.rank1_bound["raw_to_release"] is None
    assert done.study.data.columns[-2:] == ["x", "y"]
    assert done.study.data.select(pl.col("x", "y").is_between(0, 1).all()).row(0) == (True, True)
