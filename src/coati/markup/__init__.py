"""Structured data in full, by extruct (extra ``markup``): statements, their extraction, and files of them."""
