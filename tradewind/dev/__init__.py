"""`tradewind dev`: everything on one machine, with demo data."""
