"""Maps that hold: their limits, their noise, their claims."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError, Refused
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms import find, mechanism_named
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.privacy.gaussian import gaussian_delta, gaussian_sigma
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON, Trust
from eyelid.verification.families import mutants_of
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz
from eyelid.verification.sums import compare_sum, examine_sum

HOLDING = ["map-grid", "map-gaussian", "map-laplace"]
PAPER_CASE = MapFacts.of(50_000, 1, Grid.of_pixels(1680, 1050))
PAPER_DELTA = 50_000**-1.5


def variants(name):
    return [(name, number) for number, _ in enumerate(find(name).set_for_games())]


EVERY_VARIANT = [case for name in HOLDING for case in variants(name)]


def variant(name, number):
    return list(find(name).set_for_games())[number]


def counts_of(*people):
    return PersonCounts.of_dense(np.array(people, dtype=float))


class TestGoldenNumbers:
    """THEORY, section 10: Liu's picture of 1050 × 1680 px, 50 000 people, m = 1, ε = 1.5."""

    def test_the_paper_gaussian(self):
        paper = mechanism_named("map-gaussian-paper", epsilon=1.5, delta=PAPER_DELTA)
        assert paper.cell_sd(PAPER_CASE) == pytest.approx(0.09917, abs=5e-6)

    def test_the_paper_laplacian(self):
        paper = mechanism_named("map-laplace-paper", epsilon=1.5)
        assert paper.cell_sd(PAPER_CASE) == pytest.approx(33.26, abs=0.01)

    def test_the_analytic_gaussian_when_everybody_may_look_everywhere(self):
        dense = mechanism_named("map-gaussian", epsilon=1.5, delta=PAPER_DELTA, samples=1680 * 1050)
        assert dense.cell_sd(PAPER_CASE) == pytest.approx(0.08538, abs=5e-6)

    def test_the_analytic_gaussian_with_thirty_looks_each(self):
        sparse = mechanism_named("map-gaussian", epsilon=1.5, delta=PAPER_DELTA, samples=30)
        assert sparse.cell_sd(PAPER_CASE) == pytest.approx(0.000498, abs=5e-7)

    def test_random_selection_with_replacement_of_as_many_as_there_are(self):
        claimed = mechanism_named("map-rs2", share=1.0).cost(PAPER_CASE, PERSON)
        assert claimed.delta == pytest.approx(0.632, abs=5e-4)
        assert not claimed.holds

    def test_random_selection_without_replacement_shows_its_share(self):
        claimed = mechanism_named("map-rs1", share=0.25).cost(PAPER_CASE, PERSON)
        assert claimed.delta == pytest.approx(0.25)
        assert not claimed.holds


