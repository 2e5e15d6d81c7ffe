"""Many sites on many machines: crawls in slices, a shared store, and a client that chooses."""
