"""Calls to the outside: one client, with a limit on the time and size of everything."""
