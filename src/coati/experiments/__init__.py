"""From a table in a paper to the same table from our code: what to run, running it, and printing it."""
