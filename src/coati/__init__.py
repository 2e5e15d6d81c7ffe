"""Coati acquires data from the web with few requests."""

__version__ = "0.1.0"
