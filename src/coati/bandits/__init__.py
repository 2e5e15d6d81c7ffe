"""Policies: which arm to pull next. They know nothing of the web."""
