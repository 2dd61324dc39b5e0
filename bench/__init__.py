"""Benchmarks: they print ratios measured in one run, not absolute speeds."""
