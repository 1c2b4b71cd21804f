"""The nearest mean of recordings: what averages the noise of a release away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import Recognise, for_everybody
from eyelid.attacks.records import Records
from eyelid.attacks.scores import Scores

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Means:
    """A record is whose mean it is nearest to, in units of how much means of one person differ.

    They differ from recording to recording, and by noise; the noise of a shown record is estimated
    from its own rows.
    """

    name: str = "means"

    def learn(self, known: Records, seed: int) -> Recognise:
        """Remember everybody's mean, and how far a record strays from it, feature by feature."""
        gallery = Gallery.of(known)
        spread = gallery.between_recordings.diagonal()

        def recognise(shown: Records) -> Scores:
            means, noise = means_of(shown.without(known.usual))
            precision = 1.0 / (spread + noise + gallery.floor)
            apart = means[:, None] - gallery.means
            found = -(apart**2 * precision[:, None]).sum(axis=2)
            return Scores(
                for_everybody(found, gallery.people, len(shown.people)), None, shown.owner
            )

        return recognise


@dataclass(frozen=True)
class Whitened:
    """The nearest mean when features go together: distances by the whole covariance within people.

    Within a person means differ from recording to recording, of which few are known, and rows
    differ in the same directions, of which there are many: their covariances are added, and drawn a
    little towards independent features. To these comes the noise of the shown record.

    Both settings were chosen on simulated people, raw and released, among three and two values;
    none of them made more than a few points of difference.
    """

    name: str = "whitened"
    shrinkage: float = 0.3
    share_of_rows: float = 1.0

    def learn(self, known: Records, seed: int) -> Recognise:
        """Remember everybody's mean, and how far a record strays from it, in which directions."""
        gallery = Gallery.of(known)
        spread = gallery.between_recordings + self.share_of_rows * gallery.between_rows
        alone = np.diag(spread.diagonal())
        spread = (1 - self.shrinkage) * spread + self.shrinkage * alone

        def recognise(shown: Records) -> Scores:
            means, noise = means_of(shown.without(known.usual))
            noisy = spread + (noise + gallery.floor)[:, :, None] * np.eye(len(spread))
            apart = means[:, None] - gallery.means
            solved = np.linalg.solve(noisy, apart.transpose(0, 2, 1)).transpose(0, 2, 1)
            found = -(apart * solved).sum(axis=2)
            return Scores(
                for_everybody(found, gallery.people, len(shown.people)), None, shown.owner
            )

        return recognise


@dataclass(frozen=True, eq=False)
class Gallery:
    """What is known of people as means.

    Attributes:
        people: of whom anything is known, as indices.
        means: of each of them.
        between_recordings: covariance of recordings' means within a person, and of the gallery's
            own error.
        between_rows: covariance of rows within a recording.
        floor: a variance below which nothing is measured.
    """

    people: NDArray[np.intp]
    means: Values
    between_recordings: Values
    between_rows: Values
    floor: float

    @classmethod
    def of(cls, known: Records) -> Gallery:
        """The gallery of some records, less what is usual in their tasks."""
        records = known.without(known.usual)
        means, noise = means_of(records)
        people, place, counts = np.unique(records.owner, return_inverse=True, return_counts=True)
        centres = np.zeros((len(people), means.shape[1]))
        np.add.at(centres, place, means)
        centres /= counts[:, None]
        apart = means - centres[place]
        # Where everybody has one recording only, its noise is all that is known of its error.
        degrees = len(means) - len(people)
        within = apart.T @ apart / degrees if degrees else np.diag(noise.mean(axis=0))
        rows = records.values - means[records.record]
        return cls(
            people,
            centres,
            within * (1 + 1 / counts.mean()),
            rows.T @ rows / len(rows),
            1e-4 * float(centres.var(axis=0).mean()) + 1e-12,
        )


def means_of(records: Records) -> tuple[Values, Values]:
    """The mean of each record, and its squared error if rows were independent."""
    means = records.per_record(records.values)
    squares = records.per_record((records.values - means[records.record]) ** 2)
    return means, squares / records.rows[:, None]
