"""The sections of a report: each asks the run for what it needs and shows it."""
