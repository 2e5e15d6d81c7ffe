"""Many sites on many machines: crawls in slices, a store that all share, and one who chooses."""
