"""Finding data repositories: what `coati discover` and `coati search` do, as functions."""
