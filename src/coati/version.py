"""The version of Coati."""

__version__ = "0.1.0"
