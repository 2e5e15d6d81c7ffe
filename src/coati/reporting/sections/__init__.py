"""The sections of a report: each reads what it needs from the run and shows it."""
