"""The whole story on made-up people: the data, what they give away, releases, attacks, a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from eyelid.audits.identification import identify, recognise_task, strongest
from eyelid.audits.verify import Verification, verify
from eyelid.engine.atomic import new_folder
from eyelid.engine.progress import track
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.study_folder import write
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.releases.release import Release, release
from eyelid.releases.spending import Budget, budget

# Mechanism, ε, unit: from the strongest promise to the weakest.
_RELEASES = (
    ("gaussian", 1.0, "person"),
    ("laplace", 1.0, "person"),
    ("gaussian", 1.0, "recording"),
    ("gaussian", 16.0, "record"),
    ("gaussian", 64.0, "record"),
    ("laplace", 256.0, "record"),
)
_TASKS = ("comic", "newspaper", "textbook")
_STUDY_SEED = 1
_PEOPLE = 20
_FAST_PEOPLE = 8


@dataclass(frozen=True)
class Attempt:
    """One way of handing the data over, and what came of it.

    Attributes:
        name: for people.
        unit: whose value the mechanism was asked to hide; empty for the raw data.
        person_level: a person's total, in words.
        bound: of being named, or None.
        identified: share of people named by the stronger attacker.
        identified_low: lower limit, over people.
        identified_high: upper limit, over people.
        forest: share named by the forest alone.
        document: share of windows whose document is recognised.
        release: what was released; None for the raw data.
    """

    name: str
    unit: str
    person_level: str
    bound: float | None
    identified: float
    identified_low: float
    identified_high: float
    forest: float
    document: float
    release: Release | None


@dataclass(frozen=True, eq=False)
class Story:
    """Everything the demo found out."""

    study: Study
    features: FeatureTable
    attempts: tuple[Attempt, ...]
    verification: Verification
    spent: Budget
    fast: bool

    @property
    def verdict(self) -> str:
        """The story in three sentences."""
        raw, *others = self.attempts
        people = self.features.data["person"].n_unique()
        strong, weak = others[0], others[-1]
        return (
            f"As they are, the features name {raw.identified:.0%} of {people} people from another "
            f"recording (guessing: {1 / people:.0%}). Protected for the whole person at ε = 1, "
            "whoever judges one person at a time is right at most "
            f"{rounded_up(100 * (strong.bound or 1.0), 3)}% of the time (measured: "
            f"{strong.identified:.0%}, limits {strong.identified_low:.0%}–"
            f"{strong.identified_high:.0%}), and the features carry almost nothing else either. "
            "Noise that only hides single rows keeps the document recognisable "
            f"({weak.document:.0%}) and the people too: averaged over a recording, "
            f"{weak.identified:.0%} of them are named."
        )


def demo(out: Path, fast: bool = False, tell: Callable[[str], None] = lambda _: None) -> Story:
    """Make the study, release it in several ways, attack each, and write the report.

    Args:
        out: a new folder for everything.
        fast: fewer people and fewer runs of the games.
        tell: hears what is going on.
    """
    from eyelid.releases.report import report

    with new_folder(out) as folder:
        tell("Simulating people who read …")
        people = _FAST_PEOPLE if fast else _PEOPLE
        made = simulate(people=people, tasks=_TASKS, seed=_STUDY_SEED, minutes=3 if fast else 5)
        study = write(made, folder / "study")
        tell("Summarising their gaze in windows …")
        table = window_features(study)
        write(table.study(), folder / "features")
        attempts = [_attempt("raw features, as people publish them today", table, table, None)]
        for mechanism, epsilon, unit in track(_RELEASES, "releasing and attacking"):
            name = f"{mechanism}, {unit}, ε = {epsilon:g}"
            tell(f"Releasing and attacking: {name} …")
            done = release(
                folder / "features",
                folder / "releases" / f"{mechanism}-{unit}-{epsilon:g}",
                mechanism=mechanism,
                epsilon=epsilon,
                unit=unit,
            )
            attempts.append(_attempt(name, table, done.table, done))
        tell("Trying to refute the mechanisms' claims …")
        story = Story(
            study=study,
            features=table,
            attempts=tuple(attempts),
            verification=verify(runs=20_000 if fast else 50_000),
            spent=budget(folder / "study"),
            fast=fast,
        )
        (folder / "report.html").write_text(report(story), encoding="utf-8")
    return story


def _attempt(name: str, raw: FeatureTable, shown: FeatureTable, done: Release | None) -> Attempt:
    rates = identify(raw, shown)
    worst = strongest(rates)
    certificate = done.certificate if done else None
    bound = None
    if certificate is not None:
        # The report speaks of this release alone; the certificate's bound is for all so far.
        bound = rank1_bounds(certificate.person_level, certificate.people)["raw_to_release"]
    return Attempt(
        name=name,
        unit=str(certificate.guarantee.unit) if certificate else "",
        person_level=certificate.person_level.numbers() if certificate else "no guarantee",
        bound=bound,
        identified=worst.rate,
        identified_low=worst.low,
        identified_high=worst.high,
        forest=rates["forest"].rate,
        document=recognise_task(raw, shown).rate,
        release=done,
    )
