"""Maps and tables of where people looked, one mechanism a module."""

from eyelid.mechanisms.maps import aoi_tables, map_gaussian, map_grid, map_laplace

__all__ = ["aoi_tables", "map_gaussian", "map_grid", "map_laplace"]
