"""Strategies: which URL to request next. They decide, and do no I/O."""
