"""FOCUSED: the classic focused crawler."""
