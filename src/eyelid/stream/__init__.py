"""The live gatekeeper: raw gaze in, private gaze out, and what it costs.

>>> from eyelid.stream import Gatekeeper
>>> Gatekeeper.__name__
'Gatekeeper'
"""

from eyelid.stream.gatekeeper import Gatekeeper, GazeEvent, Meter

__all__ = ["Gatekeeper", "GazeEvent", "Meter"]
