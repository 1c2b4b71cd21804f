"""What made-up people are called."""

MADE_UP = "synthetic"
"""Nobody's rows are all by this name; made-up people are numbered after it."""
