"""The pages of the address book."""
