"""Attempts to refute what mechanisms claim: distinguishing games, fuzzing, looks at the noise."""
