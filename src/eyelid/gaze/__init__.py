"""Eyes: the types, events, features, maps, the simulator. Knows nothing of privacy."""
