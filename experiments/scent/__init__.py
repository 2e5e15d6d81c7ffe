"""The study of `coati.strategies.scent.scent`."""
