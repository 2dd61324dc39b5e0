"""The record of an account: register, roles, plan, lock, password, and who granted what."""
