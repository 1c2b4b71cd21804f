"""What an audit found: its result by kind of release, with the words, tables and pages of it."""
