"""Reproduce the tables and figures of papers: what to run, running it, and printing it."""
