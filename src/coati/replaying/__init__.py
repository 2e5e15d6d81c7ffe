"""Crawls of archived sites: the driver, what it writes down, and the measures."""
