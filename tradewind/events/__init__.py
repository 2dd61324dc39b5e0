"""The event journal: every event, in the exact bytes that customers get."""
