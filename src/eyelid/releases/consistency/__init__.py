"""What a released folder shows: the same for two neighbouring studies, but for released values."""
