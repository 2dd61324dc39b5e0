"""The overview: deliveries, orders, approvals and the queue at a glance."""
