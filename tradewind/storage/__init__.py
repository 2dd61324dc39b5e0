"""The database: pool, transactions, wake-ups, encryption, migrations, the embedded server."""
