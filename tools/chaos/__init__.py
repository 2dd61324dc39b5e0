"""Runs the scorecard of faults: kills, outages and hostile traffic, and the figures of each row."""
