"""The audit of a release: what is attacked, checked and found, kind by kind."""
