"""TRES: a focused crawler by reinforcement learning."""
