"""Tradewind's SDK for Python: `webhooks` receives deliveries, `client` calls the API."""
