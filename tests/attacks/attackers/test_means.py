import numpy as np
import pytest

from eyelid.attacks.attackers.lda import Lda
from eyelid.attacks.attackers.means import Means, Whitened
from eyelid.attacks.records import Records
from eyelid.attacks.scores import named


def test_distances_are_those_of_a_plain_loop(make_records):
    known, shown = make_records(apart=0.4, seed=1), make_records(apart=0.4, seed=2)
    scores = Means().learn(known, 0)(shown).averaged
    centres, strays = [], []
    for person in range(6):
        means = [known.values[known.record == r].mean(axis=0) for r in (2 * person, 2 * person + 1)]
        centres.append(np.mean(means, axis=0))
        strays += [(m - centres[-1]) ** 2 for m in means]
    within = np.sum(strays, axis=0) / (12 - 6) * (1 + 1 / 2)
    floor = 1e-4 * np.var(centres, axis=0).mean() + 1e-12
    for record in range(12):
        rows = shown.values[shown.record == record]
        spread = within + rows.var(axis=0) / len(rows) + floor
        for person in range(6):
            distance = np.sum((rows.mean(axis=0) - centres[person]) ** 2 / spread)
            assert scores[record, person] == pytest.approx(-distance)


def test_without_directions_whitened_and_means_agree(make_records):
    known, shown = make_records(apart=0.4, seed=1), make_records(apart=0.4, seed=2)
    plain = Means().learn(known, 0)(shown).averaged
    assert np.allclose(Whitened(shrinkage=1.0, share_of_rows=0.0).learn(known, 0)(shown).averaged,
                       plain)  # fmt: skip


def correlated(make_records, seed):
    """People differ a little where everybody is steady, and all stray along one diagonal."""
    records = make_records(12, 3, 20, 4, apart=0.0, seed=seed)
    people = np.random.default_rng(1).normal(0, 0.15, (12, 4))
    strays = np.random.default_rng(50 + seed).normal(0, 2.0, len(records.owner))
    people -= people.mean(axis=1, keepdims=True)
    values = (
        people[records.person] + strays[records.record][:, None] + 0.05 * records.values
    )  # fmt: skip
    return Records(values, records.record, records.owner, records.tasks, records.people)


def test_whitened_sees_past_what_features_do_together(make_records):
    known, shown = correlated(make_records, 1), correlated(make_records, 2)
    rates = {}
    for attacker in (Means(), Whitened(shrinkage=0.0)):
        scores = attacker.learn(known, 0)(shown)
        rates[attacker.name] = named(scores.averaged, scores.owner).mean()
    assert rates["whitened"] > 0.8
    assert rates["means"] < 0.5


@pytest.mark.parametrize("attacker", [Means(), Whitened()], ids=lambda a: a.name)
def test_averaging_beats_noise_that_hides_single_rows(attacker, make_records):
    known, shown = make_records(20, rows=400, seed=1), make_records(20, rows=400, seed=2)
    shown.values[:] += np.random.default_rng(3).normal(0, 20.0, shown.values.shape)
    rates = [
        named(found.averaged, found.owner).mean()
        for found in (one.learn(known, 0)(shown) for one in (attacker, Lda()))
    ]
    assert rates[0] > 0.8
    assert rates[0] > rates[1] + 0.2
