"""When a crawl ends because too little is still coming: the published rule, ours, and its forecast."""
