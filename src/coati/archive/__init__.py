"""Sites on disk: write, read, import from other layouts, export to them."""
