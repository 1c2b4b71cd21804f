"""Features of people: own records, means, groups, made-up rows and people."""
