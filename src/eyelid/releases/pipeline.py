"""One order for every release: open, prepare, plan, charge, apply, write.

A kind of release (`eyelid.releases.kinds`) says what each step does; in which order they are done,
what a run depends on, and when the ledger is charged is said here, once. Whatever can be refused is
refused before the charge. The charge comes before anything is computed, so that no crash gives a
release that was not counted; one rename at the end puts all of it in its place.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from eyelid.engine.progress import Advance, one_bar
from eyelid.engine.runs import Run, running
from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import pieces, study_folder
from eyelid.io.column_map import Map
from eyelid.io.people_choice import Whom
from eyelid.mechanisms.certificate import Certificate
from eyelid.mechanisms.mechanism import Mechanism
from eyelid.privacy.noise import Randomness, randomness
from eyelid.releases.accounting import Digest, Plan, charged, claimed, ended, open_ledger
from eyelid.reporting.dataset_fields import BLANK, DatasetFields
from eyelid.version import __version__

R = TypeVar("R")
Source = Study | FeatureTable | Path | str


@dataclass(frozen=True, eq=False)
class Request:
    """What the user wants released, whatever kind it is.

    Attributes:
        source: what it is made of.
        seed: of the noise, if it has one.
        ledger: where to count; by default the file beside the original study.
        keep: attributes of people to release as they are.
        map: about the columns of recordings.
        people: whom it is about.
    """

    source: Source
    seed: int | None = None
    ledger: Path | str | None = None
    keep: tuple[str, ...] = ()
    map: Map = None
    people: Whom = None

    def check_seed(self) -> None:
        """Refuse a seed that is none."""
        if self.seed is not None and self.seed < 0:
            raise InputError(f"seed must not be negative, got {self.seed}: choose 0 or more")

    @cached_property
    def noise(self) -> Randomness:
        """Where noise comes from: the operating system, or a seed."""
        self.check_seed()
        return randomness(self.seed)

    @property
    def path(self) -> Path | None:
        """Where the source lies; None for what only Python knows."""
        return Path(self.source) if isinstance(self.source, str | Path) else None

    @property
    def recordings(self) -> Path | None:
        """Where recordings lie as a tracker wrote them, whose people have no pseudonyms yet."""
        return None if self.path is None or study_folder.recognises(self.path) else self.path


@dataclass(frozen=True)
class RunKey:
    """Everything that the output of a run depends on: a run goes on under the same key only.

    Attributes:
        data: a digest of what is released from: of its files, or of their content.
        mechanisms: name and parameters of each.
        seed: what tells its noise from others'; None where nothing repeats.
        ledger: that counts it.
        chosen: how people were chosen.
        settings: everything else, as json can tell it.
    """

    data: str
    mechanisms: Sequence[tuple[str, dict[str, Any]]]
    seed: Any
    ledger: Any
    chosen: Any
    settings: Any

    @classmethod
    def of(cls, mechanisms: Sequence[Mechanism], **others: Any) -> RunKey:
        """The key of a run of these mechanisms."""
        return cls(
            mechanisms=[(mechanism.name, mechanism.parameters()) for mechanism in mechanisms],
            **others,
        )

    def digest(self) -> str:
        """One hash over all of it, over this version and how large pieces are."""
        facts = [__version__, pieces.PIECE_VALUES, asdict(self)]
        return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


Begin = Callable[[RunKey], Run | None]


@dataclass(frozen=True, eq=False)
class Prepared:
    """A release that is ready to be paid for.

    Attributes:
        plan: what is charged for.
        digest: a hash of what it is made of, asked for once it is paid.
        origin: who these people are to the ledger; None where nobody counts.
        notes: what is known before anything is paid.
        run: that makes it; None where nothing is written.
    """

    plan: Plan[Any]
    digest: Digest
    origin: Origin | None
    notes: tuple[str, ...]
    run: Run | None


class Job(ABC, Generic[R]):
    """One release of some kind, step by step."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Recordings that are looked at, each time that they are."""

    @abstractmethod
    def prepare(self, begin: Begin, advance: Advance) -> Prepared:
        """Look at everything and settle the plan: whatever can be refused is refused here.

        Args:
            begin: the run, once it is known what it depends on.
            advance: of the bar of the whole run.
        """

    @abstractmethod
    def apply(self, run: Run | None, certificate: Certificate, advance: Advance) -> Certificate:
        """Make what is released, which is paid for, and no more than that.

        Args:
            run: into which it is put; None to hold it.
            certificate: as it is before.
            advance: of the bar of the whole run.

        Returns:
            the certificate with the digest of what was made.
        """

    @abstractmethod
    def write(self, run: Run, certificate: Certificate) -> dict[str, str]:
        """Put the manifest, or maps, into the output of the run.

        Returns:
            texts to put beside it and the certificate, by the names of their files.
        """

    @abstractmethod
    def result(self, out: Path | None, certificate: Certificate, notes: tuple[str, ...]) -> R:
        """What the caller gets back."""


def carried_out(
    job: Job[R],
    out: Path | None,
    tell: Callable[[str], None] | None = None,
    card: DatasetFields = BLANK,
) -> R:
    """Release something: the only order there is.

    Args:
        job: what each step does.
        out: a new folder to write; None to hold what is released.
        tell: given each note that is known before anything is paid, as soon as it is.
        card: what the owner states at the top of the data card.
    """
    with one_bar(job.steps, "recordings") as advance, ExitStack() as stack:

        def begin(key: RunKey) -> Run | None:
            return None if out is None else stack.enter_context(running(out, key.digest()))

        prepared = job.prepare(begin, advance)
        run, notes = prepared.run, prepared.notes
        if tell is not None:
            for note in notes:
                tell(note)
        book = open_ledger(prepared.origin)
        charge = charged(prepared.plan, prepared.digest, book, out, run)
        # It holds on to private data, and writing takes memory.
        del prepared
        with charge as certificate:
            certificate = job.apply(run, certificate, advance)
            if run is not None:
                texts = {"certificate.json": certificate.to_json()} | job.write(run, certificate)
                texts["DATACARD.md"] = card.atop(texts["DATACARD.md"])
                for name, text in texts.items():
                    (run.output / name).write_text(text, encoding="utf-8")
            claimed(book, run, certificate)
    ended(book, run)
    return job.result(out, certificate, notes)
