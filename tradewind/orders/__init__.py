"""Orders: from the request to buy to the last refund, each change journaled once."""
