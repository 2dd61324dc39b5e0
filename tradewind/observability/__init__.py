"""What we can see from outside: logs, and metrics."""