class TestLimits:
    def test_everybody_has_the_same_mass_however_long_they_looked(self):
        grid = mechanism_named("map-grid", epsilon=1.0, clip=1.0)
        shape = MapFacts.of(3, 1, Grid(4, 1, 4, 1))
        limited = grid.limited(counts_of([1, 1, 0, 0], [50, 50, 0, 0], [0, 0, 0, 0]), shape)
        assert limited.tolist() == pytest.approx([0.5, 0.5, 0.5, 0.5])

    def test_somebody_who_stares_is_shortened_to_the_clip(self):
        grid = mechanism_named("map-grid", epsilon=1.0, clip=0.2)
        shape = MapFacts.of(2, 1, Grid(4, 1, 4, 1))
        limited = grid.limited(counts_of([9, 0, 0, 0], [0, 0, 3, 4]), shape)
        assert limited.tolist() == pytest.approx([0.2, 0.12, 0.16])

    def test_counts_are_scaled_to_the_samples_and_cut_at_the_cap(self):
        capped = mechanism_named("map-gaussian", epsilon=1.0, cap=2, samples=10)
        shape = MapFacts.of(2, 1, Grid(4, 1, 4, 1))
        limited = capped.limited(counts_of([16, 2, 2, 0], [1, 2, 3, 0]), shape)
        assert limited.tolist() == pytest.approx([2, 1, 1, 1, 2, 2])

    def test_layers_share_one_limit(self):
        grid = mechanism_named("map-grid", epsilon=1.0, clip=1.0)
        shape = MapFacts.of(2, 2, Grid(2, 1, 2, 1))
        limited = grid.limited(counts_of([1, 1, 1, 1], [0, 0, 0, 1]), shape)
        assert limited.tolist() == pytest.approx([0.25, 0.25, 0.25, 0.25, 1.0])

    @pytest.mark.parametrize(("name", "number"), EVERY_VARIANT)
    @given(data=st.data())
    @settings(max_examples=60, deadline=None)
    def test_no_two_people_are_farther_apart_than_declared(self, name, number, data):
        mechanism = variant(name, number)
        shape = MapFacts.of(1, 2, Grid(3, 2, 3, 2))
        value = st.one_of(
            st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 50), st.just(0.0)
        )
        person = st.lists(value, min_size=12, max_size=12)
        one, other = (np.array(data.draw(person)).reshape(2, 6, 1) for _ in range(2))
        difference = (mechanism.query(one, shape) - mechanism.query(other, shape)).reshape(1, -1)
        # Squared as whole numbers, so that nothing is lost in rounding.
        exact = [int(step) for step in difference.ravel()]
        if mechanism.name == "map-laplace":
            assert sum(map(abs, exact)) <= mechanism.sensitivity(shape, PERSON)
        else:
            assert math.isqrt(sum(e * e for e in exact)) <= mechanism.sensitivity(shape, PERSON)

    def test_the_sum_is_the_sum_of_each_alone(self):
        mechanism = mechanism_named("map-grid", epsilon=1.0)
        shape = MapFacts.of(200, 2, Grid(30, 20, 5, 4))
        rng = np.random.default_rng(3)
        dense = rng.poisson(0.3, (200, 40)).astype(float)
        alone = mechanism.query(dense.reshape(200, 2, 20, 1), shape).reshape(200, 40)
        assert np.array_equal(
            mechanism.total(PersonCounts.of_dense(dense), shape), alone.sum(axis=0)
        )


class TestPublicRules:
    def test_the_grid_follows_from_public_facts_alone(self):
        mechanism = mechanism_named("map-grid", epsilon=1.5, delta=1e-6)
        sizes = [mechanism.facts_of(n, 1, 1680, 1050, 40.0).grid for n in (20, 100, 1000, 10**6)]
        assert [(g.columns, g.rows) for g in sizes[:2]] == [(8, 5), (14, 9)]
        assert sizes[2].cells > 4 * sizes[1].cells
        # No finer than half of the point spread.
        assert min(sizes[3].cell_px) >= 19

    def test_more_layers_make_coarser_grids(self):
        mechanism = mechanism_named("map-grid", epsilon=1.5)
        one, many = (mechanism.facts_of(100, layers, 1680, 1050).grid for layers in (1, 25))
        assert many.cells < one.cells / 2

    def test_the_noise_is_that_of_the_formula(self):
        mechanism = mechanism_named("map-grid", epsilon=1.5, delta=1e-6, clip=0.2)
        facts = mechanism.facts_of(40, 1, 1680, 1050)
        assert mechanism.cell_sd(facts) == pytest.approx(
            math.sqrt(2) * 0.2 * gaussian_sigma(1.5, 1e-6) / 40, rel=1e-6
        )

    def test_laplace_noise_is_that_of_the_formula(self):
        mechanism = mechanism_named("map-laplace", epsilon=0.5, samples=30)
        facts = mechanism.facts_of(40, 1, 1680, 1050)
        assert mechanism.cell_sd(facts) == pytest.approx(math.sqrt(2) * 2 * 30 / 0.5 / 40, rel=1e-6)

    def test_the_default_delta_is_the_safer_one(self):
        mechanism = mechanism_named("map-grid", epsilon=1.0)
        assert mechanism.cost(mechanism.facts_of(40, 1, 800, 600), PERSON).delta == 1e-6
        assert mechanism.cost(mechanism.facts_of(50_000, 1, 800, 600), PERSON).delta == PAPER_DELTA

    @pytest.mark.parametrize("name", HOLDING)
    def test_the_claim_is_central_and_about_a_person(self, name):
        mechanism = mechanism_named(name, epsilon=1.0)
        claim = mechanism.cost(mechanism.facts_of(40, 3, 80, 60), PERSON)
        assert (claim.trust, str(claim.unit), claim.holds) == (Trust.CENTRAL, "person", True)
        assert claim.epsilon == 1.0
        if claim.mu is not None:
            assert gaussian_delta(1.0, claim.mu) <= claim.delta

    def test_a_private_choice_of_the_cap_has_no_mu(self):
        mechanism = mechanism_named("map-gaussian", epsilon=1.0, cap="private")
        claim = mechanism.cost(mechanism.facts_of(40, 1, 80, 60), PERSON)
        assert claim.mu is None
        assert all(each.epsilon == pytest.approx(0.9) for each in mechanism.candidates())


