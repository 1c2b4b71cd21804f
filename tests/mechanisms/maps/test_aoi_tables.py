"""Tables of areas of interest: their limits, their noise, their claims, and how they are shown."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError, Refused
from eyelid.gaze.areas import Area
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_points import GazePoints, gaze_points_of
from eyelid.io import read
from eyelid.mechanisms import find, mechanism_named
from eyelid.mechanisms.maps.aoi_tables import TABLES
from eyelid.privacy.gaussian import gaussian_sigma
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON, Trust
from eyelid.verification.game import play
from eyelid.verification.sensitivity import fuzz
from eyelid.verification.sums import table_mutants

VARIANTS = list(find("aoi-tables").set_for_games())
LEFT = Area("left", [[0, 0], [10, 0], [10, 10], [0, 10]])
RIGHT = Area("right", [[10, 0], [20, 0], [20, 10], [10, 10]])
AREAS = (LEFT, RIGHT)
ALL = ",".join(TABLES)


def law_of(tables=ALL, epsilon=1.0, **parameters):
    return mechanism_named("aoi-tables", epsilon=epsilon, tables=tables, **parameters)


def looks_at(*people, layers=("page",)):
    """Each person a string of looks for each layer: l, r, or anything else for elsewhere."""
    place = {"l": 5.0, "r": 15.0}
    rows = [
        (person, layer, place.get(look, 25.0))
        for person, told in enumerate(people)
        for layer, points in enumerate([told] if isinstance(told, str) else told)
        for look in points
    ]
    person, layer, x_px = np.array(rows, dtype=float).reshape(-1, 3).T
    return GazePoints(
        people=tuple(str(n) for n in range(len(people))),
        layers=layers,
        width_px=30,
        height_px=10,
        person=person.astype(np.int64),
        layer=layer.astype(np.int64),
        x_px=x_px,
        y_px=np.full(x_px.size, 5.0),
        weight=np.ones(x_px.size),
    )


def released(mechanism, points, seed=1):
    shape = mechanism.facts_of(len(points.people), len(points.layers), len(AREAS))
    measured = mechanism.measure(mechanism.tables_of(points, AREAS), shape, randomness(seed))
    return mechanism.presented(measured, shape, points.layers, [area.name for area in AREAS])


class TestWhatIsShown:
    def test_next_to_no_noise_gives_the_means_over_people(self):
        points = looks_at("lllr", "l.l.", "", "rrrr")
        shown = released(law_of(epsilon=1e6), points)
        means = {
            (row["table"], row["area"], row["to_area"], row["rank"]): row["measured"]
            for row in shown.to_dicts()
        }
        assert means == pytest.approx(
            {
                ("dwell", "left", None, None): (0.75 + 0.5) / 4,
                ("dwell", "right", None, None): (0.25 + 1.0) / 4,
                ("dwell", "elsewhere", None, None): 0.5 / 4,
                ("visits", "left", None, None): 3 / 4,
                ("visits", "right", None, None): 2 / 4,
                ("transitions", "left", "left", None): 1 / 4,
                ("transitions", "left", "right", None): 1 / 4,
                ("transitions", "right", "left", None): 0.0,
                ("transitions", "right", "right", None): 0.0,
                ("order", "left", None, 1): 2 / 4,
                ("order", "left", None, 2): 0.0,
                ("order", "right", None, 1): 1 / 4,
                ("order", "right", None, 2): 1 / 4,
            },
            abs=1e-3,
        )

    def test_dwell_adds_up_to_one_and_nothing_is_negative(self):
        shown = released(law_of(epsilon=0.5), looks_at(["lr", "l"], ["r", ""], layers=("a", "b")))
        assert shown["value"].min() >= 0
        assert shown["measured"].min() < 0
        assert shown.filter(pl.col("table") == "dwell")["value"].sum() == pytest.approx(1)
        assert shown.filter(pl.col("table") == "order")["value"].max() <= 1

    def test_where_nothing_is_left_dwell_is_zero(self):
        mechanism = law_of("dwell")
        shape = mechanism.facts_of(5, 1, 2)
        shown = mechanism.presented(np.full((1, 3), -0.1), shape, ["page"], ["left", "right"])
        assert shown["value"].to_list() == [0, 0, 0]
        assert shown["measured"].to_list() == [-0.1] * 3

    def test_the_interval_holds_the_mean_without_noise_as_often_as_is_said(self):
        """94 of 100 draws: of 400 fewer than 350 with a chance of 1e-6; the seeds are fixed."""
        mechanism, points = law_of("dwell", epsilon=2.0), looks_at("lllr", "l.l.", "", "rrrr")
        truth = np.array([1.25, 1.25, 0.5]) / 4
        drawn = [released(mechanism, points, seed) for seed in range(400)]
        ends = np.array([each.select("lower", "upper").to_numpy().T for each in drawn])
        held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        assert np.mean(held, axis=0).min() > 350 / 400
        assert min(each["lower"].min() for each in drawn) == 0.0
        assert max(each["upper"].max() for each in drawn) == 1.0

    def test_what_was_measured_is_left_as_it_was(self):
        mechanism = law_of(epsilon=0.5)
        points = looks_at("lr", "r")
        shape = mechanism.facts_of(2, 1, 2)
        measured = mechanism.measure(mechanism.tables_of(points, AREAS), shape, randomness(1))
        before = measured.copy()
        shown = mechanism.presented(measured, shape, points.layers, ["left", "right"])
        assert np.array_equal(measured, before)
        assert np.array_equal(shown["measured"].to_numpy(), before.ravel())

    def test_tables_come_in_the_order_asked_for(self):
        shown = released(law_of("order, dwell"), looks_at("l", "r", layers=("page",)))
        assert shown["table"].unique(maintain_order=True).to_list() == ["order", "dwell"]

    def test_each_layer_has_its_own_rows(self):
        points = looks_at(["l", "r"], ["l", "r"], layers=("a", "b"))
        shown = released(law_of("visits", epsilon=1e6), points)
        assert shown.select("layer", "area").rows() == [
            ("a", "left"),
            ("a", "right"),
            ("b", "left"),
            ("b", "right"),
        ]
        assert shown["measured"].to_list() == pytest.approx([1, 0, 0, 1], abs=1e-3)


class TestLimits:
    @pytest.mark.parametrize(
        ("layers", "areas", "reaches"),
        [
            # One area has one cell, which a person fills or leaves: M, not 2M.
            (1, 1, {"dwell": 2, "visits": 6, "transitions": 5, "order": 1}),
            (1, 2, {"dwell": 2, "visits": 12, "transitions": 10, "order": 4}),
            (1, 9, {"dwell": 2, "visits": 12, "transitions": 10, "order": 6}),
            # Six visits to each of four pictures count.
            (4, 9, {"dwell": 2, "visits": 48, "transitions": 40, "order": 24}),
        ],
    )
    def test_the_reach_of_each_table(self, layers, areas, reaches):
        mechanism = law_of()
        facts = mechanism.facts_of(10, layers, areas)
        assert {each.table: each.reach for each in mechanism.limits(facts)} == reaches

    def test_a_table_too_full_is_scaled_down_and_others_are_left_alone(self):
        mechanism = law_of("dwell,visits", visits=4)
        shape = mechanism.facts_of(2, 1, 2)
        dense = np.array([[0.5, 0.0, 0.5, 6.0, 6.0], [8.0, 0.0, 0.0, 1.0, 0.0]])
        limited = mechanism.limited(PersonCounts.of_dense(dense), shape)
        # In shares of the reach, 2 for dwell and 8 for visits.
        assert limited.tolist() == pytest.approx([0.25, 0.25, 0.25, 0.25, 0.5, 0.125])

    @pytest.mark.parametrize("number", range(len(VARIANTS)))
    @given(data=st.data())
    @settings(max_examples=60)
    def test_no_two_people_are_farther_apart_than_declared(self, number, data):
        mechanism = VARIANTS[number]
        layers, areas = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
        facts = mechanism.facts_of(2, layers, areas)
        cells = layers * facts.length
        value = st.one_of(
            st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 50), st.just(0.0)
        )
        person = st.lists(value, min_size=cells, max_size=cells)
        one, other = (
            np.array(data.draw(person)).reshape(layers, facts.length, 1) for _ in range(2)
        )
        difference = (mechanism.query(one, facts) - mechanism.query(other, facts)).ravel()
        assert sum(abs(int(step)) for step in difference) <= mechanism.sensitivity(facts, PERSON)

    @given(
        one=st.tuples(st.text("lr.", max_size=30), st.text("lr.", max_size=30)),
        other=st.tuples(st.text("lr.", max_size=30), st.text("lr.", max_size=30)),
    )
    def test_real_walks_stay_within_the_limits_without_being_cut(self, one, other):
        mechanism = law_of(visits=5)
        points = looks_at(one, other, layers=("a", "b"))
        facts = mechanism.facts_of(2, 2, 2)
        counts = mechanism.tables_of(points, AREAS)
        limits = mechanism.limits(facts)
        reach = np.repeat([each.reach for each in limits], [each.cells for each in limits])
        alone = counts.dense / np.tile(reach, 2)
        limited = PersonCounts(
            counts.people,
            counts.cells,
            counts.person,
            counts.cell,
            mechanism.limited(counts, facts),
        ).dense
        assert np.allclose(limited, alone)
        assert np.abs(alone[0] - alone[1]).sum() <= len(TABLES) + 1e-9

    def test_the_sum_is_the_sum_of_each_alone(self):
        mechanism = law_of()
        facts = mechanism.facts_of(200, 2, 3)
        dense = np.random.default_rng(3).poisson(0.3, (200, 2 * facts.length)).astype(float)
        alone = mechanism.query(dense.reshape(200, 2, -1, 1), facts).reshape(200, -1)
        assert np.array_equal(
            mechanism.total(PersonCounts.of_dense(dense), facts), alone.sum(axis=0)
        )


class TestNoise:
    @pytest.mark.parametrize("tables", ["dwell", "dwell,visits", ALL])
    def test_it_is_that_of_the_formula(self, tables):
        mechanism = law_of(tables, epsilon=0.8)
        facts = mechanism.facts_of(40, 2, 3)
        start = 0
        for each in mechanism.limits(facts):
            wanted = math.sqrt(2) * each.reach * len(mechanism.names) / 0.8 / 40
            own = mechanism.cell_sd(facts)[:, start : start + each.cells]
            assert own == pytest.approx(np.full((2, each.cells), wanted), rel=1e-6)
            start += each.cells

    def test_it_is_what_is_drawn(self):
        # 4000 draws a cell, of which the variance has a relative error of √(5/4000) = 3.5%: five
        # of these in 26 cells fail once in some 60 000 times.
        mechanism = law_of()
        points = looks_at("lr.l", "rr", "l")
        facts = mechanism.facts_of(3, 1, 2)
        counts, noise = mechanism.tables_of(points, AREAS), randomness(7)
        draws = np.stack([mechanism.measure(counts, facts, noise) for _ in range(4000)])
        assert draws.var(axis=0) == pytest.approx(mechanism.cell_sd(facts) ** 2, rel=0.18)

    @pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
    @pytest.mark.parametrize("tables", [1, 2, 3, 4])
    def test_it_is_less_than_that_of_the_analytic_gaussian(self, epsilon, tables):
        # Tables that people can move by Δ₁ in two cells, by Δ₁/√2 in L2, and T of them by √T that.
        laplace = math.sqrt(2) * 2 * tables / epsilon
        gaussian = gaussian_sigma(epsilon, 1e-6, math.sqrt(2) * math.sqrt(tables))
        assert laplace < gaussian
        if tables <= 3:
            mechanism = law_of(",".join(TABLES[:tables]), epsilon=epsilon)
            facts = mechanism.facts_of(40, 1, 5)
            assert mechanism.cell_sd(facts)[0, 0] == pytest.approx(laplace / 40, rel=1e-6)

    def test_but_not_for_an_order_of_many_ranks_beside_three_tables(self):
        mechanism = law_of(ranks=5, visits=6)
        own = mechanism.cell_sd(mechanism.facts_of(1000, 1, 5))[0, -1] * 1000
        assert own > gaussian_sigma(1.0, 1e-6, math.sqrt(2 * 5) * math.sqrt(4))
        alone = law_of("order", ranks=4)
        own = alone.cell_sd(alone.facts_of(1000, 1, 5))[0, -1] * 1000
        assert own < gaussian_sigma(1.0, 1e-6, math.sqrt(2 * 4))


class TestClaims:
    @pytest.mark.parametrize("mechanism", VARIANTS, ids=lambda mechanism: mechanism.tables)
    def test_games_certify_most_of_the_claim_and_no_more(self, mechanism):
        # A true claim is refuted once in a million games.
        result = play(mechanism, PERSON, 20_000, randomness(1))
        assert result.lower_bound <= result.claimed
        # Four tables seldom lose all of their shares at once, so that less can be certified.
        least = 0.8 if len(mechanism.names) == 1 else 0.6
        assert result.lower_bound > least * result.claimed

    @pytest.mark.parametrize("mechanism", VARIANTS, ids=lambda mechanism: mechanism.tables)
    def test_the_fuzz_reaches_what_is_declared_and_no_more(self, mechanism):
        result = fuzz(mechanism, PERSON, 2048)
        assert not result.refuted
        assert result.reached > 0.999

    @pytest.mark.parametrize("fault", list(table_mutants(VARIANTS)), ids=lambda fault: fault.name)
    def test_planted_faults_are_caught(self, fault):
        assert fault.caught(20_000, randomness(3))

    def test_the_cost_is_pure_central_and_of_a_person(self):
        mechanism = law_of(epsilon=0.7)
        told = mechanism.cost(mechanism.facts_of(40, 3, 5), PERSON)
        assert (told.epsilon, told.delta, told.trust, told.holds) == (0.7, 0.0, Trust.CENTRAL, True)
        assert "ε/4 for each" in mechanism.person_total(mechanism.facts_of(40, 3, 5))

    def test_words_name_what_is_public(self):
        mechanism = law_of()
        facts = mechanism.facts_of(40, 1, 5)
        said = " ".join(mechanism.unprotected(facts))
        assert "number of people (40)" in said
        assert "5 areas of interest" in said
        assert "discrete Laplace" in mechanism.sampler(facts)
        assert "(transitions)" in mechanism.sampler(facts)


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "said"),
        [
            ({"tables": "dwel"}, "unknown table 'dwel': did you mean 'dwell'"),
            ({"tables": ""}, "unknown table ''"),
            ({"tables": "dwell,dwell"}, "each table can be asked for once"),
            ({"visits": 1}, "visits must be at least 2 for transitions, got 1"),
            ({"tables": "visits", "visits": 0}, "visits must be at least 1, got 0"),
            ({"ranks": 0}, "ranks must be at least 1, got 0"),
        ],
    )
    def test_parameters_are_checked(self, parameters, said):
        with pytest.raises(InputError, match=said):
            law_of(**parameters)

    def test_one_person_is_refused(self):
        with pytest.raises(InputError, match="at least 2 people"):
            law_of().facts_of(1, 1, 3)

    def test_other_units_are_refused(self):
        with pytest.raises(Refused, match="does not offer the unit 'recording'"):
            law_of(unit="recording")

    def test_counts_of_another_shape_are_refused(self):
        mechanism = law_of("dwell")
        counts = mechanism.tables_of(looks_at("l", "r"), AREAS)
        with pytest.raises(InputError, match="counts of 2 people in 3 cells do not fit 3 people"):
            mechanism.measure(counts, mechanism.facts_of(3, 1, 2), randomness(1))

    def test_an_epsilon_beyond_numbers_is_refused(self):
        mechanism = law_of("dwell", epsilon=1e9)
        with pytest.raises(InputError, match="choose a smaller ε"):
            mechanism.measure(
                mechanism.tables_of(looks_at("l", "r"), AREAS),
                mechanism.facts_of(2, 1, 2),
                randomness(1),
            )


def test_real_people_look_at_the_middle_of_a_picture(real_data):
    study = read(real_data / "OSIE")
    first = study.data["stimulus"][0]
    points = gaze_points_of(study, width_px=800, height_px=600, stimuli=[first])
    middle = Area("middle", [[200, 150], [600, 150], [600, 450], [200, 450]])
    mechanism = law_of("dwell,visits", epsilon=1e5)
    shape = mechanism.facts_of(len(points.people), 1, 1)
    measured = mechanism.measure(mechanism.tables_of(points, [middle]), shape, randomness(1))
    shown = mechanism.presented(measured, shape, points.layers, ["middle"])
    inside = (np.abs(points.x_px - 400) < 200) & (np.abs(points.y_px - 300) < 150)
    shares = [inside[points.person == n].mean() for n in range(len(points.people))]
    assert shown["measured"][0] == pytest.approx(np.mean(shares), abs=0.01)
    # A quarter of the picture has more than a quarter of the looks.
    assert shown["value"][0] > 0.3
