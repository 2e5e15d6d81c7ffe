"""Layouts of other tools, each read as a stream of records."""
