"""Scent, our own: the link that promises most targets per request, by all that is seen of it."""
