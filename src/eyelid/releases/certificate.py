"""The certificate: exactly what is guaranteed, to whom, and what is not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import Guarantee

SCHEMA = "eyelid/certificate/1"


@dataclass(frozen=True)
class Certificate:
    """What accompanies a release; of the protected values it shows nothing.

    Attributes:
        mechanism: its name.
        parameters: as set.
        guarantee: for the unit that was asked for.
        person_level: the total of this release for a person.
        how: how that total comes about.
        bounds: what values were clipped to, and who said so.
        noise: sampler, numerics, randomness.
        ledger: every release counted for the same people so far, this one last.
        total: of all of them, true of every person released; None without a ledger.
        unprotected: what the release shows besides.
        rank1_bound: upper bounds on identification among the people released.
        people: how many.
        input_sha256: a fingerprint of the input, keyed by the ledger, that only its owner can
            check; a plain hash would confirm guesses about the data.
        version: of eyelid.
    """

    mechanism: str
    parameters: dict[str, Any]
    guarantee: Guarantee
    person_level: Guarantee
    how: str
    bounds: Bounds
    noise: dict[str, str]
    ledger: tuple[dict[str, Any], ...]
    total: Guarantee | None
    unprotected: tuple[str, ...]
    rank1_bound: dict[str, float | None]
    people: int
    input_sha256: str | None
    version: str

    def to_dict(self) -> dict[str, Any]:
        """As in certificate.json."""
        return {
            "schema": SCHEMA,
            "mechanism": {"name": self.mechanism, "parameters": self.parameters},
            "guarantee": self.guarantee.to_dict(),
            "person_level": self.person_level.summary() | {"how": self.how},
            "bounds": {
                "source": str(self.bounds.source),
                "values": {name: list(pair) for name, pair in self.bounds.values.items()},
            },
            "noise": self.noise,
            "ledger": list(self.ledger),
            "ledger_total": self.total.to_dict() if self.total else None,
            "unprotected": list(self.unprotected),
            "rank1_bound": self.rank1_bound,
            "people": self.people,
            "input_sha256": self.input_sha256,
            "version": self.version,
        }

    def to_json(self) -> str:
        """The text of certificate.json."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
