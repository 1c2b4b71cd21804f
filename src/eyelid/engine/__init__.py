"""How work gets done and results get written: atomic output and progress. Knows no eyes."""
