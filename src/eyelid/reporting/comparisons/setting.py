"""One way to release: a mechanism with its parameters, as tables and commands write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A mechanism with its parameters.

    Attributes:
        mechanism: its name.
        parameters: names and values; what is not named takes its default.
    """

    mechanism: str
    parameters: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """As a table has it.

        >>> str(Setting("gaussian", (("epsilon", 4.0), ("unit", "record"))))
        'gaussian, record, ε = 4'
        """
        given = dict(self.parameters)
        unit = [str(given.pop("unit"))] if "unit" in given else []
        numbers = [f"{_letter(name)} = {written(value)}" for name, value in given.items()]
        return ", ".join([self.mechanism, *unit, *numbers])

    def command(self, source: str = "IN", out: str = "OUT") -> str:
        """What to type to release so.

        >>> Setting("ksame", (("k", 4),)).command("study")
        'eyelid release study OUT --mechanism ksame --set k=4'
        """
        options = [
            f"--{name} {written(value)}"
            if name in ("epsilon", "delta", "unit")
            else f"--set {name}={written(value)}"
            for name, value in self.parameters
        ]
        return " ".join(["eyelid release", source, out, "--mechanism", self.mechanism, *options])


def _letter(name: str) -> str:
    return {"epsilon": "ε", "delta": "δ", "gamma": "γ"}.get(name, name)


def written(value: Any) -> str:
    """A value as commands have it: short, and exactly what it is.

    >>> written(4.0), written(1.00000001), written(1e-6)
    ('4', '1.00000001', '1e-06')
    """
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
