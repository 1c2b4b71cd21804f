"""Maps of where people looked, and tables over areas of interest."""
