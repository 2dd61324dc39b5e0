"""Deliveries: every event to every subscription that wants it, signed, isolated, never lost."""
