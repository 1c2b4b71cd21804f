"""Presets for the VR datasets of the literature."""

from __future__ import annotations

from eyelid.io.layout import Layout

PRESETS: dict[str, Layout] = {}
