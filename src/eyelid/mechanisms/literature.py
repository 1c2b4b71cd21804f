"""Published mechanisms for eye tracking: what is printed about them, and what is true of it.

Rows and first columns follow Table 1 of David-John, Butler & Jain 2022, the claims of a kind of
guarantee the table on their poster. Whether something holds is asked of the mechanism itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eyelid.mechanisms.mechanism import Mechanism, catalogue


@dataclass(frozen=True)
class Family:
    """What the poster says of all mechanisms with one kind of guarantee.

    Attributes:
        name: the kind.
        reidentification: said to protect from it.
        duplicate: the same record is released several times.
        synthetic: synthetic records are released.
        noisy: noise is added to what is released.
        utility: how much of it is lost, compared with the others.
    """

    name: str
    reidentification: bool = False
    duplicate: bool = False
    synthetic: bool = False
    noisy: bool = False
    utility: str = ""


K_ANONYMITY = Family("k-anonymity", reidentification=True, duplicate=True, utility="least")
DENIABILITY = Family(
    "plausible deniability (PD)", reidentification=True, synthetic=True, utility="middle"
)
DIFFERENTIAL = Family(
    "differential privacy (DP)", reidentification=True, noisy=True, utility="most"
)
NO_GUARANTEE = Family("none, not on the poster")
NOISE_ALONE = Family("none, not on the poster", noisy=True)
POSTER = (K_ANONYMITY, DENIABILITY, DIFFERENTIAL)


@dataclass(frozen=True)
class Published:
    """One published mechanism.

    Attributes:
        name: what it is called where it was published.
        source: who published it, and when.
        guarantee: what is printed.
        unit: what the printed number is about, at best.
        data: what kind of data is released.
        input: what the mechanism is given.
        adaptation: what was made fit for eye tracking, and whose it was.
        family: what the poster says of such a guarantee.
        why: why what is printed holds, or does not.
        printed: what its authors, or David-John et al., measured of its utility.
        measured: what eyelid measured of it.
        measured_in: the page that has these figures.
        faithful_names: what eyelid calls it, as printed.
        sound_names: what eyelid calls those that do the same and hold.
    """

    name: str
    source: str
    guarantee: str
    unit: str
    data: str
    input: str
    adaptation: str
    family: Family
    why: str
    faithful_names: tuple[str, ...]
    sound_names: tuple[str, ...] = ()
    printed: str = ""
    measured: str = ""
    measured_in: str = ""

    @property
    def as_printed(self) -> list[type[Mechanism]]:
        """The mechanism as it is printed, if the catalogue has it."""
        return _there(self.faithful_names)

    @property
    def that_hold(self) -> list[type[Mechanism]]:
        """What the catalogue has in its place."""
        return _there(self.sound_names)

    @property
    def holds(self) -> bool | None:
        """Whether the printed guarantee holds; None as long as eyelid has not tried it."""
        found = self.as_printed
        return all(kind.claims_to_hold for kind in found) if found else None


def _there(names: Sequence[str]) -> list[type[Mechanism]]:
    known = catalogue()
    return [known[name] for name in names if name in known]


_WINDOWS = "windows of time"
_FEATURES = "features of gaze"
_SAMPLES = "gaze samples"
_MAPS = "gaze maps"
_MAP_OF_EACH = "one of each person"
_LIU = "Liu et al. 2019"
_BOZKIR = "Bozkir et al. 2021"
_DAVID_JOHN = "David-John et al. 2022"
_MAPS_MEASURED = (
    "correlation with the true map, ε = 1.5: 0.0 for 15 to 1000 people; map-grid 0.56 for 20, "
    "0.94 for 100"
)

LITERATURE = (
    Published(
        name="Kalεido",
        source="Li et al. 2021",
        guarantee="(ε, w, r)-DP",
        unit="w samples in a row, each moved by r at most",
        data=_SAMPLES,
        input="w in a row, radius r of what is looked at",
        adaptation="noise in the plane (Andrés et al. 2013), for streams (Kellaris et al. 2014) "
        "and moving regions",
        family=DIFFERENTIAL,
        why="its budget adds up in every window, if r comes from the public scene and not from the "
        "region looked at, and games on the worst neighbours known find no more; longer or more "
        "distant gaze costs more",
        faithful_names=("kaleido",),
        measured="half a second of MPIIDPEye: agreement on areas (κ) 0.04 at ε = 1, 0.31 at 8, "
        "0.69 at 64; at ε = 1 still 73% of 20 people re-identified, by their mean place, 82% raw",
        measured_in="streaming.md",
    ),
    Published(
        name="w-event privacy",
        source="Kellaris et al. 2014",
        guarantee="w-event ε-DP",
        unit="w samples in a row, each moved by r at most",
        data=_SAMPLES,
        input="w in a row, radius r of the scene",
        adaptation="made for counts over many people; here noise in the plane for one person's "
        "places, and distances in the place of differences of counts",
        family=DIFFERENTIAL,
        why="the budgets of uniform, sample, budget distribution and budget absorption add up in "
        "every window; longer or more distant gaze costs more",
        faithful_names=("uniform", "sample", "bd", "ba"),
    ),
    Published(
        name="Square-root counting",
        source="Fichtenberger et al. 2023; Henzinger et al. 2023",
        guarantee="(ε, δ)-DP",
        unit="w samples in a row, wherever they were",
        data="counters",
        input="samples in areas of interest",
        adaptation="made for one count that grows; here for all areas and a window at once, in "
        "whole numbers",
        family=DIFFERENTIAL,
        why="noise is needed on the root of the sums only, once, for all that is ever told until a "
        "public horizon",
        faithful_names=("dwell",),
    ),
    Published(
        name="Gaussian noise and down-sampling",
        source="David-John et al. 2021",
        guarantee="none",
        unit="nobody",
        data=_SAMPLES,
        input="one at a time",
        adaptation="noise on every sample, every k-th sample, cells of a grid",
        family=NOISE_ALONE,
        why="the noise of a fixation averages out, samples that are kept are raw, and cells are "
        "told apart with certainty: its authors promise nothing",
        faithful_names=("jitter", "temporal", "spatial"),
        sound_names=("kaleido", "sample", "fixations"),
    ),
    Published(
        name="Smoothing and pink noise",
        source="Raju & Komogortsev 2025; Liu et al. 2019 ask for the noise",
        guarantee="none",
        unit="nobody",
        data=_SAMPLES,
        input="one at a time",
        adaptation="a Kalman filter of place and speed; noise of spectrum 1/f",
        family=NOISE_ALONE,
        why="an attacker who knows a linear filter undoes it; slow noise lets speeds and durations "
        "through",
        faithful_names=("kalman", "pink"),
        sound_names=("kaleido",),
    ),
    Published(
        name="Gaussian maps",
        source=_LIU,
        guarantee="(ε, δ)-DP",
        unit="a person, in one map",
        data=_MAPS,
        input=_MAP_OF_EACH,
        adaptation="Gaussian noise (Dwork 2006) on the mean count of gaze points in every pixel",
        family=DIFFERENTIAL,
        why="the proof fails in three places: on maps of few cells the noise is too small",
        faithful_names=("map-gaussian-paper",),
        sound_names=("map-gaussian", "map-grid"),
        measured=_MAPS_MEASURED,
        measured_in="heatmaps.md",
    ),
    Published(
        name="Laplacian maps",
        source=_LIU,
        guarantee="ε-DP",
        unit="a person, in one map",
        data=_MAPS,
        input=_MAP_OF_EACH,
        adaptation="Laplace noise on the mean count of gaze points in every pixel",
        family=DIFFERENTIAL,
        why="the theorem is right; the noise is not, since the last digits of floating-point noise "
        "betray values",
        faithful_names=("map-laplace-paper",),
        sound_names=("map-laplace",),
        measured=_MAPS_MEASURED,
        measured_in="heatmaps.md",
    ),
    Published(
        name="Random selection",
        source=_LIU,
        guarantee="none",
        unit="a person, in one map",
        data=_MAPS,
        input=_MAP_OF_EACH,
        adaptation="the mean map of people drawn at random, or of everybody, without noise",
        family=NO_GUARANTEE,
        why="those drawn are in the map without noise, and subtracting the others leaves them: "
        "its authors say so",
        faithful_names=("map-rs1", "map-rs2", "map-noisefree"),
        sound_names=("map-grid",),
    ),
    Published(
        name="Exponential-DP",
        source="Steil et al. 2019",
        guarantee="ε-DP",
        unit="one feature of one recording",
        data=_FEATURES,
        input=_WINDOWS,
        adaptation="additive noise (Dwork & Roth 2014) on every feature by itself",
        family=DIFFERENTIAL,
        why="as David-John et al. 2022 print it, the noise is no Laplace noise: one value may lose "
        "7.36 where ε = 1 is printed; and its scale is read off the data",
        faithful_names=("exponential-paper",),
        sound_names=("exponential",),
        printed="document type 80% at ε = 100, and 33%, which is chance, at ε = 20",
    ),
    Published(
        name="LPA",
        source=_BOZKIR,
        guarantee="ε-DP",
        unit="one recording",
        data=_FEATURES,
        input=_WINDOWS,
        adaptation="Laplace noise (Dwork et al. 2006) on every value",
        family=DIFFERENTIAL,
        why="the noise is scaled by the data: the person farthest from the others sets everybody's",
        faithful_names=("lpa-paper",),
        sound_names=("laplace",),
    ),
    Published(
        name="FPA",
        source=_BOZKIR,
        guarantee="ε-DP",
        unit="one recording",
        data=_FEATURES,
        input=_WINDOWS,
        adaptation="noise on the first Fourier coefficients (Rastogi & Nath 2010)",
        family=DIFFERENTIAL,
        why="scaled by the data as LPA is; and the number of coefficients is chosen by looking at "
        "them",
        faithful_names=("fpa-paper",),
        sound_names=("fpa", "dct"),
    ),
    Published(
        name="CFPA",
        source=_BOZKIR,
        guarantee="ε-DP",
        unit="a chunk of all features",
        data=_FEATURES,
        input=_WINDOWS,
        adaptation="FPA, chunk by chunk",
        family=DIFFERENTIAL,
        why="as FPA; and the chunks of a person are counted as if they were different people's",
        faithful_names=("cfpa-paper",),
        sound_names=("cfpa",),
        measured="1000 people, all features at ε = 1 for a person: the mean over people is off by "
        "0.630 of the range with cfpa, 0.102 with groupmean of dct, 0.381 with a constant",
        measured_in="signals.md",
    ),
    Published(
        name="DCFPA",
        source=_BOZKIR,
        guarantee="ε-DP",
        unit="a chunk of all features",
        data=_FEATURES,
        input=_WINDOWS,
        adaptation="CFPA on differences from window to window",
        family=DIFFERENTIAL,
        why="as CFPA; and nothing but the data says that differences are small",
        faithful_names=("dcfpa-paper",),
        sound_names=("dcfpa",),
        measured="1000 people, all features at ε = 1 for a person: the mean over people is off by "
        "0.624 of the range with dcfpa, 0.102 with groupmean of dct, 0.381 with a constant",
        measured_in="signals.md",
    ),
    Published(
        name="k-same-select sequence",
        source=_DAVID_JOHN,
        guarantee="k-anonymity",
        unit="a person, in one task",
        data=_FEATURES,
        input=_WINDOWS,
        adaptation="means over random groups (Gross et al. 2005), row by row",
        family=K_ANONYMITY,
        why="groups are redrawn for each task, and intersect; padding shows the longest member; "
        "the last group may have fewer than k",
        faithful_names=("ksame-paper",),
        sound_names=("ksame", "ksame-dp"),
        printed="document type 72% or more at every k; 33% is chance",
        measured="document type at k = 8 by a support-vector machine: 0.72 as printed, 0.61 with "
        "ksame (0.82 by an oblique random forest); 0.92 on raw data",
        measured_in="anonymity.md",
    ),
    Published(
        name="Task-based Marginals",
        source=_DAVID_JOHN,
        guarantee="(k, γ)-PD",
        unit="one row",
        data=_FEATURES,
        input=_WINDOWS,
        adaptation="marginals and the test of Bindschaedler et al. 2017, task by task",
        family=DENIABILITY,
        why="the model ignores its seed, so that the test cannot fail where there are k rows "
        "of any people; and its histograms have no noise",
        faithful_names=("marginals-paper",),
        sound_names=("seeded", "synthetic"),
        printed="document type about 53%; 33% is chance",
        measured="document type by a support-vector machine: 0.72 as printed, 0.92 on raw data",
        measured_in="anonymity.md",
    ),
)


def published_as(name: str) -> list[Published]:
    """The rows that a mechanism of the catalogue belongs to.

    >>> [row.name for row in published_as("cfpa")]
    ['CFPA']
    """
    return [row for row in LITERATURE if name in row.faithful_names + row.sound_names]


def facts(row: Published) -> dict[str, Any]:
    """A row as machines read it; names are those that the catalogue has."""
    return {
        "name": row.name,
        "source": row.source,
        "guarantee": row.guarantee,
        "unit": row.unit,
        "data": row.data,
        "input": row.input,
        "adaptation": row.adaptation,
        "reidentification": row.family.reidentification,
        "duplicate": row.family.duplicate,
        "synthetic": row.family.synthetic,
        "noisy": row.family.noisy,
        "utility": {
            "impact": row.family.utility or None,
            "printed": row.printed or None,
            "measured": row.measured or None,
        },
        "holds": row.holds,
        "why": row.why,
        "as_printed": [kind.name for kind in row.as_printed],
        "that_hold": [kind.name for kind in row.that_hold],
    }
