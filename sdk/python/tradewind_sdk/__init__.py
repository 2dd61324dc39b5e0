"""Tradewind's kit for Python: `webhooks` receives deliveries, `client` calls the API."""
