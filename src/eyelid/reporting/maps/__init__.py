"""Pictures of where people looked, and what of them can be told from the noise."""
