"""The mechanisms, one a module, one folder for each kind of release; they join by registering.

A frozen dataclass whose fields are its parameters. Two methods matter:

* `cost(facts, unit) -> Guarantee`: what is promised for a unit, from public facts, before data
  are touched;
* what it does: `apply(table, noise) -> FeatureTable` of a `FeatureMechanism`, `measure(counts,
  facts, noise)` of a map or a table of areas. It limits its input itself, so that a caller cannot
  forget.

The rest lets others judge it: the public facts (`facts`), `sampler` and `numerics` for the
certificate, `unprotected`. The class states `name`, `aliases`, `takes`, `command`, `kind`,
`units`, `paper`, `claims_to_hold`, `games`, the kind of thing it releases (`release`, a
`ReleaseKind`), and as `note` its proof note (`proof_note.py`): summary, Takes, Protects, Why,
Paper. Cards and help are made from that; where there are docstrings, the class's gets it
appended. `may_differ` is the form of data that its promise is true for.

What is said by kind of release is a table from `ReleaseKind`: `reporting/consent.py` has a text
for participants for each (that of gaze itself is in `reporting/gaze_sentences.py`). Texts take the
certificate, which carries `form` and `released_as` (the kind, with public groups and their
sizes); a test holds each of them against everything that its certificate lists as unprotected.

Its bases say what is promised, and what is known of its error before data are touched:

* `DifferentialMechanism`: `differential.py`; an ε about a unit; `neighbour_pairs(unit)`, `play`
  and `score` for the distinguishing games
* `AnonymisingMechanism`: `groups/anonymity.py`; k people of whom a record may be, and no ε
* `FeatureMechanism`: `features.py`; for features; one that is `predictable` says how far off it is
  from public facts alone (`expected_rmse_of_span`), of any other `worth` says in words what is left
  to see; `execution` says what of a study it needs at once, and a mechanism that overrides a method
  that takes whole tables declares it

Most that have an ε and hold are **`NoisyMechanism`s**: integer noise of one distribution on whole
numbers whose sensitivity is declared. There are two families.

**`RecordMechanism`s** take features. A person's values, in spans above their lower bounds, go
through

    clip → analyse → query → perturb → rebuild → present

`analyse` gives public linear coordinates, `query` whole grid steps of them, `perturb` adds
integer noise of one distribution. That is the measurement, and all that is ever seen of the person:
`rebuild` and `present` know it and public facts only. `sensitivity(facts, unit)` says how far one
unit can move the integers; `measured` reads them off a release again, for those who attack it.

* the values themselves: `additive.py`; `laplace`, `gaussian`, `prewindow` (bins, presented as
  windows)
* Fourier coefficients of signals, or of chunks of them: `fpa`, `cfpa`, `dcfpa`
* cosine coefficients: `cosine.py`; `dct`, `envelope`
* whatever the one inside has, summed over people: `mean_mechanism.py`; `groupmean` (groups by
  public attributes, `public_groups.py`), `ksame-dp` (random ones)

A mechanism holds the `distribution` of its noise (`differential.py`): Laplace (L1, ε adds) or
Gaussian (L2, μ² adds). Additive grids are powers of two of the span; elsewhere the noise has one
public scale of 2³⁶ steps, and the step is calibrated.

**`NoisySum`s** take counts of people (`PersonCounts`, sparse) and give one mean over all of them:

    limited → integers (cut, never rounded up) → total → perturb → divided

* shares of gaze in the cells of a coarse grid: `maps/noisy_sum.py`; `map-grid`
* looks in pixels or cells, at most m in one and M in all: `maps/capped_map.py`; `map-gaussian`,
  `map-laplace`
* dwell, visits, transitions, order of first visits: `aoi-tables`

`settled(counts, facts, noise)` is the mechanism with whatever it chooses privately chosen.

**`Summary`s** take people's numbers, one for each measure and task, and give statistics of them
in parts (`statistics/parts.py`): sums and rank sums under one box noise, a vector under Gaussian
noise, histograms, and points and slopes that are chosen privately.

**Without noise**: `ksame` averages over random groups of at least k people. `partition.py` draws
them from randomness and public attributes, never from gaze; `slots.py` puts the recordings of
different people side by side, by task and by their order within it, which `mean_mechanism.py`
uses too.

`eyelid.papers` has the published mechanisms that do not hold, as printed, and the utility
experiment of Bozkir et al. `literature.py` has one row for each published mechanism, with what is
printed about it and which of ours belong to it; whether it holds is asked of the mechanism.
`eyelid mechanisms` and `docs/mechanisms.md` show it.

**Synthetic rows and people.** `seeded` keeps a few features of a person's row and draws the rest
from a model. `synthetic` draws whole people, with time, from noisy sums over everybody. Their
parts are in `mechanisms/synthetic`, each with a theory of its own:

* `binning.py`: values as public bins, and back
* `records.py`: at most T random rows of each person and task
* `chain.py`: pairs of neighbouring features, counted over people under Gaussian noise (a
  `NoisyMechanism`, with its own games), and the model made of these counts: each feature given
  the one before, odds in whole numbers
* `deniability.py`: how many people could have given a row: exact, by prefixes instead of pairs;
  the randomised test: the smallest k for an ε, its noise, its coin
* `sequences.py`: T rows of each person and task as public bins, with the rows some lags away
* `rounds.py`: what is measured for `synthetic`, each a `Total` with its share of μ²: `Levels`,
  `Shares`, `AllPairs`, `Signs`
* `measurement.py`: the rounds one after the other: what a round asks follows from noisy answers
  of those before it
* `estimates.py`: noisy counts made into distributions, quarters, trees: post-processing
* `fitting.py`, `copula.py`: the model behind the answers, and synthetic participants drawn from it
* `recordings.py`: whose each recording is, of which task, and what synthetic participants are
called
* `public_pairs.py`: the public order and tree of features, made on simulated people

A mechanism that rests on others names them in `parts()`, and `verify` plays against each.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from eyelid.mechanisms import gaze, groups, maps, means, records, statistics, streams, synthetic
from eyelid.mechanisms.mechanism import (
    Mechanism,
    NeighbourPair,
    PublicFacts,
    catalogue,
    describe,
    find,
    mechanism_named,
    mechanisms,
    register,
)

if TYPE_CHECKING:
    import polars as pl

# As ``eyelid.mechanism`` has it.
mechanism = mechanism_named


class _Package(ModuleType):
    """A package that is also the function of its name: `eyelid.mechanisms()` is the catalogue."""

    def __call__(self) -> "pl.DataFrame":
        return mechanisms()


# A package and a function of one name would hide each other, whichever was imported last.
sys.modules[__name__].__class__ = _Package

__all__ = [
    "Mechanism",
    "NeighbourPair",
    "PublicFacts",
    "catalogue",
    "describe",
    "find",
    "gaze",
    "groups",
    "maps",
    "means",
    "mechanism",
    "mechanism_named",
    "records",
    "register",
    "statistics",
    "streams",
    "synthetic",
]
