"""Mechanisms that take feature tables, and give feature tables back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from eyelid.errors import InputError
from eyelid.gaze.study import Study, check
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts, mechanism_named
from eyelid.mechanisms.release_kind import Execution, Gaps, ReleaseKind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Trust

ON_WHOLE_TABLES = frozenset({"apply", "perturbed", "noisy_means", "sums"})
# With all data at hand they may be used; the last two said so once, and would be ignored.
_ABOUT_EXECUTION = ON_WHOLE_TABLES | {"trust", "by_person", "by_sums"}
"""Methods that take everybody's rows; a mechanism that works part by part passes none of them."""

_NEEDED = {
    Execution.PER_PERSON: ("apply_to_some",),
    Execution.BY_SUMS: ("partition", "slots", "sums", "from_sums"),
    Execution.ON_EVERYBODY: ("apply",),
}
"""What a release calls, by how a mechanism is executed."""


@dataclass(frozen=True)
class FeatureMechanism(Mechanism):
    """A mechanism whose data are features of people's recordings.

    One that declares itself ``predictable`` says how far off it is in `expected_rmse_of_span` and
    `expected_mean_rmse_of_span`; any other says in words what is left to see, in `worth`.
    """

    gaps: ClassVar[Gaps] = Gaps.KEPT
    """What becomes of missing values."""
    measures: ClassVar[bool] = False
    """Whether noise is on public coordinates of feature signals: see `RecordMechanism`."""
    shows_measured: ClassVar[bool] = False
    """Whether what is measured of a person can be read off what is released of them."""
    measures_bins: ClassVar[bool] = False
    """Whether what is measured are short bins, from which windows are made afterwards."""
    shrinks: ClassVar[bool] = False
    """Whether what is measured is drawn to the midpoint, which no mean over people undoes."""
    made_for_means: ClassVar[bool] = False
    """Whether it is as good inside a mean over people as any other with its promise."""
    one_length: ClassVar[bool] = True
    """Whether all released recordings have as many rows as the public facts say."""
    lengths: ClassVar[str] = ""
    """What becomes of lengths where recordings do not get one public length, in words."""
    drawn: ClassVar[bool] = False
    """Whether groups are drawn at random, so that nobody knows them afterwards."""

    def __init_subclass__(cls, **words: Any) -> None:
        """Refuse a class that takes whole tables in a way of its own and declares no execution.

        What it inherits is about another way: people would be passed part by part to methods that
        never see a part.
        """
        super().__init_subclass__(**words)
        cls.check_execution()

    @classmethod
    def check_execution(cls) -> None:
        """Refuse a class that is executed as its base is though it does something else."""
        # What stands before the declaration overrides what it is about; mixins count as well.
        own: set[str] = set()
        for kind in cls.__mro__:
            if kind is FeatureMechanism or "execution" in vars(kind):
                break
            own |= vars(kind).keys() & _ABOUT_EXECUTION
        if own:
            raise TypeError(
                f"{cls.__name__} has its own {' and '.join(sorted(own))}: declare its execution, "
                "Execution.ON_EVERYBODY unless people can be taken part by part"
            )

    @classmethod
    def check_declared(cls) -> None:
        """Refuse a class that lacks what a release asks of it after the charge."""
        super().check_declared()
        needed = ("expected_rmse_of_span", "expected_mean_rmse_of_span")
        for name in needed if cls.predictable else ("worth",):
            if getattr(cls, name) is getattr(FeatureMechanism, name):
                raise TypeError(f"{cls.name} has no {name} of its own")
        if cls.release is ReleaseKind.RECORDS and cls.trust is Trust.CENTRAL:
            # Attributes of people would go out with an aggregate's, under their names.
            raise TypeError(f"{cls.name} releases individual records: its trust is local")
        lacking = [
            name
            for name in _NEEDED[cls.execution]
            if getattr(cls, name, None) is getattr(FeatureMechanism, name, None)
        ]
        if lacking:
            raise TypeError(
                f"{cls.name} is executed {cls.execution.value} and has no {' and '.join(lacking)}"
            )

    @property
    def core(self) -> FeatureMechanism:
        """What is done to each person's own signals: of a mean, by the mechanism inside."""
        return self

    def core_at(self, facts: PublicFacts) -> FeatureMechanism:
        """That for a dataset with these public facts."""
        return self

    @property
    def undecided(self) -> bool:
        """Whether public facts are still to choose the mechanism inside."""
        return False

    def decided(self, facts: PublicFacts) -> Self:
        """The mechanism with everything chosen that public facts choose."""
        return self

    @property
    def length(self) -> int | str | None:
        """Rows of every released recording, or the rule for them; None where they keep theirs."""
        return None

    @property
    def fewest_rows(self) -> int:
        """The shortest recordings that can be measured."""
        return 1

    def common_rows(self, table: FeatureTable) -> int:
        """Rows that every recording is cut or padded to; 0 where none is padded."""
        return 0

    @property
    def independent_rows(self) -> int | None:
        """Rows that get their noise together, and apart from others; None where all do."""
        return None

    @property
    def clipped(self) -> bool:
        """Whether released values are clipped to the bounds after the noise."""
        return False

    @property
    def copies(self) -> bool:
        """Whether a group's record is released once for each member."""
        return False

    @property
    def spread(self) -> str | None:
        """Where the spread that is drawn around means is known from; None where none is drawn."""
        return None

    @property
    def group_size(self) -> int | None:
        """The fewest people of a group that chance draws; None where there are no such groups."""
        return None

    def smallest(self, facts: PublicFacts) -> int:
        """People of the smallest group that is told apart; everybody where there are no groups."""
        return facts.people

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns that the release has besides those of every table."""
        return ()

    def measured_facts(
        self, people: int, recordings: int, length: int, features: int
    ) -> PublicFacts:
        """The public facts about what is measured to release so much."""
        return PublicFacts(people, recordings, length, features)

    def released(self, facts: PublicFacts) -> PublicFacts:
        """The public facts about what is released, from those about what is measured."""
        return facts

    def useful(self, facts: PublicFacts) -> bool:
        """Whether there are people enough for a release that says anything."""
        return True

    def people_for_all_features(self, facts: PublicFacts) -> int | None:
        """From how many people on all features are released as wanted; None if not by people."""
        return None

    def fewest_of_task(self, facts: PublicFacts) -> int:
        """How many people should have a task, so that more of it is released than its name."""
        return 0

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """Root mean square error of one released value, in units of its feature's span."""
        raise TypeError(f"the error of {self.name} depends on how much people are alike")

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """Expected error of a recording's mean over its rows, as a share of the feature's range."""
        raise TypeError(f"the error of {self.name} depends on how much people are alike")

    def cut_off(self, facts: PublicFacts) -> str:
        """What of the signals is left out whatever the noise, in a sentence; empty if nothing."""
        return ""

    def worth(self, facts: PublicFacts) -> str:
        """What is left to see where errors are not known, in a sentence or two."""
        raise TypeError(f"what {self.name} is worth follows from its expected error")

    def error_in_mean(self, error: float, divisor: float, facts: PublicFacts) -> float:
        """An expected error when a mean over people divides the noise."""
        return error / divisor

    @property
    def kept_one_in(self) -> int:
        """One row in so many of a recording is kept, before anything else is done."""
        return 1

    @property
    def bare_bins(self) -> int | None:
        """Bins of the histograms, without noise, that rows are drawn from; None where none are."""
        return None

    @classmethod
    def variants(cls, table: FeatureTable, **settings: Any) -> Iterable[dict[str, Any]]:
        """What else to set beside these settings, where the best release of a table is looked for.

        Args:
            table: whose public facts may be asked.
            settings: ε and δ, where there are such.
        """
        return ({},)

    def summarise(self, source: Study | FeatureTable) -> FeatureTable:
        """What the mechanism takes of a study."""
        return windows_of(source)

    @abstractmethod
    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """The private data; clips its input to the public bounds itself."""

    def apply_to_some(
        self, people: FeatureTable, facts: PublicFacts, noise: Randomness
    ) -> FeatureTable:
        """The private data of some of the people.

        Args:
            people: whole people.
            facts: the public facts of everybody, which the guarantee is about: those of some people
                would give another noise.
            noise: of their own.
        """
        raise TypeError(f"{self.name} takes everybody at once")

    @abstractmethod
    def facts(self, table: FeatureTable) -> PublicFacts:
        """The public facts of what would be released."""

    def settled(self, table: FeatureTable) -> FeatureMechanism:
        """The mechanism with numbers in the place of words for public facts of a table."""
        return self

    def check(self, table: FeatureTable) -> None:
        """Refuse what could not be released, before anything is spent."""
        self.sampler(self.facts(table))

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What of this mechanism's output is outside the guarantee, in words."""
        return []


def feature_mechanism(asked: str | Mechanism, **parameters: Any) -> FeatureMechanism:
    """A mechanism for features, refused if it is for something else.

    Args:
        asked: its name, or one with its parameters set.
        parameters: of the one that is named.
    """
    made = mechanism_named(asked, **parameters) if isinstance(asked, str) else asked
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
