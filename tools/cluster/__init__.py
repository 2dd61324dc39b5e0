"""Runs a cluster of database, API and worker hosts on this machine, and takes some away."""
