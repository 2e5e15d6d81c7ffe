"""Readers: pure functions from the bytes of whatever lists links to these links, one file per format."""
