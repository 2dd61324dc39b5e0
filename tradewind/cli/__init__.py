"""The command line: one file per command group; tables for people, JSON for programs."""
