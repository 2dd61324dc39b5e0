"""How often a password may be guessed: ten wrong ones, then a rest, for anyone's e-mail."""
