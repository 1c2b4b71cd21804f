"""How like recordings of one set of people are to those of another: events, rest, places, reading.

Of whatever gaze: real people's and other real people's, or recordings that a generator made. Every
figure has a scale of its own that needs no judgement: how far two random halves of the people are
from each other.
"""

from eyelid.gaze.quality.events import QUANTITIES, event_distances, quantities_of
from eyelid.gaze.quality.places import place_scores
from eyelid.gaze.quality.quality import GazeQuality, gaze_quality
from eyelid.gaze.quality.rest import resting_levels, spectrum_differences

__all__ = [
    "QUANTITIES",
    "GazeQuality",
    "event_distances",
    "gaze_quality",
    "place_scores",
    "quantities_of",
    "resting_levels",
    "spectrum_differences",
]
