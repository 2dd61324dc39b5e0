"""The Taobao Global dialect: signed calls, asynchronous payments and cancellations.

The files have the names of the connector's (`tradewind/platforms/taobao`), so that each can be
read beside its counterpart. `values` is missing: `times` and `money` of this package write them.
"""
