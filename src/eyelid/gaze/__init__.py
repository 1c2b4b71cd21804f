"""Eyes: the types, event detection, features, and the simulator. Knows nothing of privacy."""
