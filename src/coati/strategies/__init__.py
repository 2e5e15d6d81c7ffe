"""Strategies: which URL to ask for next. They decide, and do no I/O."""
