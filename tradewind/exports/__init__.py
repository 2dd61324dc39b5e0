"""Exports: orders, payments, deliveries, events and the audit log as CSV files, streamed."""
