"""Recordings run through a filter: released gaze, sample by sample, with its certificate."""
