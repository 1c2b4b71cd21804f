"""Two neighbouring studies, one folder: what tells them apart is found, and what may is left."""

from dataclasses import replace

import numpy as np
import pytest

from eyelid.gaze import order
from eyelid.gaze.table import FeatureTable
from eyelid.io.pieces import in_pieces
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.mechanisms.mechanism import SAME_FORM, Form, catalogue, find
from eyelid.privacy.noise import SystemRandomness
from eyelid.releases.consistency.cases import cases_of
from eyelid.releases.consistency.comparison import (
    Neighbour,
    base_of,
    compare_folders,
    coupled,
    differences,
    neighbours_of,
    small_pieces,
    unfair_seats,
)
from eyelid.releases.consistency.mutants import MUTANTS
from eyelid.releases.consistency.studies import (
    LESS,
    MORE,
    OTHER,
    feature_study,
    gaze_study,
    reading_study,
)

STUDIES = [feature_study, gaze_study, reading_study]


def case(name, settings=""):
    return next(each for each in cases_of(find(name)) if each.settings == settings)


def test_every_mechanism_that_writes_a_folder_has_a_case():
    for kind in catalogue().values():
        assert bool(list(cases_of(kind))) == (kind.command in ("release", "heatmap", "summary"))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("laplace", ""),
        ("laplace", "length=7"),
        ("laplace", "samples=True"),
        ("laplace", "fixations=True"),
        ("groupmean", "length=7"),
        ("ksame-dp", "balance=hand"),
        ("ksame", ""),
        ("ksame", "copies=True, balance=hand"),
        ("synthetic", ""),
        ("seeded", ""),
        # Without settings in tests/cli/test_commands.py.
        ("uniform", "times=regular"),
        ("fixations", ""),
        ("map-grid", "by=gender"),
        ("aoi-tables", ""),
    ],
)
def test_the_folders_of_neighbours_are_the_same_but_for_released_values(
    plain_pictures, name, settings
):
    found = compare_folders(case(name, settings))
    assert found.pairs >= 3
    assert not found.differs


def test_pictures_of_neighbours_are_the_same_px_by_px_when_the_noise_is():
    maps = case("map-grid")
    base = base_of(maps)
    (pair, *_) = neighbours_of(maps, base, [LESS])
    assert pair.coupled
    assert not differences(maps, base, [pair])


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name.replace(" ", "_"))
def test_a_mutant_is_caught(plain_pictures, mutant):
    assert mutant.caught()


def test_a_folder_that_is_the_same_for_all_is_no_mutant():
    """What is caught must be what the mutant does, and nothing that the sound release shows."""
    for mutant in MUTANTS[:1]:
        assert not replace(mutant, changes={}, spoil=None).caught()


@pytest.mark.parametrize("study", STUDIES)
def test_neighbours_whose_lengths_differ_are_cut_into_other_raw_pieces(study):
    """Otherwise parts that are cut by raw rows would not be found."""
    base = study()
    other = base.with_other(MORE.of(base.replaced, Form("", lengths=True), base))
    with small_pieces(base.pieces):
        cut = [[piece.people for piece in in_pieces(each.study()).pieces] for each in (base, other)]
    assert len(cut[0]) > 1
    assert cut[0] != cut[1]


@pytest.mark.parametrize("study", STUDIES)
def test_a_replacement_changes_what_may_change_and_nothing_else(study):
    base = study()
    person = base.replaced

    def form(participant):
        return [
            (t.recording, t.task, t.stimulus, t.time_ms.tolist(), np.isnan(t.columns["x"]).tolist())
            if "x" in t.columns
            else (t.recording, t.task, t.stimulus, t.time_ms.tolist())
            for t in participant.tracks
        ]

    for way in (LESS, MORE, OTHER):
        same = way.of(person, Form("", times=False), base)
        assert form(same) == form(person)
        assert any(
            not np.array_equal(one.columns[name], other.columns[name], equal_nan=True)
            for one, other in zip(person.tracks, same.tracks, strict=True)
            for name in one.columns
        )
    lengths = [track.rows for track in MORE.of(person, Form("", lengths=True), base).tracks]
    assert lengths == [5 * track.rows + 2 for track in person.tracks]
    assert len(MORE.of(person, Form("", recordings=True), base).tracks) == 3 * len(person.tracks)
    assert len(LESS.of(person, Form("", recordings=True), base).tracks) == 1
    names = {each.name for each in base.participants} - {person.name}
    kept = base.with_other(LESS.of(person, Form("", True, True), base))
    assert [e for e in kept.participants if e.name in names] == [
        e for e in base.participants if e.name in names
    ]


