"""1688.com: its facts, its connector, and the files that speak its dialect.

`gateway`, `oauth`, `products`, `baskets`, `orders`, `payments`, `notices`, `errors` and `values`
are the same nine files in every marketplace's folder, and in the simulator's dialects.
"""
