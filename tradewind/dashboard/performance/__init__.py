"""The page about performance, for operators: rates, latencies, and what a delivery costs."""
