"""The cart of an account: lines to buy, previewed and ordered by marketplace and seller."""
