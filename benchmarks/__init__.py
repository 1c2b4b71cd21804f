"""Speed and memory against named peers, measured in the same run: ``python -m benchmarks``."""
