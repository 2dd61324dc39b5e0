"""The journal: every change that customers are told of, in the exact bytes that they get."""
