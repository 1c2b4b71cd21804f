"""Bozkir et al. 2021, Differential privacy for eye tracking with temporal correlations."""
