"""The 1688 dialect: signed `param2` calls, and an order object with mixed units.

The files have the names of the connector's (`tradewind/platforms/alibaba`), so that each can be
read beside its counterpart. `values` is missing: `times` and `money` of this package write them.
"""
