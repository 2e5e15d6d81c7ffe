"""Studies: one folder for each, with what is run, what came out, and what it means."""
