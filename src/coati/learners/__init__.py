"""Online learners: they predict, and learn from what came. They know nothing of the web."""
