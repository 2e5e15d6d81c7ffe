"""Structured data inside pages: how many statements of which syntax, found quickly."""
