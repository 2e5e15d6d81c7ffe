"""One budget over many sites: which sites, whose turn it is, and what is written."""