class TestMeasuring:
    def test_many_people_give_their_mean(self):
        mechanism = mechanism_named("map-grid", epsilon=8.0, clip=1.0, grid="3x2")
        facts = mechanism.facts_of(100_000, 1, 30, 20)
        person = np.arange(100_000)
        counts = PersonCounts.added_up(100_000, 6, person, person % 3)
        cells = mechanism.measure(counts, facts, randomness(1))
        wanted = np.array([[[1 / 3, 1 / 3, 1 / 3], [0, 0, 0]]])
        assert cells.shape == (1, 2, 3)
        assert np.abs(cells - wanted).max() < 6 * mechanism.cell_sd(facts)

    def test_the_spread_of_the_noise_is_the_one_that_is_told(self):
        mechanism = mechanism_named("map-laplace", epsilon=1.0, samples=5, grid="100x100")
        facts = mechanism.facts_of(30, 1, 100, 100)
        empty = PersonCounts.of_dense(np.zeros((30, 10_000)))
        cells = mechanism.measure(empty, facts, randomness(2))
        # The variance of Laplace noise is known from 10 000 draws to 2.2%: five of these.
        assert cells.std() == pytest.approx(mechanism.cell_sd(facts), rel=0.056)

    def test_counts_of_other_people_or_cells_are_refused(self):
        mechanism = mechanism_named("map-grid", epsilon=1.0, grid="2x2")
        shape = mechanism.facts_of(3, 1, 10, 10)
        with pytest.raises(InputError, match="do not fit"):
            mechanism.measure(counts_of([1, 0, 0, 0], [0, 1, 0, 0]), shape, randomness(0))

    def test_a_choice_that_is_certain_is_played_all_the_same(self):
        mechanism = mechanism_named(
            "map-gaussian", epsilon=500.0, delta=1e-3, cap="private", samples=4
        )
        pair = next(mechanism.neighbour_pairs(PERSON))
        outputs = mechanism.play(pair.one, pair.facts, 10, randomness(0))
        assert outputs.shape == (10, 9)
        assert np.isfinite(mechanism.score(outputs, pair)).all()

    def test_a_private_cap_is_settled_with_what_is_left(self):
        mechanism = mechanism_named(
            "map-gaussian", epsilon=40.0, cap="private", samples=64, grid="4x4"
        )
        shape = mechanism.facts_of(2000, 1, 40, 40)
        # Everybody stares at one cell: with next to no noise only a large cap is right.
        counts = PersonCounts.added_up(
            2000, 16, np.repeat(np.arange(2000), 64), np.zeros(128_000, int)
        )
        settled = [mechanism.settled(counts, shape, randomness(seed)) for seed in range(20)]
        assert {each.cap for each in settled} == {64}
        assert {each.epsilon for each in settled} == {36.0}


