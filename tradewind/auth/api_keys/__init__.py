"""API keys: issue, list and revoke."""