def test_filters_keep_their_form_and_sums_over_people_need_not():
    """What is compared is what the mechanism declares, and what its sentences are about."""
    assert not case("kaleido").mechanism.may_differ.times
    for name in ("map-grid", "aoi-tables", "synthetic", "seeded", "groupmean"):
        form = case(name).mechanism.may_differ
        assert (form.recordings, form.lengths, form.times) == (True, True, True), name
    mechanism = case("laplace", "length=7").mechanism
    assert mechanism.may_differ.lengths
    assert not mechanism.may_differ.recordings
    assert replace(mechanism, length="longest").may_differ == SAME_FORM


def test_members_of_different_groups_who_are_exchanged_do_show():
    """Otherwise exchanged members of one group would prove nothing."""
    ksame = case("ksame")
    base = base_of(ksame)
    with coupled():
        member = ksame.mechanism.partition(FeatureTable.of(base.study()), SystemRandomness())
    one, other = (int(np.flatnonzero(member == group)[0]) for group in (0, 1))
    pair = Neighbour("members of two groups", base.exchanged(one, other), True)
    assert any("values of" in each.what for each in differences(ksame, base, [pair]))


def test_rare_participants_dealt_into_the_larger_groups_are_found():
    """Of eleven in groups of 4, 4 and 3 the only left-handed one was in a larger group always."""

    def partition(self, table, noise):
        rare = table.people["hand"].to_numpy() == "left"
        order = np.lexsort((noise.words(rare.size), rare))
        dealt = np.empty(rare.size, dtype=np.intp)
        dealt[order] = np.arange(rare.size) % 3
        return dealt

    unfair = type("Unfair", (KSame,), {"partition": partition})(k=3, balance="hand")
    (told,) = unfair_seats(unfair, feature_study())
    assert "hand left" in told
    assert "100%" in told
    assert not list(unfair_seats(KSame(k=3), feature_study()))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("prewindow", "length=7"),
        ("laplace", "length=7"),
        ("groupmean", "length=7"),
        ("seeded", ""),
        ("synthetic", ""),
    ],
)
def test_nothing_shows_that_a_participant_has_only_a_too_short_recording(name, settings):
    """Windows of half a minute, and one recording of a single sample: no folder differs."""
    way = replace(case(name, settings), study=reading_study)
    base = reading_study()
    (pair, *_) = neighbours_of(way, base, [LESS])
    assert {track.rows for track in pair.study.replaced.tracks} == {1}
    assert differences(way, base, [pair]) == []


def test_what_cannot_be_released_at_all_is_not_called_the_same():
    far = replace(case("laplace", "length=7"), options={"keep": ("nothing",)})
    found = compare_folders(far, [OTHER])
    assert found.refuted
    assert "column to keep" in found.differs[0].what


def test_what_claims_nothing_is_reported_and_refutes_nothing():
    found = compare_folders(case("ksame-paper"))
    assert not found.same
    assert not found.refuted


RAW = [
    ("summary-box", "tasks=each, contrasts=comic-textbook, source=a table"),
    ("groupmean", "inner=laplace, samples=True, source=files"),
]


@pytest.mark.parametrize(("name", "settings"), RAW)
def test_files_of_others_are_read_the_same_whoever_was_recorded_besides(name, settings):
    found = compare_folders(case(name, settings))
    assert found.pairs >= 3
    assert not found.differs


def test_a_reader_that_cuts_everybody_by_one_persons_clock_is_caught(monkeypatch):
    """As eyelid 0.1 did: where any clock starts anew, all recordings are told apart otherwise."""

    true = order.tasks_apart

    def by_all(data):
        same = data["person"] == data["person"].shift()
        anew = ((data["time_ms"].diff() < 0) & same).any()
        return (true(data) + "-again").alias("apart") if anew else true(data)

    monkeypatch.setattr(order, "tasks_apart", by_all)
    raw = case(*RAW[0])
    base = base_of(raw)
    pair = next(each for each in neighbours_of(raw, base, [OTHER]) if each.coupled)
    assert any("rows of others" in each.what for each in differences(raw, base, [pair]))
