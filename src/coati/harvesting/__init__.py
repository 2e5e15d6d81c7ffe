"""One budget over many sites: where it begins, who is crawled when, and what is left behind."""
