"""What leaves a mechanism is what it made private, or it is found out."""

from dataclasses import replace

import polars as pl
import pytest

from eyelid.attacks.override import override
from eyelid.mechanisms import catalogue, find
from eyelid.mechanisms.records.record_mechanism import RecordMechanism
from eyelid.privacy import randomness
from eyelid.verification.families import mutants_of
from eyelid.verification.outputs import compare

SOUND = [
    name
    for name, kind in catalogue().items()
    if kind.claims_to_hold and issubclass(kind, RecordMechanism)
]


def first(name):
    return next(iter(find(name).set_for_games()))


@pytest.mark.parametrize("name", SOUND)
def test_every_mechanism_shows_what_it_made_private(name):
    for mechanism in find(name).set_for_games():
        found = compare(mechanism)
        assert not found.refuted, mechanism
        assert found.bare == 0
        # Most of these people lie inside the bounds.
        assert found.inside > 1000


@pytest.mark.parametrize("name", SOUND)
def test_planted_outputs_are_caught(name):
    planted = {fault.name: fault for fault in mutants_of(find(name))}
    chosen = ["input shown, not what is private", "no noise"]
    chosen += ["exact means shown"] * (name in ("groupmean", "ksame-dp"))
    assert [n for n in chosen if not planted[n].caught(1_000, randomness(1))] == []


@pytest.mark.parametrize("name", ["laplace", "prewindow", "groupmean"])
def test_noise_that_is_there_but_not_the_private_table_s_is_caught(name):
    """As if a person drew it twice and showed the mean of both."""
    kind = find(name)

    def apply(self, table, noise):
        one, other = (kind.apply(self, table, noise) for _ in range(2))
        means = [(pl.col(n) + other.data[n]) / 2 for n in one.names]
        return replace(one, data=one.data.with_columns(means))

    mechanism = first(name)
    found = compare(override(mechanism, {"apply": apply}), declared=mechanism)
    assert not found.same
    assert found.refuted


def test_one_feature_without_noise_is_caught_though_it_is_presented_as_it_should():
    mechanism = first("gaussian")

    def perturb(self, integers, shape, noise):
        noisy = type(mechanism).perturb(self, integers, shape, noise)
        noisy[..., 3] = integers[..., 3]
        return noisy

    found = compare(override(mechanism, {"perturb": perturb}))
    assert found.same
    assert found.bare > 50


def test_windows_are_made_of_bins_and_of_what_stands_beside_them():
    """The wordbook is not made of bins: it is there because it was measured beside them."""
    shown = {}

    def present(self, private):
        made = find("prewindow").present(self, private)
        shown[self.others] = set(made.names)
        return made

    mechanism = first("prewindow")
    assert not compare(override(mechanism, {"present": present})).refuted
    assert shown["dct"] > shown["leave"]
