"""Maps of gaze over people, one mechanism a module."""

from eyelid.mechanisms.maps import map_gaussian, map_grid, map_laplace

__all__ = ["map_gaussian", "map_grid", "map_laplace"]