class TestParts:
    """Sums of some people, and of the others, come to those of all of them, to the last bit."""

    def crowd(self, people, cells=12):
        rng = np.random.default_rng(5)
        weights = rng.exponential(2.0, (people, cells)) * (rng.random((people, cells)) < 0.4)
        weights[0], weights[1] = 1e9, 0.0
        return weights

    @pytest.mark.parametrize("name", HOLDING)
    def test_parts_add_up_however_people_are_cut(self, name):
        mechanism = mechanism_named(name, epsilon=1.3, grid="4x3")
        shape, crowd = mechanism.facts_of(90, 1, 40, 30), self.crowd(90)
        whole = mechanism.total(PersonCounts.of_dense(crowd), shape)
        for edges in ([1, 2, 50], [7], [30, 60]):
            parts = [
                mechanism.part(PersonCounts.of_dense(some), shape)
                for some in np.split(crowd, edges)
            ]
            np.testing.assert_array_equal(sum(parts), whole)
        assert whole.dtype == np.int64

    def test_what_caps_cut_off_adds_up_however_people_are_cut(self):
        mechanism = mechanism_named(
            "map-laplace", epsilon=1.3, cap="private", samples=20, grid="4x3"
        )
        shape, crowd = mechanism.facts_of(90, 1, 40, 30), self.crowd(90)
        whole = mechanism.cuts(PersonCounts.of_dense(crowd), shape)
        parts = [
            mechanism.cuts(PersonCounts.of_dense(some), shape) for some in np.split(crowd, [5, 60])
        ]
        np.testing.assert_array_equal(sum(parts), whole)
        assert whole.any()

    @pytest.mark.parametrize("people", [90, 10**7, 10**12])
    def test_nobody_s_tail_is_longer_in_whole_parts(self, people):
        mechanism = mechanism_named(
            "map-laplace", epsilon=1.3, cap="private", samples=20, grid="4x3"
        )
        shape, crowd = MapFacts.of(people, 1, Grid(40, 30, 4, 3)), self.crowd(90)
        scaled = np.zeros((90, 12))
        counts = PersonCounts.of_dense(crowd)
        scaled[counts.person, counts.cell] = mechanism.scaled(counts)
        parts = 2.0 ** min(20, 60 - (people * 20).bit_length())
        for person, row in enumerate(crowd):
            found = mechanism.cuts(PersonCounts.of_dense(row[None]), shape)
            for cells, cap in zip(found, [1, 2, 4, 8, 16], strict=True):
                tail = np.maximum(scaled[person] - cap, 0.0)
                assert (cells >= 0).all()
                assert (cells / parts <= tail).all()
                assert (tail - cells / parts < 1 / parts).all()

    def test_costs_of_caps_are_the_error_that_they_make(self):
        mechanism = mechanism_named(
            "map-laplace", epsilon=1.3, cap="private", samples=20, grid="4x3"
        )
        facts, crowd = mechanism.facts_of(90, 1, 40, 30), self.crowd(90)
        scaled = crowd * np.minimum(1.0, 20 / np.maximum(crowd.sum(axis=1), 1.0))[:, None]
        step = 2 * math.sqrt(2) * 20 / (0.13 * 2**36)
        wanted = [
            math.hypot(
                np.linalg.norm(np.maximum(scaled - each.cap, 0.0).sum(axis=0)),
                each.cell_sd(facts) * 90 * math.sqrt(12),
            )
            / step
            for each in mechanism.candidates()
        ]
        found = mechanism.costs_of(PersonCounts.of_dense(crowd), facts)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


class TestEntries:
    def test_counts_with_an_entry_twice_are_refused(self):
        mechanism = mechanism_named("map-gaussian", epsilon=1.0, grid="2x2")
        twice = PersonCounts(2, 4, np.zeros(3, int), np.array([1, 1, 2]), np.ones(3))
        with pytest.raises(InputError, match="twice or out of order"):
            mechanism.measure(twice, mechanism.facts_of(2, 1, 10, 10), randomness(0))

    def test_people_out_of_order_are_refused(self):
        mechanism = mechanism_named("map-grid", epsilon=1.0, grid="2x2")
        mixed = PersonCounts(2, 4, np.array([1, 0]), np.array([1, 2]), np.ones(2))
        with pytest.raises(InputError, match="twice or out of order"):
            mechanism.measure(mixed, mechanism.facts_of(2, 1, 10, 10), randomness(0))

    @pytest.mark.parametrize("name", HOLDING)
    def test_norms_do_not_grow_however_many_cells_somebody_has(self, name):
        """Sums of many weights in floating point may be short; what they limit may then be long."""
        side = 1024
        mechanism = mechanism_named(
            name, epsilon=8.00006, **({} if name == "map-grid" else {"samples": 1000})
        )
        shape = MapFacts.of(1, 1, Grid.of_pixels(side, side))
        weights = np.random.default_rng(1).random((1, side * side)) + 1e-3
        steps = [int(s) for s in mechanism.integers(PersonCounts.of_dense(weights), shape)]
        half = mechanism.sensitivity(shape, PERSON)
        if name == "map-laplace":
            assert 2 * sum(steps) <= half
        else:
            assert 2 * sum(s * s for s in steps) <= half**2


