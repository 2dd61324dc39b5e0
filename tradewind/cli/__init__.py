"""The command line: one file a command group; tables for people, JSON for programs."""
