"""Webhooks: which events a customer wants, where to, and how they are signed."""
