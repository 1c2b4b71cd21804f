"""What a study would conclude from a release, in words."""

from __future__ import annotations

from functools import cached_property

from eyelid.attacks.conclusions import Conclusions, conclusions
from eyelid.attacks.target import TableTarget
from eyelid.reporting.sentences import coarse, percent
from eyelid.spelling import plural

MOST_CONTRASTS = 10
"""Contrasts that a page lists, the strongest first."""


class Concluding:
    """What an audit of features says of conclusions."""

    target: TableTarget

    @cached_property
    def conclusions(self) -> Conclusions | None:
        """What a study would conclude from the release; None without one, or without tasks."""
        released = self.target.released
        return None if released is None else conclusions(self.target.original, released)


def concluded_rows(found: Conclusions) -> list[tuple[str, str, str]]:
    """Each question with what the release says of it, and what is said without any data.

    Args:
        found: by an audit.
    """
    rows = [
        (
            f"how far {plural(found.means, 'mean')} of a feature in a task "
            f"{'is' if found.means == 1 else 'are'} off (median, in standard deviations of people)",
            coarse(found.means_off),
            f"{coarse(found.guess_off)} (middle of the range)",
        )
    ]
    if found.clear:
        assert found.same_sign is not None, "there are clear contrasts"
        assert found.within is not None, "there are clear contrasts"
        assert found.size is not None, "there are clear contrasts"
        several = plural(len(found.clear), "contrast")
        rows += [
            (
                f"share of {several} between tasks, of clear sign in raw data, with that sign",
                percent(found.same_sign),
                "50% (a coin)",
            ),
            ("share of them within the 95% limits of raw data", percent(found.within), "0%"),
            (
                "their size, as a multiple of that in raw data (median)",
                coarse(found.size),
                "0 (no difference)",
            ),
        ]
    effects = found.effects
    if effects is not None and effects.found is not None:
        several = plural(effects.clear, "effect")
        rows.append(
            (
                f"share of {several} of tasks in a mixed model (an intercept for each participant) "
                "that the same model finds in the release",
                percent(effects.found),
                "2.5% (chance, with the same sign)",
            )
        )
    if effects is not None and effects.false is not None:
        several = plural(effects.others, "effect")
        rows.append(
            (
                f"share of {several} that it does not find in raw data, and finds in the release",
                percent(effects.false),
                "5% (chance)",
            )
        )
    relations = found.relations
    if relations is not None:
        agreement = relations.agreement
        agrees = "" if agreement is None else f"; the two sets correlate at {agreement:.2f}"
        rows.append(
            (
                f"how far {plural(relations.pairs, 'correlation')} between features "
                f"{'is' if relations.pairs == 1 else 'are'} off (root mean square)",
                f"{coarse(relations.off)}{agrees}",
                f"{coarse(relations.guess)} (none)",
            )
        )
    return rows
