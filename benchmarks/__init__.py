"""Commands that measure what Coati promises; none of them is a test."""
