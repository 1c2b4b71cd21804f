"""Mechanisms that take feature tables, and give feature tables back."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.errors import InputError
from eyelid.gaze.study import Study, check
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import CalibratedMechanism
from eyelid.mechanisms.mechanism import Mechanism, Shape, mechanism
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.noise import Randomness


@dataclass(frozen=True)
class FeatureMechanism(Mechanism):
    """A mechanism whose data are features of people's recordings."""

    def summarise(self, source: Study | FeatureTable) -> FeatureTable:
        """What the mechanism takes of a study."""
        return windows_of(source)

    @abstractmethod
    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """The private data; clips its input to the public bounds itself."""

    @property
    def by_person(self) -> bool:
        """Whether everybody's record is made private on its own, given the public facts."""
        return False

    def apply_to_some(self, people: FeatureTable, shape: Shape, noise: Randomness) -> FeatureTable:
        """The private data of some of the people.

        Args:
            people: whole people.
            shape: the public facts of everybody, which the guarantee is about: those of some people
                would give another noise.
            noise: of their own.
        """
        raise TypeError(f"{self.name} takes everybody at once")

    @abstractmethod
    def shape(self, table: FeatureTable) -> Shape:
        """The public facts of what would be released."""

    def settled(self, table: FeatureTable) -> FeatureMechanism:
        """The same with numbers in the place of words that stand for public facts of a table."""
        return self

    def check(self, table: FeatureTable) -> None:
        """Refuse what could not be released, before anything is spent."""
        self.sampler(self.shape(table))

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What of this mechanism's output is outside the guarantee, in words."""
        return []


@dataclass(frozen=True)
class PredictableMechanism(CalibratedMechanism, FeatureMechanism):
    """A mechanism that adds noise to features; its error is known from public facts alone."""

    release: ClassVar[ReleaseKind] = ReleaseKind.RECORDS

    @abstractmethod
    def expected_rmse_of_span(self, shape: Shape) -> float:
        """Root mean square error of one released value, in units of its feature's span."""

    @abstractmethod
    def expected_mean_rmse_of_span(self, shape: Shape) -> float:
        """The same of a recording's mean over its rows."""

    def cut_off(self, shape: Shape) -> str:
        """What of the signals is left out whatever the noise, in a sentence; empty if nothing."""
        return ""


@dataclass(frozen=True)
class UnpredictableMechanism(FeatureMechanism):
    """A mechanism for features whose error depends on how much people are alike."""

    @abstractmethod
    def worth(self, shape: Shape) -> str:
        """What is left to see in a release, as far as public facts tell, in a sentence or two."""


def feature_mechanism(name: str, **parameters: Any) -> FeatureMechanism:
    """A mechanism for features with its parameters, refused if it is for something else."""
    made = mechanism(name, **parameters)
    if not isinstance(made, FeatureMechanism):
        raise InputError(
            f"{made.name} takes {made.takes}, not features: use 'eyelid {made.command}'"
        )
    return made


def windows_of(source: Study | FeatureTable) -> FeatureTable:
    """The features of a study; gaze samples are summarised in windows of the default length.

    Of a report of fixations a row is a fixation, unless recordings are longer by design: see
    `eyelid.gaze.features.quantities.usual_kind`.
    """
    if isinstance(source, FeatureTable):
        return source
    if source.kind != "features":
        from eyelid.gaze.features.per_event import events_and_omissions
        from eyelid.gaze.features.quantities import usual_kind
        from eyelid.gaze.features.windows import windows_and_omissions

        # Some of the people may all be left out: that nobody is left shows over all of them.
        if usual_kind(source) == "fixations":
            return events_and_omissions(check(source), "fixations")[0]
        return windows_and_omissions(check(source))[0]
    return FeatureTable.of(source)
