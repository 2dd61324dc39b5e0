"""The address book: where an account has its goods shipped to, in China."""
