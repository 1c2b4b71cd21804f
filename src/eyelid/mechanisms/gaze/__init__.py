"""Recordings of synthetic participants, drawn by a generator from few numbers over people.

A person gives two things: the generator's parameters, an average for each task, and a map of where
they looked on each stimulus, task, or on the screen (`people.py`). `facts.py` says what of a study
is public, `planning.py` what ε buys of so many people. What is released of a parameter or map that
is not bought is the norm's. `portrait.py` makes of the answers what the generator draws after.
`synthetic-gaze` measures everybody under noise, `ksame-gaze` each group of people without.
"""

from eyelid.mechanisms.gaze import ksame_gaze, synthetic_gaze

__all__ = ["ksame_gaze", "synthetic_gaze"]
