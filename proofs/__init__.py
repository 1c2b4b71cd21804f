"""The long claims, each tried for real: ``python -m proofs``."""
