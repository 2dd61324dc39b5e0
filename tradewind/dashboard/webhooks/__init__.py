"""Pages about webhooks: their health, deliveries, replays and tests."""
