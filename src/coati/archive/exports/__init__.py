"""Archives in the layouts of other tools."""
