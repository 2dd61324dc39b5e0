"""Payments of orders: request, approve, pay, refund."""
