"""Benchmarks: each prints ratios measured in one run, never a speed by itself."""
