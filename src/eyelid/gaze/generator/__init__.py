"""Recordings of gaze from few numbers: what a person is like, what a task is like, and the rest.

`parameters.py` has the numbers in which people differ, with where they lie by the literature;
`measurement.py` measures them in recordings, `profile.py` is what a generator needs of a task, and
`recordings.py` makes recordings of it: `path.py` where the eye goes, `signal.py` what a tracker
sees. `tuning.py` makes recordings measure as they should. Everything else is the same for
everybody, public, and stands in those modules. The simulator uses the same signals with documents
of its own.
"""

from eyelid.gaze.generator.measurement import measured
from eyelid.gaze.generator.parameters import MOVEMENTS, PARAMETERS, Parameter, measurable
from eyelid.gaze.generator.profile import Places, Profile, profiles_of
from eyelid.gaze.generator.recordings import Made, Planned, generated, generated_recordings
from eyelid.gaze.generator.tuning import tuned

__all__ = [
    "MOVEMENTS",
    "PARAMETERS",
    "Made",
    "Parameter",
    "Places",
    "Planned",
    "Profile",
    "generated",
    "generated_recordings",
    "measurable",
    "measured",
    "profiles_of",
    "tuned",
]