class TestClaims:
    @pytest.mark.parametrize(("name", "number"), EVERY_VARIANT)
    def test_games_do_not_refute_them(self, name, number):
        result = play(variant(name, number), PERSON, 10_000, randomness(4))
        assert not result.refuted
        assert result.lower_bound > 0.2 * result.claimed

    @pytest.mark.parametrize(("name", "number"), EVERY_VARIANT)
    def test_the_fuzz_reaches_and_never_exceeds_the_declaration(self, name, number):
        result = fuzz(variant(name, number), PERSON, 1024)
        assert not result.refuted
        assert result.reached > 0.999

    @pytest.mark.parametrize("name", HOLDING)
    def test_noise_is_fresh_and_whole_and_nothing_else_is_shown(self, name):
        mechanism = variant(name, 0)
        assert not examine_sum(mechanism, randomness(5)).refuted
        assert not compare_sum(mechanism).refuted

    @pytest.mark.parametrize("name", HOLDING)
    def test_planted_faults_are_caught(self, name):
        faults = list(mutants_of(find(name)))
        hard = ("scale × 0.85", "one person's part, not two", "each picture limited alone")
        runs = dict.fromkeys(hard, 20_000)
        missed = [f.name for f in faults if not f.caught(runs.get(f.name, 2_000), randomness(6))]
        assert len(faults) >= 12
        assert not missed


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "parameters", "message"),
        [
            ("map-grid", {"grid": "0x4"}, "grid must be"),
            ("map-grid", {"grid": "fine"}, "grid must be"),
            ("map-grid", {"clip": 0.0}, "clip must be above 0"),
            ("map-grid", {"clip": 1.5}, "clip must be above 0"),
            ("map-grid", {"clip": "much"}, "clip must be"),
            ("map-gaussian", {"cap": 0}, "cap must be at least 1"),
            ("map-gaussian", {"cap": "paper"}, "cap must be a number or private"),
            ("map-gaussian", {"samples": 0}, "samples must be at least 1"),
            ("map-gaussian", {"delta": 0.0}, "delta must be above 0"),
            ("map-gaussian-paper", {"cap": "none"}, "needs a cap"),
            ("map-rs1", {"share": 0.0}, "share must be"),
            ("map-laplace", {"epsilon": -1.0}, "epsilon must be positive"),
        ],
    )
    def test_it_is_told_what_is_wrong(self, name, parameters, message):
        with pytest.raises(InputError, match=message):
            mechanism_named(name, **{"epsilon": 1.0, **parameters})

    def test_one_observer_is_refused(self):
        with pytest.raises(InputError, match="at least 2 people"):
            mechanism_named("map-grid", epsilon=1.0).facts_of(1, 1, 100, 100)

    def test_a_grid_finer_than_the_picture_is_refused(self):
        with pytest.raises(InputError, match="between 1 and the picture's 100 px"):
            mechanism_named("map-grid", epsilon=1.0, grid="200x10").facts_of(9, 1, 100, 100)

    def test_other_units_are_refused(self):
        with pytest.raises(Refused, match="does not offer the unit"):
            mechanism_named("map-grid", epsilon=1.0, unit="recording")

    def test_more_people_than_numbers_are_refused(self):
        mechanism = mechanism_named("map-laplace", epsilon=1e6, grid="2x2")
        facts = MapFacts.of(10**9, 1, Grid(2, 2, 2, 2))
        with pytest.raises(InputError, match="choose a smaller ε"):
            mechanism.check_room(facts)
