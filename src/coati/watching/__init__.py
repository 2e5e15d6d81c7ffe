"""Find what is new on sites that are known: cycles of visits, what changed, and who is told of it.

A watch is a run of its own beside the crawls that it begins from, which stay as they are. Each cycle is one
session of that run (`cycle`), so it survives whatever a crawl survives. What changed is worked out from the
log (`changes`), written down, and only then reported (`notifying`).
"""
