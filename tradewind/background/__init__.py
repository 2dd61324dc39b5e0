"""Work that no request waits for: loops, background tasks and scheduled tasks."""
