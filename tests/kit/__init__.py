"""The test kit: servers, databases and people for tests to work with."""
