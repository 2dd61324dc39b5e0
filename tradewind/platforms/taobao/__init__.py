"""Taobao and Tmall, through the buyer's side of Taobao Global.

`gateway`, `oauth`, `products`, `baskets`, `orders`, `payments`, `notices`, `errors` and `values`
are the same nine files in every marketplace's folder, and in the simulator's dialects.
"""
