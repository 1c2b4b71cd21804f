"""Filters of gaze that promise nothing: what others do to streams, to compare with."""
