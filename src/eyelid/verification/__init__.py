"""What tries to refute a claim: distinguishing games, fuzzing, looks at the noise, mutants."""
