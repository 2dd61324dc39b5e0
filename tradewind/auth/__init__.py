"""Authentication: the gate, API keys, sessions, tokens, passwords and logins."""
