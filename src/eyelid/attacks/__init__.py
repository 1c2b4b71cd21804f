"""Attempts to break what eyelid makes: distinguishing games, fuzzing, identification."""
