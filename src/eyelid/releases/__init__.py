"""From a table to files a person can hand over: plan, run, certificate, data card, report."""
