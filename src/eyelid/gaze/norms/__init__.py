"""What people are like, from the literature: where their averages lie, per measure and task.

`published.toml` has the figures with their sources, `definitions.toml` what they are of beside
eyelid's own features, `norm.py` what a norm is, `published.py` which one is for a feature. None
comes from recordings that eyelid is tested on.
"""

from eyelid.gaze.norms.definitions import definitions, measure_of
from eyelid.gaze.norms.literature import norm_for, norms
from eyelid.gaze.norms.norm import GRADES, TASKS, Norm, Source

__all__ = ["GRADES", "TASKS", "Norm", "Source", "definitions", "measure_of", "norm_for", "norms"]
