"""Everything that lets somebody in: the gate, API keys, sessions, tokens, passwords and logins."""
