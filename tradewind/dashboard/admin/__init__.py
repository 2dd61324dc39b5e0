"""Pages for operators: accounts, orders, webhooks, marketplaces and the audit log."""
