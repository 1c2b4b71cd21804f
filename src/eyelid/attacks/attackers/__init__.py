"""Attackers who name people: one module each, and how to find them by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from eyelid.attacks.attackers.attacker import Attacker, Recognise, RowAttacker
from eyelid.attacks.attackers.forest import Forest
from eyelid.attacks.attackers.knn import Knn
from eyelid.attacks.attackers.lda import Lda
from eyelid.attacks.attackers.means import Means, Whitened
from eyelid.attacks.attackers.rbf_network import RbfNetwork, SingleVectorNetwork
from eyelid.attacks.attackers.svm import Svm
from eyelid.attacks.attackers.tree import Tree
from eyelid.errors import InputError, unknown

__all__ = [
    "ATTACKERS",
    "Attacker",
    "Recognise",
    "RowAttacker",
    "default_attackers",
    "find_attackers",
]

GROUP = "eyelid.attackers"

# Those of the papers, then those who make the most of whole recordings.
ATTACKERS: tuple[Attacker, ...] = (
    Knn(),
    Svm(),
    Tree(),
    Forest(),
    Lda(),
    RbfNetwork(),
    Means(),
    Whitened(),
)
# The published network, weaker and slower than ours: found by its name, and no part of an audit
# unless it is asked for.
_BY_NAME: tuple[Attacker, ...] = (SingleVectorNetwork(),)


def find_attackers(names: Sequence[str], besides: Sequence[str] = ()) -> list[Attacker]:
    """The attackers of those names: eyelid's own, or those that installed packages announce.

    Args:
        names: of attackers.
        besides: further names that would be known elsewhere.

    >>> [attacker.name for attacker in find_attackers(["lda", "means"])]
    ['lda', 'means']
    """
    ours = {attacker.name: attacker for attacker in (*ATTACKERS, *_BY_NAME)}
    theirs = {entry.name: entry for entry in entry_points(group=GROUP)}
    found = []
    for name in names:
        if name in ours:
            found.append(ours[name])
        elif name in theirs:
            found.append(_loaded(theirs[name]))
        else:
            raise unknown("attacker", name, [*ours, *theirs, *besides])
    return found


def default_attackers(people: int) -> list[Attacker]:
    """Eyelid's own, without those who would take too long over so many people.

    >>> "svm" in [attacker.name for attacker in default_attackers(1000)]
    False
    """
    return [
        attacker
        for attacker in ATTACKERS
        if people <= (getattr(attacker, "most_people", None) or people)
    ]


def _loaded(entry: EntryPoint) -> Attacker:
    """An attacker of a user's own: an object with ``name`` and ``learn``, or a class of such."""
    where = f"attacker '{entry.name}' of {entry.value}"
    try:
        thing = entry.load()
        attacker = thing() if isinstance(thing, type) else thing
    except Exception as problem:
        # Whatever goes wrong in there, it is theirs to mend.
        raise InputError(
            f"{where} cannot be loaded ({type(problem).__name__}: {problem}): "
            "mend or uninstall its package"
        ) from problem
    if not isinstance(attacker, Attacker):
        raise InputError(f"{where} is no attacker: it needs 'name' and 'learn(known, seed)'")
    return attacker
