"""Who our customers are: accounts, logins, sessions, passwords, roles, plans and locks."""
