"""A released heatmap must be what its noisy cells, public facts and certificate give again.

The noisy cells of maps and the measured values of tables are what a mechanism was paid for.
Everything else in a released folder follows from them and from public facts, so that it can be made
again: whatever differs, or is there besides, is covered by nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.mechanisms.certificate import NO_LEDGER, NOT_COUNTED, form_given, shown_by_choice
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import large_deltas
from eyelid.privacy.noise import randomness
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.releases.audits.certificate_file import MORE, alike, said_besides
from eyelid.releases.audits.consistency import claims_more, promise_in_words
from eyelid.releases.audits.folder import DROPPINGS, LEFT_INSIDE
from eyelid.releases.kinds.maps.presentation import (
    Measured,
    arrays_of,
    map_card,
    maps_of,
    released_facts,
    sentences,
    trusted_of,
)
from eyelid.reporting.dataset_fields import without_fields
from eyelid.version import build

if TYPE_CHECKING:
    from eyelid.releases.audits.map_target import MapTarget
    from eyelid.releases.kinds.maps.plan import MapDesign

_ALWAYS = ("certificate.json", "DATACARD.md")
_OF_MAPS = ("map.npz", "heatmap.png", "overlay.png", "reliable.png")
_OF_GROUPS = ("difference.png",)
_OF_TABLES = ("areas.csv", "areas.png")
_KEYS = ("table", "layer", "area", "to_area", "rank")
_INTERVAL = ("lower", "upper")
# Other computers round otherwise; and maps are kept in single precision.
_TOLERANCE = 1e-9
_SINGLE = 1e-4
_OF_LARGEST = 0.01
# What a certificate leaves unprotected beside what its mechanism does (`accounting.charged`).
_OF_LEDGERS = (NO_LEDGER, *NOT_COUNTED.values())


def map_inconsistencies(target: MapTarget, simulated: bool) -> list[str]:
    """What of a released heatmap cannot be as its certificate says.

    Args:
        target: the release, and how it was made.
        simulated: whether its people are, which its card says.
    """
    found = [*_files(target), *_promises(target), *_certificate(target)]
    if not _finite(target):
        return [*found, "there are released cells that no release has (missing or infinite ones)"]
    # Forged values may be too large to compute with.
    with np.errstate(all="ignore"):
        made = _Made(target)
        found += [*made.wrong_arrays(), *made.wrong_tables(), *made.wrong_facts()]
        # The card of a certificate that is not true is nothing to compare with.
        return found or [*made.wrong_card(simulated)]


def files_of(design: MapDesign) -> tuple[str, ...]:
    """Everything that may lie in the folder of such a release."""
    return (
        *_ALWAYS,
        *(_OF_MAPS if design.mechanism is not None else ()),
        *(_OF_GROUPS if design.by else ()),
        *(_OF_TABLES if design.tables is not None else ()),
    )


def unknown_files(target: MapTarget) -> list[str]:
    """Names of what lies in the folder, and that no such release has."""
    if target.path is None:
        return []
    known = {*files_of(target.design), *DROPPINGS}
    return sorted(item.name for item in target.path.iterdir() if item.name not in known)


def _files(target: MapTarget) -> Iterator[str]:
    others = unknown_files(target)
    for name, says in LEFT_INSIDE.items():
        if name in others:
            others.remove(name)
            yield says
    for name in (*_OF_MAPS, *_OF_GROUPS, *_OF_TABLES):
        if name in others:
            others.remove(name)
            yield f"the released folder holds {name}, which the certificate does not tell of"
    if others:
        # Names of files may be names of people.
        yield (
            f"the released folder holds {len(others)} more than such a release has, which nothing "
            "covers"
        )


def _promises(target: MapTarget) -> Iterator[str]:
    """What the mechanism of the certificate would have said otherwise."""
    certificate, design = target.certificate, target.design
    promised = design.guarantee(lambda used, facts, unit: used.cost(facts, unit))
    for stated in (certificate.person_level, certificate.guarantee):
        if claims_more(stated, promised):
            yield (
                f"the certificate promises a person {stated.numbers()}, and the mechanism that it "
                f"names gives {promise_in_words(promised)}"
            )
    mechanism = design.mechanism
    if mechanism is not None and not all(
        mechanism.may_become(chosen) for chosen in target.mechanisms
    ):
        yield "the certificate says that its mechanism chose what it cannot choose"
    if certificate.version != build():
        # Another version may say the same in other words.
        return
    if mechanism is not None:
        fewest = min(each.facts.people for each in design.observers)
        facts = mechanism.facts_of(
            fewest, len(design.layers), *design.view.size, design.view.sigma_px
        )
        if facts.grid != design.observers[0].facts.grid:
            yield "the certificate has another grid than its mechanism takes"
    noise = {"sampler": design.sampler(), "numerics": design.numerics}
    sources = [noise | {"randomness": randomness(seed).name} for seed in (None, 0)]
    if certificate.noise not in sources:
        yield "the certificate describes another noise than its mechanism adds"
    shown = {*design.unprotected, *shown_by_choice(target.chosen)}
    if not shown <= set(certificate.unprotected):
        yield "the certificate leaves out what its mechanism does not protect"


def _certificate(target: MapTarget) -> Iterator[str]:
    """What a certificate says that none does."""
    certificate, design = target.certificate, target.design
    made = (
        design.tables.mechanism if design.mechanism is None and design.tables else design.mechanism
    )
    assert made is not None, "there are maps or tables"
    size = zip(("x_px", "y_px"), design.view.size, strict=True)
    bounds = Bounds({name: (0.0, float(length)) for name, length in size})
    besides = set(certificate.unprotected) - set(design.unprotected) - set(_OF_LEDGERS)
    besides -= set(shown_by_choice(target.chosen))
    strange = [
        any(said_besides(target.path, certificate)),
        certificate.mechanism != made.name,
        not alike(certificate.parameters, made.parameters()),
        certificate.bounds != bounds,
        set(certificate.rank1_bound) != set(rank1_bounds(certificate.person_level, 2)),
        certificate.version == build()
        and (certificate.how != design.how or not besides <= _delta_words(target)),
        certificate.version == build()
        and certificate.misstates(form_given(target.chosen, made.form), design.released_as),
    ]
    if any(strange):
        yield MORE


def _delta_words(target: MapTarget) -> set[str]:
    """What is said of every δ that could expose one of all people."""
    stated = target.certificate
    return set(large_deltas(stated.people, stated.person_level, stated.total))


def _finite(target: MapTarget) -> bool:
    cells = [target.cells(number) for number in range(len(target.design.observers))]
    if target.tables is not None:
        cells.append(target.table_cells)
    return all(bool(np.isfinite(each).all()) for each in cells)


class _Made:
    """Everything that noisy cells and measured values give."""

    def __init__(self, target: MapTarget) -> None:
        self.target, design = target, target.design
        self.measured = [
            Measured(mechanism, target.cells(number), mechanism.cell_sd(each.facts))
            for number, (mechanism, each) in enumerate(
                zip(target.mechanisms, design.observers, strict=True)
            )
        ]
        self.maps = maps_of(design, self.measured)
        self.trusted = trusted_of(design, self.measured)
        self.tables: pl.DataFrame | None = None
        if design.tables is not None:
            self.tables = design.tables.mechanism.presented(
                target.table_cells,
                design.tables.facts,
                design.layers,
                [area.name for area in design.tables.areas],
            )

    def wrong_arrays(self) -> Iterator[str]:
        """What of map.npz is not what was measured."""
        if not self.maps:
            return
        found = self.target.arrays
        wanted = arrays_of(self.maps, [each.cells for each in self.measured], self.target.design)
        extra = set(found) - set(wanted)
        if extra:
            yield f"map.npz holds {len(extra)} more than the arrays of a map"
        for name, values in wanted.items():
            if name not in found or not _same(found[name], values):
                yield f"'{name}' of map.npz is not what public facts and noisy cells give"

    def wrong_tables(self) -> Iterator[str]:
        """What of areas.csv is not what was measured."""
        found, wanted = self.target.tables, self.tables
        if found is None or wanted is None:
            return
        if not set(_INTERVAL) & set(found.columns):
            # Earlier versions wrote no intervals, which follow from the rest.
            wanted = wanted.drop(_INTERVAL)
        if found.columns != wanted.columns:
            yield "areas.csv has other columns than tables of areas have"
        if not _names(found).equals(_names(wanted)):
            yield "areas.csv names other tables, pictures or areas than the certificate"
        for name in ("value", "standard_error", *_INTERVAL):
            if name not in wanted.columns or name not in found.columns:
                continue
            if not _near(found[name].to_numpy(), wanted[name].to_numpy(), _TOLERANCE):
                yield f"'{name}' of areas.csv is not what public facts and measured values give"

    def wrong_facts(self) -> Iterator[str]:
        """What the certificate tells of the map and cannot be true."""
        design, certificate = self.target.design, self.target.certificate
        facts = design.described | released_facts(design, self.measured, self.trusted)
        stated = dict(certificate.map or {})
        if certificate.version != build():
            for words in (facts, stated):
                words.pop("reliability", None)
        if not alike(stated, json.loads(json.dumps(facts))):
            yield "the certificate tells of the map what public facts and noisy cells do not give"

    def wrong_card(self, simulated: bool) -> Iterator[str]:
        """What of DATACARD.md cannot be true, where there is one."""
        design, certificate = self.target.design, self.target.certificate
        if self.target.path is None:
            return
        card = self.target.path / "DATACARD.md"
        if certificate.version != build() or not card.is_file():
            return
        says = sentences(design, self.maps, self.trusted, self.tables)
        wanted = map_card(design, certificate, says, simulated=simulated)
        shown = card.read_text(encoding="utf-8", errors="replace")
        if without_fields(shown) != wanted:
            yield "DATACARD.md is not the card of this release"


def _same(found: NDArray[Any], wanted: NDArray[Any]) -> bool:
    if found.shape != wanted.shape or found.dtype.kind != wanted.dtype.kind:
        return False
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(found, wanted))
    return found.dtype == wanted.dtype and _near(found, wanted, _SINGLE)


def _near(found: NDArray[Any], wanted: NDArray[Any], relative: float) -> bool:
    largest = float(np.abs(wanted).max(initial=0.0))
    return bool(np.allclose(found, wanted, rtol=relative, atol=_OF_LARGEST * relative * largest))


def _names(tables: pl.DataFrame) -> pl.DataFrame:
    """What each row is about; a file does not tell an empty name from none."""
    return tables.select(_KEYS).with_columns(pl.col(pl.String).fill_null(""))
