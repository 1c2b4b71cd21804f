"""`synthetic` in one run: what many canaries certify of its ε, from noisy answers and from rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.attacks.one_run import OneRun, one_run
from eyelid.attacks.override import override
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import SystemRandomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.canaries import ALPHA, CanaryRun, play_canaries
from eyelid.verification.synthetic import each_row_a_person
from proofs.result import Effort, Result, progress

CANARIES = 1_000
EPSILONS = (1.0, 2.0, 4.0, 8.0)
# The row-level mutant has to be refuted where so many canaries can refute anything.
REFUTABLE = (1.0, 2.0)
REPEATS = 5
ROWS = 32
# Synthetic participants of each team: enough to read its share of high values off them.
OF_A_TEAM = 100


def prove(effort: Effort) -> Result:
    """Bounds below the claims of the sound one; claims of one that counts rows refuted."""
    answers, rows, faulty, faulty_rows = {}, {}, {}, {}
    refuted, missed = [], []
    for epsilon in EPSILONS:
        mechanism = Synthetic(epsilon=epsilon, records=ROWS)
        broken = override(mechanism, each_row_a_person())
        progress(f"  {CANARIES} canaries at ε = {epsilon:g} …")
        runs = [_by_answers(mechanism) for _ in range(REPEATS)]
        of_rows = [_by_rows(mechanism, mechanism) for _ in range(REPEATS)]
        answers[epsilon] = float(np.median([found.lower_bound for found in runs]))
        rows[epsilon] = float(np.median([found.lower_bound for found in of_rows]))
        if any(found.refuted for found in (*runs, *of_rows)):
            refuted.append(epsilon)
        caught = _by_answers(broken, mechanism), _by_rows(broken, mechanism)
        faulty[epsilon], faulty_rows[epsilon] = (found.lower_bound for found in caught)
        if epsilon in REFUTABLE and not all(found.refuted for found in caught):
            missed.append(epsilon)
    figures = {
        "canaries": CANARIES,
        "runs_of_each": REPEATS,
        "confidence": 1 - ALPHA,
        "certified_from_answers": answers,
        "certified_from_released_rows": rows,
        "row_level_from_answers": faulty,
        "row_level_from_released_rows": faulty_rows,
        "refuted": refuted,
        "missed": missed,
    }
    told = "no sound claim refuted, a row's ε sold as a person's caught, also from rows alone"
    return Result(figures, told, not refuted and not missed)


def _by_answers(mechanism: Synthetic, declared: Synthetic | None = None) -> OneRun:
    found: CanaryRun = play_canaries(mechanism, SystemRandomness(), CANARIES, declared)
    return found.run


def _by_rows(mechanism: Synthetic, declared: Synthetic) -> OneRun:
    """Each canary in a public team with a participant who stays the same, guessed from rows alone.

    The coin takes one bound or the other. Of its team's synthetic participants the attacker sees
    how many are high and how many low.
    """
    rng = np.random.default_rng()
    coins = rng.random(CANARIES) < 0.5
    values = np.full((2 * CANARIES, 1, 1, 1), 0.1)
    values[::2, 0, 0, 0] = coins
    table = table_from_arrays(values, [Feature("canary", "", "made up", 0.0, 1.0)])
    team = pl.Series("team", np.repeat(np.arange(CANARIES), 2)).cast(pl.String).str.zfill(6)
    table = replace(table, people=table.people.with_columns(team))
    settings = {"by": "team", "carry": 1, "rows": 1, "made_up": OF_A_TEAM * CANARIES}
    released = replace(mechanism, **settings).apply(table, SystemRandomness())
    place = np.cbrt(released.data["canary"].to_numpy())
    # The other in a team is in the middle, in the cube root.
    side = np.where(place > 0.73, 1.0, np.where(place < 0.2, -1.0, 0.0))
    named = released.data.select("person").join(
        released.people, on="person", how="left", maintain_order="left"
    )
    number = named["team"].cast(pl.Int64).to_numpy()
    scores = np.bincount(number, weights=side, minlength=CANARIES)
    scores += 1e-6 * rng.normal(size=CANARIES)
    claiming = replace(declared, **settings)
    claim = claiming.cost(claiming.facts(table), PERSON)
    return one_run(scores, coins, claim, ALPHA)
