"""Everybody"s own features, under noise, one mechanism a module."""

from eyelid.mechanisms.records import cfpa, dcfpa, dct, envelope, fpa, gaussian, laplace, prewindow

__all__ = ["cfpa", "dcfpa", "dct", "envelope", "fpa", "gaussian", "laplace", "prewindow"]
