"""Made-up records: bins, models that draw from them, and the test of plausible deniability."""
