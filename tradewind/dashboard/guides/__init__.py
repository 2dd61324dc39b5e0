"""The guides: the pages of docs/, for people and for programs."""
