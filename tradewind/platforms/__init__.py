"""Marketplaces behind one contract: what each offers, and how it is reached."""
