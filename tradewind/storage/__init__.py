"""What lasts: the pool, the one transaction, wake-ups, sealing, migrations, the embedded server."""
