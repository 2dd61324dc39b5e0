"""Calls to the outside, with a limit on the time and size of everything, and on where they go."""
