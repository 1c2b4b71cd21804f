"""Distinguishing games with many runs against the whole catalogue, and every planted fault."""

from __future__ import annotations

from eyelid.verification.game import GameResult
from eyelid.verification.verify import verify
from proofs.result import Effort, Result


def prove(effort: Effort) -> Result:
    """Nothing refuted, nothing missed."""
    found = verify(runs=effort.runs)
    # Of those that say themselves that they do not hold nothing is claimed, and what is claimed of
    # groups is true or not: there is no share of it.
    claims = [game for game in found.games if game.holds and game.claimed > 0]
    tightest = max(claims, key=lambda game: game.lower_bound / game.claimed)
    loosest = min(claims, key=lambda game: game.lower_bound / game.claimed)
    figures = {
        "runs_per_side": effort.runs,
        "games": len(found.games),
        "tightest": _told(tightest),
        "loosest": _told(loosest),
        "digits_worst": max(game.lower_bound / game.claimed for game in found.digits),
        "sensitivity_reached": [
            min(fuzz.reached for fuzz in found.fuzzes),
            max(fuzz.reached for fuzz in found.fuzzes),
        ],
        "planted": len(found.planted),
        "caught": sum(planted.caught for planted in found.planted),
        "refuted": found.refuted,
        "missed": found.missed,
    }
    return Result(figures, "nothing refuted, every planted fault caught", found.passed)


def _told(game: GameResult) -> dict[str, object]:
    return {
        "of_claim": game.lower_bound / game.claimed,
        "mechanism": game.mechanism,
        "calibrated_for": game.calibrated_for,
        "unit": game.unit,
        "measure": game.measure,
        "claimed": game.claimed,
        "certified": game.lower_bound,
    }
