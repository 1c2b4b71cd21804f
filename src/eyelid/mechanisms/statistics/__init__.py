"""Results of a study: a few numbers over people.

A person gives one number an entry (a measure in a task, or a difference between two tasks), and
what is released are statistics of these numbers under noise. `ranges.py` says where an entry's
numbers lie, `statistic.py` what can be asked of them, `quantities.py` and `ranks.py` what a person
adds to it in whole numbers, `parts.py` how the answers get their noise. `summary-box` and
`summary-gaussian` are mechanisms of such parts.
"""

from eyelid.mechanisms.statistics import summary_box, summary_gaussian

__all__ = ["summary_box", "summary_gaussian"]
