"""Imports: files with many orders. They are checked, previewed, confirmed, then placed in turn."""
