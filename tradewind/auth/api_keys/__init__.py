"""API keys: issued, listed and revoked; and the gate that tells who is calling."""
