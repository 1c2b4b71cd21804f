"""Gaze itself, sample by sample, through a filter."""
