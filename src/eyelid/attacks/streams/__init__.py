"""Does it still look like an eye? Gaze samples before and after a filter, side by side."""

from eyelid.attacks.streams.measures import StreamMeasures, stream_measures

__all__ = ["StreamMeasures", "stream_measures"]
