"""Features of people: individual records, means, groups, synthetic rows and people."""
