"""Noise before windows: bins of half a second are made private, and windows are made of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from eyelid.errors import InputError, unknown
from eyelid.gaze.features.bins import (
    MAX_BLINKS,
    MAX_EVENTS,
    bin_streams,
    bins_of_window,
    stream_set,
)
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.gaze.features.windows import windows_and_omissions
from eyelid.gaze.study import Study, check
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.formulas import FORMULAS, cosines_kept, windows_of_bins
from eyelid.mechanisms.records.gaussian import Gaussian
from eyelid.privacy.unit import PERSON


@register
@dataclass(frozen=True)
class Prewindow(Gaussian):
    """Discrete Gaussian noise on counts and sums of half-second bins; windows are made of these."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Discrete Gaussian noise on counts and sums of half-second bins; windows are
        made of these.""",
        takes="""gaze samples. Events are counted, and their quantities summed, in the bin of their
        onset: at most ``max_events`` fixations and saccades and ``max_blinks`` blinks of a bin, the
        first ones, and quantities within their public ranges. Every recording has one public number
        of bins, n − 1 + window/step for n windows. Only streams that the wanted features need are
        measured. With ``others=dct`` the features that are not made of bins are measured beside
        them, window by window, each as a stream of its own, clipped to its public bounds.""",
        protects="""a person or a recording, replace-one, with (ε, δ)-DP and μ = Δ₂/σ, as
        `gaussian`.""",
        why="""in units of its span every bin of a stream lies in [0, 1], so a unit of K values
        (streams × bins × recordings) moves at most Δ₂ = √K, whatever it does to the events, and
        values are clipped to that. Windows are functions of noisy bins and public facts:
        post-processing. Bins are disjoint, so that a window of w bins has noise of √w bins for a
        sum of w: √w times less than noise on each window. Other features share the one noise and
        the one Δ₂: so μ² adds up over all. Of their signals the first cosine coefficients are kept,
        which again is post-processing.""",
        paper="""none of its own; the features are those of Steil et al. 2019, with noise added
        before instead of after windows overlap. The noise is that of `gaussian`.""",
    )
    name: ClassVar[str] = "prewindow"
    family: ClassVar[str] = "bins"
    takes: ClassVar[str] = "samples"
    measures_bins: ClassVar[bool] = True
    shows_measured: ClassVar[bool] = False
    made_for_means: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "Steil, Hagestedt, Huang & Bulling (2019), Privacy-aware eye tracking using differential "
        "privacy (the features); Balle & Wang (2018); Canonne, Kamath & Steinke (2020)"
    )
    # A bin is no released row: there is no unit that is one.
    units: ClassVar[tuple[str, ...]] = ("person", "recording")
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        # Windows of one bin: what is measured is what is counted.
        {"epsilon": 4.0, "delta": 1e-5, "window_s": 1.0, "step_s": 1.0},
    )

    only: str = parameter(
        "which features: defined (all that bins can give), linear (rates), or names as a,b",
        default="defined",
    )
    others: str = parameter(
        "features that are not made of bins: leave, or dct (measured too, and smoothed)",
        default="leave",
    )
    window_s: float = parameter("length of a window in seconds", default=30.0)
    step_s: float = parameter("length of a bin, and from window to window", default=0.5)
    max_events: int = parameter(
        "most fixations of a bin, and most saccades; later ones are left out", default=MAX_EVENTS
    )
    max_blinks: int = parameter("most blinks of a bin", default=MAX_BLINKS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("max_events", "max_blinks"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.others not in ("leave", "dct"):
            raise InputError(f"others must be leave or dct, got '{self.others}'")
        # What is wrong with windows or names is told at once.
        bins_of_window(self.window_s, self.step_s)
        self.wanted()

    def set_for_outputs(self) -> Iterator[Self]:
        """As it is, and with windows of several bins and what bins cannot give beside them."""
        yield self
        yield replace(self, window_s=2.0, step_s=0.5, others="dct")

    @property
    def bins_of_window(self) -> int:
        """w: a window is the sum of so many bins."""
        return bins_of_window(self.window_s, self.step_s)

    def wanted(self, pupil: bool = True) -> tuple[str, ...]:
        """The features to release, in the published order; without those of pupils, if not known.

        >>> Prewindow(epsilon=1.0, only="blink_rate,fixation_rate").wanted()
        ('fixation_rate', 'blink_rate')
        """
        known = [feature.name for feature in window_feature_set()]
        chosen = [name.strip() for name in self.only.split(",")]
        if chosen in (["defined"], ["linear"]):
            some = self.only.strip() == "defined"
            chosen = [name for name, formula in FORMULAS.items() if some or formula.linear]
            chosen = [name for name in chosen if pupil or not name.startswith("pupil_")]
        for name in chosen:
            if name not in known:
                raise unknown("feature", name, ["defined", "linear", *known])
            if name not in FORMULAS:
                raise InputError(
                    f"{name} is no function of sums over bins: leave it out, or set others=dct"
                )
        return tuple(name for name in known if name in chosen)

    def streams(self, pupil: bool = True) -> tuple[str, ...]:
        """What has to be measured for these features.

        >>> Prewindow(epsilon=1.0, only="saccade_rate,saccade_amplitude_mean").streams()
        ('saccades', 'saccade_amplitude_sum')
        """
        needed = {stream for name in self.wanted(pupil) for stream in FORMULAS[name].streams}
        return tuple(stream.name for stream in stream_set() if stream.name in needed)

    def measured_whole(self, pupil: bool = True) -> tuple[str, ...]:
        """The features that are measured window by window, in the published order."""
        if self.others == "leave":
            return ()
        known = [feature.name for feature in window_feature_set()]
        made = self.wanted(pupil)
        rest = [name for name in known if name not in made]
        return tuple(name for name in rest if pupil or not name.startswith("pupil_"))

    def summarise(self, source: Study | FeatureTable) -> FeatureTable:
        """The streams of the bins of a study of samples, and what is measured beside them."""
        if isinstance(source, FeatureTable) or source.kind != "samples":
            kind = "features" if isinstance(source, FeatureTable) else source.kind
            raise InputError(
                f"{self.name} adds noise before windows are made, and these are {kind}: "
                "give the recordings, or a study of samples"
            )
        pupil, study = "pupil" in source.data.columns, check(source)
        caps = self.max_events, self.max_blinks
        bins = bin_streams(study, self.streams(pupil), self.window_s, self.step_s, *caps)
        others = self.measured_whole(pupil)
        if not others:
            return bins
        windows, _ = windows_and_omissions(study, self.window_s, self.step_s)
        keys = ["person", "recording", "time_ms"]
        return replace(
            bins,
            data=bins.data.join(
                windows.data.select(*keys, *others), on=keys, how="left", maintain_order="left"
            ),
            features=bins.features + tuple(f for f in windows.features if f.name in others),
        )

    def present(self, private: FeatureTable) -> FeatureTable:
        """The windows of private bins."""
        return windows_of_bins(private, self.wanted(), self.window_s, self.bins_of_window)

    def public_length(self, table: FeatureTable) -> int:
        """In windows: planned bins have some of them, and a default counts windows by itself."""
        more = 0 if table.planned_rows is None else self.bins_of_window - 1
        return max(1, table.public_rows - more)

    def common_rows(self, table: FeatureTable) -> int:
        """Bins that are measured of every recording, for the windows that are released."""
        if self.length == "public" and table.planned_rows is not None:
            return table.planned_rows
        rows = super().common_rows(table)
        return rows + self.bins_of_window - 1 if self.length_is_public else rows

    def facts_of(
        self, people: int, recordings: int, length: int, pupil: bool = True
    ) -> PublicFacts:
        """The public facts about what is measured to release so many windows of a recording.

        >>> Prewindow(epsilon=1.0, only="linear").facts_of(people=20, recordings=3, length=1200)
        PublicFacts(people=20, recordings=3, length=1259, features=7)
        """
        bins = length + self.bins_of_window - 1
        streams = len(self.streams(pupil)) + len(self.measured_whole(pupil))
        return PublicFacts(people, recordings, bins, streams, window=1)

    def measured_facts(
        self, people: int, recordings: int, length: int, features: int
    ) -> PublicFacts:
        """Bins and streams, as many as so many windows and its own features take."""
        return self.facts_of(people, recordings, length)

    def released(self, facts: PublicFacts) -> PublicFacts:
        """The public facts about what is released: length counts windows, and features features.

        >>> mechanism = Prewindow(epsilon=1.0, only="linear")
        >>> mechanism.released(mechanism.facts_of(people=20, recordings=3, length=1200))
        PublicFacts(people=20, recordings=3, length=1200, features=8)
        """
        pupil = facts.features >= len(self.streams()) + len(self.measured_whole())
        features = len(self.wanted(pupil)) + len(self.measured_whole(pupil))
        windows = max(1, facts.length - self.bins_of_window + 1)
        return replace(facts, length=windows, features=features)

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """The error of linear features, exact, and of smoothed ones, as far as it is noise.

        A mean, share or variance has no error that could be told without data. Where nothing else
        is released, this is what a mean over events would be off by if every bin were full of
        them: at best.
        """
        windows = self.released(facts).length
        kept = cosines_kept(windows, self.bins_of_window)
        return self._rms(facts, self.bins_of_window, kept / windows)

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """The error of a recording's mean over its windows, most bins being in many of them."""
        windows = self.released(facts).length
        times = np.convolve(np.ones(windows), np.ones(self.bins_of_window))
        return self._rms(facts, float((times**2).sum()) / windows**2, 1 / windows)

    def person_total(self, facts: PublicFacts) -> str:
        """How the person-level total follows from the unit's, in words."""
        counts = {"recording": facts.recordings, "bin": facts.length, "stream": facts.features}
        whole = " × ".join(f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items())
        if self.unit == PERSON:
            return f"calibrated to the person: {whole} together"
        return f"μ² adds up: a person has {whole}, {facts.recordings} times one {self.unit}"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        return f"{super().sampler(facts)}, on bins of {self.step_s:g} s"

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the released table shows, whose rows are windows and not bins."""
        facts = self.facts(table)
        bins, windows = f"({facts.length} rows", f"({self.released(facts).length} rows"
        return [line.replace(bins, windows) for line in super().unprotected(table)]

    def _rms(self, facts: PublicFacts, of_sums: float, of_signals: float) -> float:
        """The root mean square error over features, from what the noise on one bin is taken to.

        Args:
            facts: the public facts.
            of_sums: variance of sums of a stream over windows, for noise of variance 1.
            of_signals: the same of signals that are measured window by window.
        """
        variance = noise_of(self, facts).variance * self.step(facts) ** 2
        each = [gain**2 * of_sums for gain in self._gains()]
        each += [of_signals] * len(self.measured_whole())
        best = of_sums / self.bins_of_window**2
        return math.sqrt(variance * float(np.mean(each or [best])))

    def _gains(self) -> list[float]:
        """For each linear feature its ranges per range of the stream that it is summed up from."""
        features = {f.name: f for f in window_feature_set(window_s=self.window_s)}
        caps = stream_set(max_events=self.max_events, max_blinks=self.max_blinks)
        spans = {stream.name: stream.span for stream in caps}
        gains = []
        for name in self.wanted():
            formula = FORMULAS[name]
            if formula.linear:
                (stream,) = formula.streams
                full = formula.value({stream: np.array(spans[stream])}, self.window_s)
                gains.append(float(full) / features[name].span)
        return gains
