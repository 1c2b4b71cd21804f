"""Maps of where people look: counting gaze in cells, spreading it out, areas of interest."""
