"""Pages about imports: send a file, look at its rows, confirm its total, follow its progress."""
