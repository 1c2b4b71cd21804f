"""What is particular to a kind of release: how it is prepared, planned, applied and priced."""
