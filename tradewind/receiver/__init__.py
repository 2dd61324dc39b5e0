"""A library for endpoints: verify, dedupe, ordering; it uses only the standard library."""
